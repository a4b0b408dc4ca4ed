/** @jsxImportSource ./html */
import { message } from "../language/messages.ts";
import { FEWEST_VISITORS, type Statistics } from "../visits/statistics.ts";
import { Breakdowns } from "./breakdowns.tsx";
import { Chart, numberFormat } from "./chart.tsx";
import { Downloads } from "./downloads.tsx";
import { Week } from "./week.tsx";

export interface VisitsShown {
  readonly code: string;
  readonly createdMs: number;
  readonly hasEnded: boolean;
  /** By people, since the link was created. */
  readonly visits: number;
  readonly bots: number;
  readonly interval: "hour" | "day";
  readonly timeZone: string;
  readonly statistics: Statistics;
}

/** How often a link was visited, when and by whom. The script replaces this part while the count changes. */
export function Visits({
  language,
  code,
  createdMs,
  hasEnded,
  visits,
  bots,
  interval,
  timeZone,
  statistics,
}: VisitsShown & { language: string }) {
  const number = numberFormat(language);
  const { shown, series, visitors, breakdowns } = statistics;
  const days = new Set(series.map(({ start }) => start.slice(0, 10))).size;
  return (
    <section
      id="visits"
      aria-labelledby="visits-title"
      data-link={`/api/v1/links/${encodeURIComponent(code)}`}
      data-created={new Date(createdMs).toISOString()}
      data-visits={visits}
      data-zone={timeZone}
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
        {shown !== "count" && (
          <div>
            <dt>{message(language, "preview.visitors", { days })}</dt>
            <dd class="count" data-fresh>
              {visitors === null
                ? message(language, "preview.visitors.few", { count: FEWEST_VISITORS })
                : number.format(visitors)}
            </dd>
          </div>
        )}
        <div>
          <dt>{message(language, "preview.all-bots")}</dt>
          <dd class="count" data-fresh>
            {number.format(bots)}
          </dd>
        </div>
      </dl>
      <div data-fresh>
        {statistics.visits > 0 && shown !== "count" && (
          <>
            <h3>{message(language, "preview.days", { days })}</h3>
            <Chart language={language} series={series} interval={interval} />
          </>
        )}
        {visits + bots === 0 && !hasEnded && <p>{message(language, "preview.waiting")}</p>}
        {statistics.visits > 0 && shown !== "count" && (
          <>
            <Week language={language} week={statistics.week} timeZone={timeZone} />
            <Breakdowns language={language} shown={shown} breakdowns={breakdowns} />
            <Downloads
              language={language}
              code={code}
              interval={interval}
              timeZone={timeZone}
              {...statistics}
            />
          </>
        )}
      </div>
      <p class="hint">
        {message(language, "preview.privacy")}{" "}
        {shown !== "count" && `${message(language, "preview.privacy.days")} `}
        {shown === "safe" && `${message(language, "preview.privacy.safe")} `}
        {!hasEnded && (
          <span data-live hidden>
            {message(language, "preview.live")}
          </span>
        )}
      </p>
    </section>
  );
}
