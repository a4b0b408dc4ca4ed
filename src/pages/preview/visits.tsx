/** @jsxImportSource ../shared/html */
import { memoize } from "../../lib/memoize.ts";
import { DAY_MS } from "../../links/time.ts";
import { message, sentenceSpace } from "../../locales/messages.ts";
import { MIN_SHOWN_VISITS } from "../../visits/statistics/noise.ts";
import type { Statistics } from "../../visits/statistics/statistics.ts";
import { Breakdowns } from "../shared/charts/breakdowns.tsx";
import { Chart, ChartTable, labelsOf, numberFormat, periodOf } from "../shared/charts/chart.tsx";
import { Downloads } from "./downloads.tsx";
import { Ranges, type RangesProps } from "./range-links.tsx";
import type { ShownRange } from "./ranges.ts";
import { Week } from "./week.tsx";

export interface VisitsShown extends Pick<RangesProps, "carried"> {
  readonly code: string;
  readonly createdMs: number;
  /** Since when it has its target. */
  readonly targetSinceMs: number;
  readonly hasEnded: boolean;
  /** By people, since the link was created. */
  readonly visits: number;
  readonly bots: number;
  readonly range: ShownRange;
  /** What the address asks for, which the page in another language shall show as well. */
  readonly query: Readonly<Record<string, string>>;
  /** Of that range. */
  readonly statistics: Statistics;
}

/** How often a link was visited, when and by whom. The script replaces this part while the count changes. */
export function Visits(props: VisitsShown & { language: string }) {
  const { language, code, createdMs, targetSinceMs, hasEnded, visits, bots, range, statistics } = props;
  const number = numberFormat(language);
  const { shown } = statistics;
  return (
    <section
      id="visits"
      aria-labelledby="visits-title"
      data-link={`/api/v1/links/${encodeURIComponent(code)}`}
      data-created={new Date(createdMs).toISOString()}
      data-aimed={hasEnded ? undefined : new Date(targetSinceMs).toISOString()}
      data-visits={visits}
      data-zone={range.request.timeZone}
    >
      <h2 id="visits-title">{message(language, "preview.visits.title")}</h2>
      <dl class="facts counts">
        <div>
          <dt id="all-visits">{message(language, "preview.all-visits")}</dt>
          <dd class="count">
            <span role="status" aria-labelledby="all-visits" data-fresh>
              {number.format(visits)}
            </span>
          </dd>
        </div>
        <div>
          <dt>{message(language, "preview.all-bots")}</dt>
          <dd class="count" data-fresh>
            {number.format(bots)}
          </dd>
        </div>
      </dl>
      <div data-fresh>
        {visits + bots > 0
          ? shown !== "count" && <InRange {...props} />
          : !hasEnded && <Waiting language={language} />}
      </div>
      <p class="hint">
        {message(language, "preview.privacy")}
        {sentenceSpace(language)}
        {shown !== "count" && message(language, "preview.privacy.days") + sentenceSpace(language)}
        {shown === "safe" &&
          message(language, "preview.privacy.safe", { fewest: MIN_SHOWN_VISITS }) + sentenceSpace(language)}
        {!hasEnded && (
          <span data-live hidden>
            {message(language, "preview.live")}
          </span>
        )}
      </p>
    </section>
  );
}

function InRange({ language, code, range, statistics, carried }: VisitsShown & { language: string }) {
  const { visits, bots, series, from, to } = statistics;
  const { interval, name, keptFrom } = range;
  const [first = { start: from }, last = { start: to }] = [series[0], series.at(-1)];
  const period =
    interval === "hour" ? periodOf(language, first.start, last.start) : periodOf(language, from, to);
  return (
    <>
      <Ranges language={language} range={range} carried={carried} />
      {visits > 0 && <Chart language={language} series={series} interval={interval} period={period} />}
      {visits === 0 && <p>{message(language, "preview.quiet")}</p>}
      {visits > 0 && <Sums language={language} statistics={statistics} range={range} />}
      {visits + bots > 0 && <ChartTable language={language} series={series} interval={interval} />}
      {keptFrom !== undefined && (
        <p class="hint">
          {message(language, "preview.kept", { date: periodOf(language, keptFrom, keptFrom) })}
        </p>
      )}
      {visits > 0 && name === "24h" && (
        <p class="hint">{message(language, "preview.whole", { period: periodOf(language, from, to) })}</p>
      )}
      {visits > 0 && <Week language={language} week={statistics.week} timeZone={range.request.timeZone} />}
      {visits > 0 && <Breakdowns language={language} {...statistics} />}
      {visits + bots > 0 && <Downloads language={language} code={code} range={range} />}
    </>
  );
}

/** So few visits say nothing about a day on average, or about a busiest one. */
const FEW_VISITS = 10;
/** Nor do so few days. */
const FEW_DAYS = 3;

/** What the bars add up to. */
function Sums({
  language,
  statistics,
  range,
}: Pick<VisitsShown, "statistics" | "range"> & { language: string }) {
  const { visits, bots, visitors, series, from, to } = statistics;
  const { interval, name, keptFrom } = range;
  const number = numberFormat(language);
  const days = interval === "hour" ? series.length / 24 : (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  const busiest = series.toSorted((one, other) => other.visits - one.visits)[0];
  return (
    <dl class="facts sums">
      {(name !== "all" || keptFrom !== undefined) && (
        <>
          <div>
            <dt>{message(language, "preview.period.visits")}</dt>
            <dd>{number.format(visits)}</dd>
          </div>
          <div>
            <dt>{message(language, "preview.period.bots")}</dt>
            <dd>{number.format(bots)}</dd>
          </div>
        </>
      )}
      {visits >= FEW_VISITS && days >= FEW_DAYS && (
        <div>
          <dt>{message(language, "preview.average")}</dt>
          <dd>{averageFormat(language)(String(visits / days))}</dd>
        </div>
      )}
      {visits >= FEW_VISITS && busiest !== undefined && series.length > 1 && (
        <div>
          <dt>{message(language, `preview.busiest.${interval}`)}</dt>
          <dd>
            {number.format(busiest.visits)}
            <span class="hint">{labelsOf(language, interval, series)(busiest.start)}</span>
          </dd>
        </div>
      )}
      <div>
        <dt>{message(language, "preview.visitors")}</dt>
        <dd>{visitors === null ? message(language, "preview.visitors.later") : number.format(visitors)}</dd>
      </div>
    </dl>
  );
}

/** Two digits: more would pretend that tomorrow is known. */
const averageFormat = memoize((language) => {
  const [exact, rounded] = [{ maximumSignificantDigits: 2 }, { maximumFractionDigits: 0 }].map(
    (options) => new Intl.NumberFormat(language, options),
  );
  return memoize((average) => (Number(average) < 10 ? exact : rounded)?.format(Number(average)) ?? average);
});

/** In the place of the chart, until somebody comes. */
function Waiting({ language }: { language: string }) {
  return (
    <div class="waiting">
      <p>{message(language, "preview.waiting")}</p>
      <p class="soft">{message(language, "preview.waiting.next")}</p>
    </div>
  );
}
