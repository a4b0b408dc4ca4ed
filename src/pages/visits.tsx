/** @jsxImportSource ./html */
import { message } from "../language/messages.ts";
import { memoize } from "../memoize.ts";
import type { Dimension } from "../visits/dimensions.ts";
import { FEWEST_VISITORS, type Statistics } from "../visits/statistics.ts";
import { Chart, numberFormat } from "./chart.tsx";

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

/** The dimensions shown; the API has them all. */
const SHOWN = ["referrers", "countries", "browsers", "devices"] as const satisfies Dimension[];
/** Values shown at once; the others are a click away. */
const FIRST_VALUES = 8;

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
  const known = SHOWN.filter((dimension) => breakdowns[dimension].values.length > 0);
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
            {known.length === 0 && <p class="hint">{message(language, "preview.few")}</p>}
          </>
        )}
        {visits + bots === 0 && !hasEnded && <p>{message(language, "preview.waiting")}</p>}
        <div class="breakdowns">
          {known.map((dimension) => (
            <Breakdown language={language} dimension={dimension} {...breakdowns[dimension]} />
          ))}
        </div>
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

type BreakdownProps = Statistics["breakdowns"][Dimension] & {
  language: string;
  dimension: (typeof SHOWN)[number];
};

/** Values that are hidden to protect visitors are one row, apart from those that are folded away to save room. */
function Breakdown({ language, dimension, values, other }: BreakdownProps) {
  const rows = values.map(({ value, visits }) => ({ name: nameOf(language, dimension, value), visits }));
  const [first, more] = [rows.slice(0, FIRST_VALUES), rows.slice(FIRST_VALUES)];
  const hidden = { name: message(language, "preview.other"), visits: other };
  return (
    <div>
      <Values language={language} dimension={dimension} rows={other > 0 ? [...first, hidden] : first} />
      {more.length > 0 && (
        <details id={`more-${dimension}`}>
          <summary>{message(language, "preview.more", { count: more.length })}</summary>
          <Values language={language} dimension={dimension} rows={more} />
        </details>
      )}
    </div>
  );
}

interface ValuesProps {
  readonly language: string;
  readonly dimension: (typeof SHOWN)[number];
  readonly rows: readonly { readonly name: string; readonly visits: number }[];
}

function Values({ language, dimension, rows }: ValuesProps) {
  const number = numberFormat(language);
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">{message(language, `preview.${dimension}`)}</th>
          <th scope="col" class="number">
            {message(language, "preview.visits")}
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, visits }) => (
          <tr>
            <th scope="row">
              <bdi>{name}</bdi>
            </th>
            <td class="number">{number.format(visits)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function nameOf(language: string, dimension: (typeof SHOWN)[number], value: string | null): string {
  if (value === null)
    return message(language, dimension === "referrers" ? "preview.direct" : "preview.unknown");
  switch (dimension) {
    case "countries":
      return regionNames(language)(value);
    case "devices":
      return message(language, `device.${value as "desktop"}`);
    case "referrers":
    case "browsers":
      return value;
  }
}

const regionNames = memoize((language) => {
  const names = new Intl.DisplayNames(language, { type: "region" });
  return memoize((region) => names.of(region) ?? region);
});
