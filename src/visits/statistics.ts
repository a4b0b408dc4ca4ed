import type { LinkId } from "../links/store.ts";
import { DAY_MS, HOUR_MS } from "../links/time.ts";
import {
  countNetworks,
  type DayDetail,
  DIMENSIONS,
  type Dimension,
  FEWEST_NETWORKS,
  includeLastHour,
  readDetail,
  type Sums,
  visitorsOf,
} from "./day.ts";
import type { VisitStore } from "./store.ts";
import { localTime } from "./zone.ts";

/** Values of one dimension in an answer. */
const MAX_VALUES = 50;
/** Fewer visitors are not told to everyone. */
export const FEWEST_VISITORS = 10;

/**
 * How much of statistics is told, to anyone. Visits and bots are always told, live. `safe`: so is the series; visitors
 * and breakdowns only of hours that are over and where visits came from enough networks, visitors rounded. Who reads
 * statistics may also visit, and must not learn from what changes whether somebody else did. `all`: everything, live.
 * `count`: nothing else.
 */
export type Shown = "safe" | "all" | "count";

export const INTERVALS = ["hour", "day", "month"] as const;
type Interval = (typeof INTERVALS)[number];

/** How many days may be asked for at once. */
export const MAX_DAYS: Readonly<Record<Interval, number>> = { hour: 62, day: 400, month: 400 };

export interface StatisticsRequest {
  /** Dates, such as 2026-11-21, in `timeZone`; both days are part of the range. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly interval: Interval;
  /** A name of the IANA time zone database. */
  readonly timeZone: string;
}

interface ReadDay extends Sums {
  readonly day: number;
  readonly detail: DayDetail;
}

/** Why a range is refused. */
export type RangeRefusal = { rule: "stats.order" } | { rule: "stats.range"; max: number; interval: Interval };

export interface RefusedRange {
  readonly kind: "malformed";
  readonly refusals: readonly RangeRefusal[];
}

export interface Statistics extends Sums {
  readonly shown: Shown;
  readonly from: string;
  readonly to: string;
  /** Visitors of each day (UTC), added up: those of different days cannot be told apart. Null where they are not told. */
  readonly visitors: number | null;
  /** Every hour, day or month of the range; `start` is a timestamp, a date or a month. */
  readonly series: ({ readonly start: string } & Sums)[];
  readonly breakdowns: Readonly<Record<Dimension, Breakdown>>;
}

interface Breakdown {
  /** Most visits first; null where a visit did not tell. */
  readonly values: { readonly value: string | null; readonly visits: number }[];
  readonly other: number;
}

/**
 * The visits of a link between two dates of a time zone; an hour of UTC belongs to the day in which it begins.
 * Breakdowns and visitors are of days of UTC.
 */
export async function readStatistics(
  store: Pick<VisitStore, "days">,
  link: LinkId,
  { interval, timeZone, ...range }: StatisticsRequest,
  { nowMs, shown }: { nowMs: number; shown: Shown },
): Promise<Statistics | RefusedRange> {
  const local = localTime(timeZone);
  const to = range.to ?? local(nowMs).slice(0, 10);
  const from = range.from ?? addDays(to, 1 - DEFAULT_DAYS[interval]);
  const refusal = rangeRefusal(from, to, interval);
  if (refusal !== undefined) return { kind: "malformed", refusals: [refusal] };

  // A zone is at most a day away from UTC.
  const [first, last] = [dayOf(from), dayOf(to)];
  const stored = await store.days(link.code, link.createdMs, Math.max(1, first - 1), last + 1);
  const hour = Math.floor(nowMs / HOUR_MS);
  const days = stored.map((day) => {
    const detail = readDetail(day.detail);
    const isOver = detail.last !== undefined && day.day * 24 + detail.last.hour < hour;
    if (isOver || shown === "all") includeLastHour(detail);
    return { ...day, detail };
  });
  const series = new Map<string, { visits: number; bots: number }>();
  for (const start of starts(first, last, interval, local)) series.set(start, { visits: 0, bots: 0 });
  for (const day of days) addDay(series, day, { interval, from, to }, local);
  const within = days.filter(({ day }) => day >= first && day <= last);
  const points = [...series].map(([start, sums]) => ({ start, ...sums }));
  const visits = sum(points.map((point) => point.visits));
  return {
    shown,
    from,
    to,
    visits,
    bots: sum(points.map(({ bots }) => bots)),
    visitors: countVisitors(within, visits, shown),
    series: shown === "count" ? [] : points,
    breakdowns: Object.fromEntries(
      DIMENSIONS.map((dimension) => [dimension, breakDown(within, dimension, shown)]),
    ) as Record<Dimension, Breakdown>,
  };
}

const DEFAULT_DAYS = { hour: 2, day: 30, month: 365 };

function rangeRefusal(from: string, to: string, interval: Interval): RangeRefusal | undefined {
  if (from > to) return { rule: "stats.order" };
  const max = MAX_DAYS[interval];
  return dayOf(to) - dayOf(from) < max ? undefined : { rule: "stats.range", max, interval };
}

/** How many characters of a local time name its hour, day or month. */
const LABEL_LENGTH: Readonly<Record<Interval, number | undefined>> = { hour: undefined, day: 10, month: 7 };

function starts(first: number, last: number, interval: Interval, local: (ms: number) => string): Set<string> {
  if (interval !== "hour") {
    const dates = Array.from({ length: last - first + 1 }, (_, nth) => dateOf(first + nth));
    return new Set(dates.map((date) => date.slice(0, LABEL_LENGTH[interval])));
  }
  const hours = Array.from({ length: (last - first + 3) * 24 }, (_, nth) =>
    local((first - 1) * DAY_MS + nth * HOUR_MS),
  );
  const [from, to] = [dateOf(first), dateOf(last)];
  return new Set(hours.filter((start) => start.slice(0, 10) >= from && start.slice(0, 10) <= to));
}

/** Only what is in the range: the days around it touch it with some of their hours. */
function addDay(
  series: ReadonlyMap<string, { visits: number; bots: number }>,
  { day, visits, bots, detail }: ReadDay,
  { interval, from, to }: { interval: Interval; from: string; to: string },
  local: (ms: number) => string,
): void {
  const parts: [string, number, number][] =
    detail.hours === undefined
      ? [[dateOf(day), visits, bots]]
      : Object.entries(detail.hours).map(([hour, [ofVisits, ofBots]]) => [
          local(day * DAY_MS + Number(hour) * HOUR_MS),
          ofVisits,
          ofBots,
        ]);
  for (const [start, ofVisits, ofBots] of parts) {
    const date = start.slice(0, 10);
    if (date < from || date > to) continue;
    const point = series.get(start.slice(0, LABEL_LENGTH[interval]));
    if (point === undefined) continue;
    point.visits += ofVisits;
    point.bots += ofBots;
  }
}

function countVisitors(days: readonly ReadDay[], visits: number, shown: Shown): number | null {
  if (shown === "count") return null;
  const told = days.filter(
    ({ detail }) => shown === "all" || countNetworks(detail.networks) >= FEWEST_NETWORKS,
  );
  // A day of UTC may have visits that another zone counts to the day before or after.
  const visitors = Math.min(sum(told.map(({ detail }) => visitorsOf(detail))), visits);
  if (shown === "all") return visitors;
  return visitors < FEWEST_VISITORS ? null : roundDown(visitors);
}

/** To two significant digits, of a number of two or more: rounded up, visitors could be more than visits. */
function roundDown(number: number): number {
  const unit = 10 ** (String(number).length - 2);
  return Math.floor(number / unit) * unit;
}

/**
 * What visits from fewer than {@link FEWEST_NETWORKS} networks have in common would tell who made them. It is asked for
 * each day: visits on different days may be one person's.
 */
function breakDown(days: readonly ReadDay[], dimension: Dimension, shown: Shown): Breakdown {
  if (shown === "count") return { values: [], other: 0 };
  const told = new Map<string, number>();
  let other = sum(days.map(({ detail }) => detail.others[dimension] ?? 0));
  for (const [text, visits, networks] of days.flatMap(({ detail }) => detail.values[dimension] ?? [])) {
    if (shown === "safe" && countNetworks(networks) < FEWEST_NETWORKS) other += visits;
    else told.set(text, (told.get(text) ?? 0) + visits);
  }
  const values = [...told].toSorted(([, a], [, b]) => b - a);
  const rest = values.splice(MAX_VALUES);
  return {
    values: values.map(([value, visits]) => ({ value: value || null, visits })),
    other: other + sum(rest.map(([, visits]) => visits)),
  };
}

function dayOf(date: string): number {
  return Date.parse(`${date}T00:00:00Z`) / DAY_MS;
}

function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

function addDays(date: string, days: number): string {
  return dateOf(dayOf(date) + days);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
