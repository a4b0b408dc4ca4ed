/** @jsxImportSource ./html */
import { message } from "../language/messages.ts";
import { memoize } from "../memoize.ts";
import type { Interval, Statistics } from "../visits/statistics.ts";
import { type Dates, placesOf, scaleOf } from "./scale.ts";

/** The smallest bar, and the widest, in percent of the drawing. */
const LOWEST = 2;
const WIDEST = 8;
/** So many bars stand apart. More of them overlap, or the background would shine through between them. */
const MAX_APART = 120;
/** Labels of so few bars are below their middle. */
const FEW = 3;
/** On a phone, and on a wider screen. */
const NARROW: Dates = { most: 3, room: 0.25 };
const WIDE: Dates = { most: 8, room: 0.12 };

export interface ChartProps {
  readonly language: string;
  readonly series: Statistics["series"];
  readonly interval: Interval;
  /** In words. */
  readonly period: string;
}

/** Visits over time as bars. The script tells the value that is pointed at. */
export function Chart({ language, series, interval, period }: ChartProps) {
  const label = labelsOf(language, interval, series);
  const scale = scaleOf(Math.max(...series.map(({ visits }) => visits)));
  const [top = 1] = scale;
  const name = message(language, `preview.chart.${interval}`, { period });
  const slot = 100 / series.length;
  const bar = Math.min(slot * (series.length > MAX_APART ? 1.15 : 0.8), WIDEST);
  const startOf = (nth: number) => percent(nth * slot + (slot - bar) / 2);
  return (
    <figure class="chart">
      <figcaption>
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
          <svg role="img" aria-label={name}>
            <rect class="at" width={percent(slot)} height="100%" hidden />
            {scale.map((_, nth) => {
              const y = percent((nth * 100) / (scale.length - 1));
              return <line x2="100%" y1={y} y2={y} />;
            })}
            {series.map(({ start, visits, bots }, nth) => {
              const height = visits === 0 ? 0 : Math.max(LOWEST, (visits / top) * 100);
              return (
                <g>
                  <title>
                    {message(language, "preview.point", {
                      when: label(start),
                      visits: message(language, "count.visits", { count: visits }),
                      bots: message(language, "count.bots", { count: bots }),
                    })}
                  </title>
                  <rect class="slot" x={percent(nth * slot)} width={percent(slot)} height="100%" />
                  {visits > 0 && (
                    <rect
                      x={startOf(nth)}
                      y={percent(100 - height)}
                      width={percent(bar)}
                      height={percent(height)}
                    />
                  )}
                </g>
              );
            })}
          </svg>
          <input
            id="chart-point"
            type="range"
            min={0}
            max={series.length - 1}
            value={series.length - 1}
            aria-label={name}
            hidden
          />
        </div>
        <svg class="dates" aria-hidden="true">
          {datesOf(language, interval, series).map(({ nth, text, on }) => (
            <text
              x={series.length <= FEW ? percent((nth + 0.5) * slot) : startOf(nth)}
              y="1em"
              {...(series.length <= FEW && { "text-anchor": "middle" })}
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

/** The same numbers. */
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

interface DateLabel {
  readonly nth: number;
  readonly text: string;
  /** Shown only there. */
  readonly on: "narrow" | "wide" | undefined;
}

function datesOf(language: string, interval: Interval, series: Statistics["series"]): DateLabel[] {
  const hours = interval === "hour" ? series.map(({ start }) => Number(start.slice(11, 13))) : [];
  const [narrow, wide] = [NARROW, WIDE].map(
    (dates) => new Set(placesOf(series.length, interval, hours, dates)),
  );
  const { day, clock, month } = formatsOf(language);
  return series.flatMap(({ start }, nth) => {
    const [onNarrow, onWide] = [narrow?.has(nth), wide?.has(nth)];
    if (!onNarrow && !onWide) return [];
    const text =
      interval === "month"
        ? month(start)
        : interval === "hour" && hours[nth] !== 0
          ? clock(start)
          : day(start);
    return [{ nth, text, on: onNarrow && onWide ? undefined : onNarrow ? "narrow" : "wide" }];
  });
}

/** Names each point. Dates have their year if there are two of each. */
export function labelsOf(language: string, interval: Interval, series: Statistics["series"]) {
  const formats = formatsOf(language);
  if (interval === "hour") return formats.hour;
  if (interval === "month") return formats.wholeMonth;
  const years = [series[0], series.at(-1)].map((point) => point?.start.slice(0, 4));
  return years[0] === years[1] ? formats.weekday : formats.date;
}

/** Korean has "0시" for midnight: the "오전 12시" that `Intl` prefers is easily taken for noon. */
export const CLOCKS: Readonly<Record<string, Intl.DateTimeFormatOptions>> = { ko: { hourCycle: "h23" } };

// Making a format takes a hundred times as long as using it, and using it ten times as long as remembering the result.
const formatsOf = memoize((language) => {
  const write = (options: Intl.DateTimeFormatOptions) => {
    const format = formatIn(language, options);
    return memoize((start) => format.format(clockTime(start)));
  };
  const date = { month: "short", day: "numeric" } as const;
  return {
    hour: write({ ...date, hour: "numeric" }),
    clock: write({ hour: "numeric" }),
    day: write(date),
    weekday: write({ ...date, weekday: "short" }),
    date: write({ ...date, year: "numeric" }),
    month: write({ month: "short", year: "numeric" }),
    wholeMonth: write({ month: "long", year: "numeric" }),
  };
});

/** From one date to another, or from one hour to another. */
export function periodOf(language: string, first: string, last: string): string {
  const isHours = first.length > 10;
  return (isHours ? hourPeriods : dayPeriods)(language).formatRange(clockTime(first), clockTime(last));
}
const hourPeriods = memoize((language) =>
  formatIn(language, { month: "short", day: "numeric", hour: "numeric" }),
);
const dayPeriods = memoize((language) =>
  formatIn(language, { year: "numeric", month: "short", day: "numeric" }),
);

function formatIn(language: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const hasHours = options.hour !== undefined;
  return new Intl.DateTimeFormat(language, {
    ...options,
    timeZone: "UTC",
    ...(hasHours && CLOCKS[language]),
  });
}

export const numberFormat = memoize((language) => {
  const format = new Intl.NumberFormat(language);
  const written = memoize((number) => format.format(Number(number)));
  return { format: (number: number) => written(String(number)) };
});

/** Beside the lines of a scale, where there is little room. */
const shortNumber = memoize((language) => {
  const format = new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 2 });
  const number = numberFormat(language);
  return memoize((line) => (Number(line) < 10_000 ? number : format).format(Number(line)));
});

/** What clocks and calendars show at a series' `start`, as if it were UTC. */
function clockTime(start: string): number {
  return Date.parse(start.length > 10 ? `${start.slice(0, 16)}Z` : start);
}

/** Longer numbers are longer to write and to send. */
function percent(number: number): string {
  return `${Math.round(number * 100) / 100}%`;
}
