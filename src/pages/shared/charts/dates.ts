import { memoize } from "../../../lib/memoize.ts";
import type { Interval } from "../../../visits/statistics/series.ts";
import type { Statistics } from "../../../visits/statistics/statistics.ts";

const NARROW: Dates = { most: 3, room: 0.25 };
const WIDE: Dates = { most: 8, room: 0.12 };

interface DateLabel {
  readonly nth: number;
  readonly text: string;
  /** Set if it is visible only there. */
  readonly on: "narrow" | "wide" | undefined;
}

/** The dates or hours below a chart. */
export function datesOf(language: string, interval: Interval, series: Statistics["series"]): DateLabel[] {
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

/** The local time of a series' `start`, encoded as UTC. */
function clockTime(start: string): number {
  return Date.parse(start.length > 10 ? `${start.slice(0, 16)}Z` : start);
}

/** Between labelled hours, days or months. */
const STEPS = {
  hour: [1, 2, 3, 6, 12, 24, 48, 72],
  day: [1, 2, 5, 10, 20, 30, 50, 100, 200],
  month: [1, 3, 6, 12],
} as const;

/** @internal */
export interface Dates {
  /** How many labels fit beside each other. */
  readonly most: number;
  /** The width of a label, as a share of the chart. */
  readonly room: number;
}

/**
 * The positions of the labels below a chart. A label starts at its bar, so that none reaches beyond the chart. Labels are
 * at round `hours` of the reader's clock, and beyond a day at midnight.
 * @internal
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
