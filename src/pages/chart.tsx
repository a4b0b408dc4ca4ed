/** @jsxImportSource ./html */
import { message } from "../language/messages.ts";
import { memoize } from "../memoize.ts";
import type { Statistics } from "../visits/statistics.ts";

/** Of the drawing, in its own units. */
const HEIGHT = 100;
const STEP = 10;
const BAR = 8;

export interface ChartProps {
  readonly language: string;
  readonly series: Statistics["series"];
  readonly interval: "hour" | "day";
}

/** Visits over time as bars, and the same as a table for who cannot see them. */
export function Chart({ language, series, interval }: ChartProps) {
  const number = numberFormat(language);
  const label = interval === "hour" ? hourLabels(language) : dayLabels(language);
  const most = Math.max(...series.map(({ visits }) => visits));
  const [first, last] = [series[0], series.at(-1)].map((point) => label(point?.start ?? ""));
  const visited = series.filter(({ visits, bots }) => visits + bots > 0);
  return (
    <>
      <figure class="chart">
        <svg
          viewBox={`0 0 ${series.length * STEP} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-labelledby="chart"
        >
          {series.map(({ start, visits }, nth) => {
            if (visits === 0) return null;
            // In tenths: longer numbers are longer to write and to send.
            const height = Math.max(2, Math.round((visits / most) * HEIGHT * 10) / 10);
            return (
              <rect x={nth * STEP} y={Math.round((HEIGHT - height) * 10) / 10} width={BAR} height={height}>
                <title>{`${label(start)}: ${number.format(visits)}`}</title>
              </rect>
            );
          })}
        </svg>
        <p class="range" aria-hidden="true">
          <span>{first}</span>
          <span>{last}</span>
        </p>
        <figcaption id="chart" class="hint">
          {message(language, `preview.chart.${interval}`, {
            first: first ?? "",
            last: last ?? "",
            most: number.format(most),
          })}
        </figcaption>
      </figure>
      {visited.length > 0 && (
        <details id="chart-table">
          <summary>{message(language, "preview.table")}</summary>
          <table>
            <thead>
              <tr>
                <th scope="col">{message(language, `preview.${interval}`)}</th>
                <th scope="col" class="number">
                  {message(language, "preview.visits")}
                </th>
                <th scope="col" class="number">
                  {message(language, "preview.bots")}
                </th>
              </tr>
            </thead>
            <tbody>
              {visited.map(({ start, visits, bots }) => (
                <tr>
                  <th scope="row">{label(start)}</th>
                  <td class="number">{number.format(visits)}</td>
                  <td class="number">{number.format(bots)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      )}
    </>
  );
}

/** Korean has "0시" for midnight: the "오전 12시" that `Intl` prefers is easily taken for noon. */
export const CLOCKS: Readonly<Record<string, Intl.DateTimeFormatOptions>> = { ko: { hourCycle: "h23" } };

// Making a format takes a hundred times as long as using it, and using it ten times as long as remembering the result.
const hourLabels = memoize((language) => {
  const format = new Intl.DateTimeFormat(language, {
    month: "short",
    day: "numeric",
    hour: "numeric",
    timeZone: "UTC",
    ...CLOCKS[language],
  });
  return memoize((start) => format.format(clockTime(start)));
});
const dayLabels = memoize((language) => {
  const format = new Intl.DateTimeFormat(language, { month: "short", day: "numeric", timeZone: "UTC" });
  return memoize((start) => format.format(clockTime(start)));
});
export const numberFormat = memoize((language) => {
  const format = new Intl.NumberFormat(language);
  const written = memoize((number) => format.format(Number(number)));
  return { format: (number: number) => written(String(number)) };
});

/** What clocks and calendars show at a series' `start`, as if it were UTC. */
function clockTime(start: string): number {
  return Date.parse(start.length > 10 ? `${start.slice(0, 16)}Z` : start);
}
