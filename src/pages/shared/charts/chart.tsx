/** @jsxImportSource ../html */
import { memoize } from "../../../lib/memoize.ts";
import { message } from "../../../locales/messages.ts";
import type { Interval, Statistics } from "../../../visits/statistics/statistics.ts";
import { numberFormat } from "../formats.ts";

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
const NARROW: Dates = { most: 3, room: 0.25 };
const WIDE: Dates = { most: 8, room: 0.12 };

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
          <input
            id="chart-point"
            type="range"
            min={0}
            max={length - 1}
            value={length - 1}
            aria-label={name}
            hidden
          />
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

interface DateLabel {
  readonly nth: number;
  readonly text: string;
  /** Set if it is visible only there. */
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

/** The name of each point. Dates contain the year if the series spans two. */
export function labelsOf(language: string, interval: Interval, series: Statistics["series"]) {
  const formats = formatsOf(language);
  if (interval === "hour") return formats.hour;
  if (interval === "month") return formats.wholeMonth;
  const years = [series[0], series.at(-1)].map((point) => point?.start.slice(0, 4));
  return years[0] === years[1] ? formats.weekday : formats.date;
}

/** Korean has "0시" for midnight. `Intl` prefers "오전 12시", which is easily taken for noon. */
const CLOCKS: Readonly<Record<string, Intl.DateTimeFormatOptions>> = { ko: { hourCycle: "h23" } };

// Creating a format takes a hundred times as long as using it, and using it ten times as long as a memoized result.
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

/** From one date or hour to another. */
export function periodOf(language: string, first: string, last: string): string {
  const isHours = first.length > 10;
  return (isHours ? hourPeriods : dayPeriods)(language)(`${first} ${last}`);
}
const hourPeriods = memoize((language) =>
  rememberRanges(formatIn(language, { month: "short", day: "numeric", hour: "numeric" })),
);
const dayPeriods = memoize((language) =>
  rememberRanges(formatIn(language, { year: "numeric", month: "short", day: "numeric" })),
);
function rememberRanges(format: Intl.DateTimeFormat) {
  return memoize((range) => {
    const [first = "", last = ""] = range.split(" ");
    return format.formatRange(clockTime(first), clockTime(last));
  });
}

/** Formats local times that are encoded as UTC. */
export function formatIn(language: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const hasHours = options.hour !== undefined;
  return new Intl.DateTimeFormat(language, {
    ...options,
    timeZone: "UTC",
    ...(hasHours && CLOCKS[language]),
  });
}

/** Compact, for the narrow scale. */
const shortNumber = memoize((language) => {
  const format = new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 2 });
  const number = numberFormat(language);
  return memoize((line) => (Number(line) < 10_000 ? number : format).format(Number(line)));
});

/** The local time of a series' `start`, encoded as UTC. */
function clockTime(start: string): number {
  return Date.parse(start.length > 10 ? `${start.slice(0, 16)}Z` : start);
}

/** Keeps numbers short. */
function tenths(number: number): number {
  return Math.round(number * 10) / 10;
}

function percent(part: number): string {
  return `${tenths(part * 100)}%`;
}

/** Above the ground line. */
const MAX_LINES = 4;

/** The round numbers beside a chart, from the largest down to 0. */
export function scaleOf(most: number): number[] {
  let step = 1;
  for (let nth = 0; step * MAX_LINES < most; nth++) step *= nth % 3 === 1 ? 2.5 : 2;
  const lines = Math.max(1, Math.ceil(most / step));
  return Array.from({ length: lines + 1 }, (_, nth) => (lines - nth) * step);
}

/** Between labelled hours, days or months. */
const STEPS = {
  hour: [1, 2, 3, 6, 12, 24, 48, 72],
  day: [1, 2, 5, 10, 20, 30, 50, 100, 200],
  month: [1, 3, 6, 12],
} as const;

export interface Dates {
  /** How many labels fit beside each other. */
  readonly most: number;
  /** The width of a label, as a share of the chart. */
  readonly room: number;
}

/**
 * The positions of the labels below a chart. A label starts at its bar, so that none reaches beyond the chart. Labels are
 * at round `hours` of the reader's clock, and beyond a day at midnight.
 */
export function placesOf(
  count: number,
  interval: keyof typeof STEPS,
  hours: readonly number[],
  { most, room }: Dates,
): number[] {
  const step = STEPS[interval].find((one) => count / one <= most) ?? count;
  const midnight = Math.max(0, hours.indexOf(0));
  return Array.from({ length: count }, (_, nth) => nth).filter((nth) => {
    if ((count - nth) / count < room) return false;
    if (interval !== "hour" || count <= most) return nth % step === 0;
    return step < 24 ? (hours[nth] ?? 0) % step === 0 : nth >= midnight && (nth - midnight) % step === 0;
  });
}
