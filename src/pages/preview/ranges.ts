import { DAY_MS, HOUR_MS } from "../../links/time.ts";
import type { Interval } from "../../visits/statistics/series.ts";
import { MAX_DAYS, type Statistics, type StatisticsRequest } from "../../visits/statistics/statistics.ts";
import { openZone, writeDay } from "../../visits/statistics/zone.ts";

const DAYS = { "7d": 7, "30d": 30, "90d": 90 } as const;
type DayRange = keyof typeof DAYS;
type RangeName = "24h" | DayRange | "all";

const DEFAULT_RANGE = "30d";
/** Shorter ranges show hours by default. */
const BY_HOUR_MS = 2 * DAY_MS;
/** More bars than this are too thin to point at. */
const MAX_DAYS_BY_HOUR = 7;
const MIN_DAYS_BY_MONTH = 61;
/** The days of a link's whole life, or more. */
const MIN_DAYS = 7;
/** Ranges up to this length show days by default. */
const MAX_DAYS_BY_DAY = 92;

/** The range in an address. Unknown values are ignored. */
export interface RangeQuery {
  readonly range?: string | null;
  readonly by?: string | null;
}

export interface RangeLimits {
  readonly createdMs: number;
  readonly endsMs: number;
  readonly nowMs: number;
  readonly keepDays: number;
  readonly timeZone: string;
}

/** A part of the link's lifetime. */
export interface Range {
  readonly name: RangeName;
  readonly interval: Interval;
  /** The reader's choices. Ranges longer than the link's age are `all`. */
  readonly names: readonly RangeName[];
  readonly intervals: readonly Interval[];
  readonly request: StatisticsRequest & { readonly from: string; readonly to: string };
  readonly fromMs: number;
  readonly untilMs: number;
  /** The first stored day, if the range would start earlier. */
  readonly keptFrom?: string | undefined;
}

/** Chooses the range of a link's statistics, between its first day and the present or its end. */
export function chooseRange({ range, by }: RangeQuery, limits: RangeLimits): Range {
  const { createdMs, endsMs, nowMs, keepDays, timeZone } = limits;
  const { dayOf } = openZone(timeZone);
  const untilMs = Math.min(nowMs, endsMs);
  // Another process's clock may be ahead.
  const sinceMs = Math.min(createdMs, untilMs);
  const last = dayOf(untilMs);
  const created = dayOf(sinceMs);
  const firstStored = dayOf(nowMs) + 1 - Math.min(keepDays, MAX_DAYS.day);
  const first = Math.min(Math.max(created, firstStored), last);

  const isDayOld = untilMs - sinceMs > DAY_MS;
  const names: RangeName[] = [
    ...(isDayOld && first < last ? (["24h"] as const) : []),
    ...(Object.keys(DAYS) as DayRange[]).filter((one) => DAYS[one] < last - first + 1),
    "all",
  ];
  const fallback = names.includes(DEFAULT_RANGE) ? DEFAULT_RANGE : "all";
  const isRange = range === "24h" || range === "all" || Object.hasOwn(DAYS, range ?? "");
  const name = isRange ? (names.find((one) => one === range) ?? "all") : fallback;

  // A young link's chart has zeros for the time before: a few wide bars would say nothing.
  const isOfHours = name === "24h" || (name === "all" && !isDayOld);
  const isWhole = name === "all" && first === created;
  const fromDay = isOfHours
    ? last - 1
    : name === "all"
      ? Math.min(first, isWhole ? last + 1 - MIN_DAYS : first)
      : last + 1 - DAYS[name];
  // The last hour counts as a whole.
  const fromMs = isOfHours ? hourOf(untilMs) - DAY_MS + HOUR_MS : isWhole ? sinceMs : 0;
  const days = last + 1 - fromDay;
  const intervals = isOfHours ? (["hour"] as const) : intervalsOf(days);
  const isShort = isOfHours || days === 1 || untilMs - fromMs < BY_HOUR_MS;
  const usual = isShort ? "hour" : days <= MAX_DAYS_BY_DAY ? "day" : "month";
  const interval = intervals.find((one) => one === by) ?? usual;
  return {
    name,
    interval,
    names,
    intervals,
    request: { from: writeDay(fromDay), to: writeDay(last), interval, timeZone },
    fromMs,
    untilMs,
    ...(name === "all" && created < first && { keptFrom: writeDay(first) }),
  };
}

function intervalsOf(days: number): Interval[] {
  const intervals: Interval[] = [];
  if (days <= MAX_DAYS_BY_HOUR) intervals.push("hour");
  if (days > 1) intervals.push("day");
  if (days >= MIN_DAYS_BY_MONTH) intervals.push("month");
  return intervals;
}

/** Removes hours before the link existed or in the future, which would look like hours without visits. */
export function seriesIn({ interval, fromMs, untilMs }: Range, series: Statistics["series"]) {
  const firstMs = Date.parse(series[0]?.start ?? "");
  if (interval !== "hour" || Number.isNaN(firstMs)) return series;
  const nth = (ms: number) => Math.floor((ms - firstMs) / HOUR_MS);
  return series.slice(Math.max(0, nth(fromMs)), Math.max(0, nth(untilMs)) + 1);
}

function hourOf(ms: number): number {
  return Math.floor(ms / HOUR_MS) * HOUR_MS;
}
