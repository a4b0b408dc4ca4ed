/** @jsxImportSource ../shared/html */
import { isoInstant, NEVER_MS } from "../../links/time.ts";
import { message, sentenceSpace } from "../../locales/messages.ts";
import { MIN_SHOWN_VISITS } from "../../visits/statistics/noise.ts";
import type { Statistics } from "../../visits/statistics/statistics.ts";
import { Breakdowns } from "../shared/charts/breakdowns.tsx";
import { Chart, ChartTable } from "../shared/charts/chart.tsx";
import { periodOf } from "../shared/charts/dates.ts";
import { numberFormat } from "../shared/in-words.ts";
import { Fact } from "../shared/link-facts.tsx";
import type { Range } from "./ranges.ts";
import { Week } from "./week.tsx";

export interface VisitsView extends Pick<RangesProps, "carried"> {
  readonly code: string;
  readonly createdMs: number;
  /** When the link got its present target. */
  readonly targetSinceMs: number;
  readonly endsMs: number;
  readonly hasEnded: boolean;
  /** By people, since the link was created. */
  readonly visits: number;
  readonly bots: number;
  readonly range: Range;
  /** The parameters that the page keeps in another language. */
  readonly query: Readonly<Record<string, string>>;
  readonly statistics: Statistics;
}

/** The visits of a link. The script replaces this part while the count changes. */
export function Visits(props: VisitsView & { language: string }) {
  const { language, code, createdMs, targetSinceMs, endsMs, hasEnded } = props;
  const { visits, bots, range, statistics } = props;
  const number = numberFormat(language);
  const { shown } = statistics;
  return (
    <section
      id="visits"
      aria-labelledby="visits-title"
      data-link={`/api/v1/links/${encodeURIComponent(code)}`}
      data-created={new Date(createdMs).toISOString()}
      data-aimed={hasEnded ? undefined : new Date(targetSinceMs).toISOString()}
      data-ends={endsMs === NEVER_MS ? undefined : isoInstant(endsMs)}
      data-visits={visits}
      data-zone={range.request.timeZone}
    >
      <div class="visits-title">
        <h2 id="visits-title">{message(language, "preview.visits.title")}</h2>
        <p class="soft">
          <span id="all-visits">{message(language, "preview.all-visits")}</span>{" "}
          <span role="status" aria-labelledby="all-visits" data-fresh>
            {number.format(visits)}
          </span>
        </p>
      </div>
      <div class="local" data-fresh>
        {visits + bots > 0
          ? shown !== "count" && <InRange {...props} />
          : !hasEnded && <Waiting language={language} />}
        {(shown === "count" || visits === 0) && <Counting language={language} shown={shown} />}
      </div>
      {/* Only the script makes it true, and text browsers show what is hidden. */}
      {!hasEnded && <p class="hint" data-live={message(language, "preview.live")} hidden />}
    </section>
  );
}

function InRange({
  language,
  code,
  hasEnded,
  range,
  statistics,
  carried,
}: VisitsView & { language: string }) {
  const { visits, bots, series, from, to } = statistics;
  const { interval, name, keptFrom } = range;
  const [first = { start: from }, last = { start: to }] = [series[0], series.at(-1)];
  const period =
    interval === "hour" ? periodOf(language, first.start, last.start) : periodOf(language, from, to);
  return (
    <>
      <Ranges language={language} range={range} carried={carried} />
      {visits > 0 && (
        <div class="figures">
          <Sums language={language} statistics={statistics} />
          <Chart
            language={language}
            series={series}
            interval={interval}
            period={period}
            isRunning={!hasEnded}
          />
        </div>
      )}
      {visits === 0 && <p>{message(language, "preview.quiet")}</p>}
      {visits + bots > 0 && (
        <div class="besides-figures">
          <ChartTable language={language} series={series} interval={interval} />
          <Downloads language={language} code={code} range={range} />
        </div>
      )}
      {keptFrom !== undefined && (
        <p class="hint">
          {message(language, "preview.kept", { date: periodOf(language, keptFrom, keptFrom) })}
        </p>
      )}
      {visits > 0 && name === "24h" && (
        <p class="hint">{message(language, "preview.days", { period: periodOf(language, from, to) })}</p>
      )}
      {visits > 0 && (
        <div class="columns">
          <div>
            <Breakdowns language={language} {...statistics} />
            <Week language={language} week={statistics.week} timeZone={range.request.timeZone} />
          </div>
          <aside>
            <Counting language={language} shown={statistics.shown} />
          </aside>
        </div>
      )}
    </>
  );
}

function Counting({ language, shown }: Pick<Statistics, "shown"> & { language: string }) {
  return (
    <section id="counting">
      <h3>{message(language, "preview.counting")}</h3>
      <p class="hint">
        {message(language, "preview.privacy")}
        {shown !== "count" && sentenceSpace(language) + message(language, "preview.privacy.days")}
        {shown === "safe" &&
          sentenceSpace(language) + message(language, "preview.privacy.safe", { fewest: MIN_SHOWN_VISITS })}
      </p>
    </section>
  );
}

/** Their colours are the key of the chart. */
function Sums({ language, statistics }: Pick<VisitsView, "statistics"> & { language: string }) {
  const { visits, bots, visitors } = statistics;
  const number = numberFormat(language);
  return (
    <dl class="sums">
      <Fact name={message(language, "preview.people")}>{number.format(visits)}</Fact>
      <Fact name={message(language, "preview.bots")}>{number.format(bots)}</Fact>
      <Fact name={message(language, "preview.visitors")}>
        {visitors === null ? (
          <span class="later">{message(language, "preview.visitors.later")}</span>
        ) : (
          number.format(visitors)
        )}
      </Fact>
    </dl>
  );
}

/** In the place of the chart, before the first visit. */
function Waiting({ language }: { language: string }) {
  return (
    <div class="waiting">
      <p>{message(language, "preview.waiting")}</p>
      <p class="soft">{message(language, "preview.waiting.next")}</p>
    </div>
  );
}

interface RangesProps {
  readonly language: string;
  readonly range: Range;
  /** The page's other parameters. */
  readonly carried: Readonly<Record<string, string>>;
}

/** Links to the page with other ranges or bars. The script follows them without leaving the page. */
function Ranges({ language, range: { name, names, interval, intervals }, carried }: RangesProps) {
  const address = (parameters: Record<string, string>) =>
    `?${new URLSearchParams({ ...parameters, ...carried }).toString()}`;
  if (names.length === 1 && intervals.length === 1) return null;
  return (
    <div class="ranges">
      {names.length > 1 && (
        <nav aria-label={message(language, "preview.range")}>
          {names.map((range) => (
            <a
              id={`range-${range}`}
              href={address({ range })}
              rel="nofollow"
              {...(range === name && { "aria-current": "true" })}
            >
              {message(language, `preview.range.${range}`)}
            </a>
          ))}
        </nav>
      )}
      {intervals.length > 1 && (
        <nav aria-label={message(language, "preview.by")}>
          {intervals.map((by) => (
            <a
              id={`by-${by}`}
              href={address({ range: name, by })}
              rel="nofollow"
              {...(by === interval && { "aria-current": "true" })}
            >
              {message(language, `preview.by.${by}`)}
            </a>
          ))}
        </nav>
      )}
    </div>
  );
}

/** Links to the statistics of a range as files. */
function Downloads({ language, code, range }: { language: string; code: string; range: Range }) {
  const { from, to, interval, timeZone } = range.request;
  const query = new URLSearchParams({ from, to, interval, tz: timeZone }).toString();
  const address = `/api/v1/links/${encodeURIComponent(code)}/stats?${query}`;
  return (
    <p class="downloads">
      {message(language, "preview.download")}
      {sentenceSpace(language)}
      <a href={`${address}&format=csv`} rel="nofollow" download>
        CSV
      </a>{" "}
      <a href={`${address}&download=true`} rel="nofollow" download>
        JSON
      </a>
    </p>
  );
}
