import type { WallClock } from "../../links/clock.ts";
import type { Code, LinkKey } from "../../links/code.ts";
import type { LinkId } from "../../links/link-store.ts";
import { DAY_MS } from "../../links/time.ts";
import { firstOpenDay, type Sums } from "../days/day.ts";
import { type Dimension, DIMENSIONS } from "../days/dimensions.ts";
import type { DaySums, VisitStore } from "../days/visit-store.ts";
import { createDayReader, type DayStatistics, type DayRange, type Visibility } from "./day-reader.ts";
import type { Noise } from "./noise.ts";
import { addDay, type Interval, openSeries } from "./series.ts";
import { type Week, weekOf } from "./week.ts";
import { openZone, writeDay } from "./zone.ts";

/** Values of one dimension in a response. */
export const MAX_VALUES = 50;

/** The longest range. */
export const MAX_DAYS: Readonly<Record<Interval, number>> = { hour: 62, day: 400, month: 400 };

export interface StatisticsRequest {
  /** Dates, such as 2026-11-21, in `timeZone`; both days are part of the range. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly interval: Interval;
  /** A name of the IANA time zone database. */
  readonly timeZone: string;
}

/** Why a range is refused. */
export type RangeRefusal = { rule: "stats.order" } | { rule: "stats.range"; max: number; interval: Interval };

interface RefusedRange {
  readonly kind: "malformed";
  readonly refusals: readonly RangeRefusal[];
}

export interface Statistics extends Sums {
  readonly shown: Visibility;
  readonly from: string;
  readonly to: string;
  /** Visitors of each day (UTC), added up: a person counts on each day. Null if this reader doesn't see those of any day. */
  readonly visitors: number | null;
  /** Every hour, day or month of the range; `start` is a timestamp, a date or a month. */
  readonly series: ({ readonly start: string } & Sums)[];
  /** Undefined if the hours of the visits are unknown, and for less than a week. */
  readonly week: Week | undefined;
  readonly breakdowns: Readonly<Record<Dimension, Breakdown>>;
}

interface Breakdown {
  /** Most visits first. Null: unknown. */
  readonly values: { readonly value: string | null; readonly visits: number }[];
  /** Visits with any other value. */
  readonly other: number;
}

export interface StatisticsOptions<Id extends Code | LinkKey = Code> {
  readonly store: Pick<VisitStore<Id>, "sums" | "days" | "daySums">;
  readonly clock: WallClock;
  /** The statistics that everyone sees. */
  readonly shown: Visibility;
  readonly noise: Noise;
}

/** A maker controls the destination and learns more there, so makers see everything. */
type Reader = "visitor" | "maker";

/** The range of a {@link StatisticsRequest} at a certain time. */
interface Range {
  readonly from: string;
  readonly to: string;
  /** Both since 1970-01-01. */
  readonly first: number;
  readonly last: number;
}

/** A zone is at most a day away from UTC. */
const daysOfUtc = ({ first, last }: Range) => [Math.max(1, first - 1), last + 1] as const;

/** Reads statistics. Both methods reject with `StoreUnavailable`. */
export interface StatisticsReader<Id extends Code | LinkKey = Code> {
  /** A text that changes with the result of {@link statistics}. Takes a small part of the time. */
  revision(link: LinkId<Id>, request: StatisticsRequest): Promise<string | RefusedRange>;
  /**
   * Reads the visits of a link between two dates of a time zone. An hour of UTC belongs to the day in which it starts.
   * Breakdowns and visitors are of UTC days.
   */
  statistics(
    link: LinkId<Id>,
    request: StatisticsRequest,
    reader?: Reader,
  ): Promise<Statistics | RefusedRange>;
}

export function createStatistics<Id extends Code | LinkKey>({
  store,
  clock,
  shown: shownToAll,
  noise,
}: StatisticsOptions<Id>): StatisticsReader<Id> {
  const readExactly = createDayReader(store, undefined);
  const readers = {
    visitor: shownToAll === "safe" ? createDayReader(store, noise) : readExactly,
    maker: readExactly,
  };
  /** Stores may return the same array until something is written. */
  const hashes = new WeakMap<readonly DaySums[], string>();

  function hashSums(sums: readonly DaySums[]): string {
    const text = hashes.get(sums) ?? Bun.hash(JSON.stringify(sums)).toString(36);
    hashes.set(sums, text);
    return text;
  }

  const revision: StatisticsReader<Id>["revision"] = async (link, request) => {
    const { interval, timeZone } = request;
    const nowMs = clock.nowMs();
    const range = rangeOf(request, nowMs);
    if (isRefused(range)) return range;
    if (shownToAll === "count") return JSON.stringify(await totals(link, nowMs));
    const sums = await store.daySums(link.code, link.createdMs, ...daysOfUtc(range));
    return [
      link.createdMs,
      range.from,
      range.to,
      interval,
      timeZone,
      firstOpenDay(nowMs),
      hashSums(sums),
    ].join(" ");
  };

  const statistics: StatisticsReader<Id>["statistics"] = async (link, request, reader = "visitor") => {
    const { interval, timeZone } = request;
    const nowMs = clock.nowMs();
    const range = rangeOf(request, nowMs);
    if (isRefused(range)) return range;
    if (shownToAll === "count") return totals(link, nowMs);
    const { from, to, first, last } = range;
    const shown = reader === "maker" && shownToAll === "safe" ? "all" : shownToAll;
    const { days, values } = await readers[reader](link, ...daysOfUtc(range), nowMs);
    const zone = openZone(timeZone);
    const { points, pointOf } = openSeries(first, last, interval, zone);
    for (const day of days) addDay(day, pointOf);
    const within = days.filter(({ day }) => day >= first && day <= last);
    const visits = sum(points.map((point) => point.visits));
    return {
      shown,
      from,
      to,
      visits,
      bots: sum(points.map(({ bots }) => bots)),
      visitors: countVisitors(within, visits, shown),
      series: points,
      week: weekOf(days, range, zone),
      breakdowns: breakDown({ days: within, values }),
    };
  };

  /** Since the creation, whatever the requested range: the sums of two ranges would reveal single hours. */
  async function totals({ code, createdMs }: LinkId<Id>, nowMs: number): Promise<Statistics> {
    const dateOf = (ms: number) => writeDay(Math.floor(ms / DAY_MS));
    return {
      shown: "count",
      from: dateOf(createdMs),
      to: dateOf(nowMs),
      ...(await store.sums(code, createdMs)),
      visitors: null,
      series: [],
      week: undefined,
      breakdowns: breakDown({ days: [], values: [] }),
    };
  }

  return { revision, statistics };
}

export const DEFAULT_DAYS = { hour: 2, day: 30, month: 365 };

/** Earlier days have no date of four digits. */
const FIRST_DAY = parseDay("0000-01-01");

function rangeOf(request: StatisticsRequest, nowMs: number): Range | RefusedRange {
  const { interval, timeZone } = request;
  const to = request.to ?? writeDay(openZone(timeZone).dayOf(nowMs));
  const from = request.from ?? writeDay(Math.max(FIRST_DAY, parseDay(to) + 1 - DEFAULT_DAYS[interval]));
  const refusal = rangeRefusal(from, to, interval);
  if (refusal !== undefined) return { kind: "malformed", refusals: [refusal] };
  return { from, to, first: parseDay(from), last: parseDay(to) };
}

function isRefused(range: Range | RefusedRange): range is RefusedRange {
  return "refusals" in range;
}

function rangeRefusal(from: string, to: string, interval: Interval): RangeRefusal | undefined {
  if (from > to) return { rule: "stats.order" };
  const max = MAX_DAYS[interval];
  return parseDay(to) - parseDay(from) < max ? undefined : { rule: "stats.range", max, interval };
}

function countVisitors(days: readonly DayStatistics[], visits: number, shown: Visibility): number | null {
  const known = days.map(({ visitors }) => visitors).filter((visitors) => visitors !== undefined);
  if (shown === "safe" && known.length === 0) return null;
  // Each of these days had a visitor, whatever the noise. A UTC day may have visits that the zone counts on the day
  // before or after.
  const fewest = shown === "safe" ? known.length : 0;
  return Math.min(Math.max(sum(known), fewest), visits);
}

function breakDown({ days, values }: DayRange): Statistics["breakdowns"] {
  const visits = values.map(() => 0);
  for (const { values: ofDay } of days) {
    for (let at = 0; at < ofDay.length; at += 2) {
      const place = ofDay[at] ?? 0;
      visits[place] = (visits[place] ?? 0) + (ofDay[at + 1] ?? 0);
    }
  }
  const sorted = values
    .map(({ dimension, text }, place) => ({ dimension, text, visits: visits[place] ?? 0 }))
    .filter((value) => value.visits > 0)
    // The order of rows could reveal which of two equal values really has more.
    .toSorted((a, b) => b.visits - a.visits || (a.text < b.text ? -1 : 1));
  const entries = DIMENSIONS.map((dimension, nth): [Dimension, Breakdown] => {
    const shown = sorted
      .filter((value) => value.dimension === dimension)
      .map(({ text, visits: ofValue }) => ({ value: text || null, visits: ofValue }));
    const rest = sum(shown.splice(MAX_VALUES).map((value) => value.visits));
    const other = Math.max(0, rest + sum(days.map(({ others }) => others[nth] ?? 0)));
    return [dimension, { values: shown, other }];
  });
  return Object.fromEntries(entries) as Statistics["breakdowns"];
}

function parseDay(date: string): number {
  return Date.parse(`${date}T00:00:00Z`) / DAY_MS;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
