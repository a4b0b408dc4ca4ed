/** @jsxImportSource ../html */
import { memoize } from "../../../lib/memoize.ts";
import { message } from "../../../locales/messages.ts";
import type { Interval } from "../../../visits/statistics/series.ts";
import type { Statistics } from "../../../visits/statistics/statistics.ts";
import { numberFormat } from "../in-words.ts";
import { datesOf, labelsOf } from "./dates.ts";

/** In the units of the drawing: its height, and the width per bar. */
const HEIGHT = 100;
const STEP = 10;
const LOWEST = 2;
const BAR = 8;
/** As a share of the drawing. */
const WIDEST = 0.08;
/** More bars overlap, or the background would shine through between them. */
const MAX_APART = 120;
const OVERLAPPING = 11.5;
/** Labels of so few bars are below their middle. */
const FEW = 3;

export interface ChartProps {
  readonly language: string;
  readonly series: Statistics["series"];
  readonly interval: Interval;
  readonly period: string;
  /** Whether the time of the last bar isn't over. */
  readonly isRunning?: boolean;
}

/** Visits over time as bars. The script shows the value below the pointer. */
export function Chart({ language, series, interval, period, isRunning = false }: ChartProps) {
  const label = labelsOf(language, interval, series);
  const scale = scaleOf(Math.max(...series.map(({ visits, bots }) => visits + bots)));
  const [top = 1] = scale;
  const name = message(language, `preview.chart.${interval}`, { period });
  const { length } = series;
  const width = length * STEP;
  const bar = length > MAX_APART ? OVERLAPPING : Math.min(BAR, tenths(width * WIDEST));
  const startOf = (nth: number) => tenths(nth * STEP + (STEP - bar) / 2);
  const heightOf = (count: number) => (count === 0 ? 0 : Math.max(LOWEST, tenths((count / top) * HEIGHT)));
  // One path, because a page has more numbers than bars.
  let botBars = "";
  series.forEach(({ visits, bots }, nth) => {
    if (bots > 0)
      botBars += `M${startOf(nth)} ${tenths(HEIGHT - heightOf(visits))}h${bar}v${-heightOf(bots)}h${-bar}z`;
  });
  return (
    <figure class="chart">
      <figcaption class="readable">
        <span>{name}</span>
        <span class="reading" aria-hidden="true" />
      </figcaption>
      <div class="plot" dir="ltr">
        <div class="scale" aria-hidden="true">
          {scale.map((line) => (
            <span>{shortNumber(language)(String(line))}</span>
          ))}
        </div>
        <div class="bars">
          <svg viewBox={`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={name}>
            {isRunning && HATCH}
            <rect class="at" width={STEP} height={HEIGHT} hidden />
            {scale.map((_, nth) => {
              const y = tenths((nth * HEIGHT) / (scale.length - 1));
              return <line x2={width} y1={y} y2={y} />;
            })}
            {botBars !== "" && <path class="bots" d={botBars} />}
            {series.map(({ start, visits, bots }, nth) => {
              const height = heightOf(visits);
              return (
                <>
                  {visits > 0 && (
                    <rect
                      x={startOf(nth)}
                      y={tenths(HEIGHT - height)}
                      width={bar}
                      height={height}
                      class={isRunning && nth === length - 1 ? "running" : undefined}
                    />
                  )}
                  <rect class="slot" x={nth * STEP} width={STEP} height={HEIGHT}>
                    <title>{describe(language, label(start), visits, bots)}</title>
                  </rect>
                </>
              );
            })}
          </svg>
          <PointInput id="chart-point" name={name} length={length} />
        </div>
        <svg class="dates" aria-hidden="true">
          {datesOf(language, interval, series).map(({ nth, text, on }) => (
            <text
              x={percent((length <= FEW ? (nth + 0.5) * STEP : startOf(nth)) / width)}
              y="1em"
              {...(length <= FEW && { "text-anchor": "middle" })}
              {...(on !== undefined && { class: on })}
            >
              {text}
            </text>
          ))}
        </svg>
      </div>
    </figure>
  );
}

interface PointInputProps {
  readonly id?: string;
  readonly name: string;
  readonly length: number;
}

/** With it, the script reads the values to keys and screen readers. */
export function PointInput({ id, name, length }: PointInputProps) {
  return (
    <input
      {...{ id, type: "range", min: 0, max: length - 1, value: length - 1, "aria-label": name }}
      hidden
    />
  );
}

const HATCH = (
  <pattern id="hatch" width="10" height="5" patternUnits="userSpaceOnUse">
    <path d="M0 0h10v3.2H0z" />
  </pattern>
);

function describe(language: string, when: string, visits: number, bots: number): string {
  const people = countMessage(`preview.count.visits ${language}`)(String(visits));
  if (bots === 0) return message(language, "preview.point", { when, visits: people });
  const programs = countMessage(`preview.count.bots ${language}`)(String(bots));
  return message(language, "preview.point.bots", { when, visits: people, bots: programs });
}

// Choosing a plural form is the most expensive step per bar.
const countMessage = memoize((what) => {
  const [key, language] = what.split(" ") as ["preview.count.visits" | "preview.count.bots", string];
  return memoize((count) => message(language, key, { count: Number(count) }));
});

/** The same numbers as a table. */
export function ChartTable({ language, series, interval }: Omit<ChartProps, "period">) {
  const number = numberFormat(language);
  const label = labelsOf(language, interval, series);
  return (
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
          {series
            .filter(({ visits, bots }) => visits + bots > 0)
            .map(({ start, visits, bots }) => (
              <tr>
                <th scope="row">{label(start)}</th>
                <td class="number">{number.format(visits)}</td>
                <td class="number">{number.format(bots)}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </details>
  );
}

/** Compact, for the narrow scale. */
const shortNumber = memoize((language) => {
  const format = new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 2 });
  const number = numberFormat(language);
  return memoize((line) => (Number(line) < 10_000 ? number : format).format(Number(line)));
});

/** Keeps numbers short. */
function tenths(number: number): number {
  return Math.round(number * 10) / 10;
}

function percent(part: number): string {
  return `${tenths(part * 100)}%`;
}

/** Above the ground line. */
const MAX_LINES = 4;

/** The round numbers beside a chart, from the largest down to 0. @internal */
export function scaleOf(most: number): number[] {
  let step = 1;
  for (let nth = 0; step * MAX_LINES < most; nth++) step *= nth % 3 === 1 ? 2.5 : 2;
  const lines = Math.max(1, Math.ceil(most / step));
  return Array.from({ length: lines + 1 }, (_, nth) => (lines - nth) * step);
}
