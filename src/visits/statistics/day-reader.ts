import type { Code, LinkKey } from "../../links/code.ts";
import type { LinkId } from "../../links/link-store.ts";
import { firstOpenDay, type Sums, countVisitors } from "../days/day.ts";
import { readDetail } from "../days/detail.ts";
import { type Dimension, DIMENSIONS } from "../days/dimensions.ts";
import type { DaySums, DayVisits, VisitStore } from "../days/visit-store.ts";
import { blur, type Noise } from "./noise.ts";

/**
 * The statistics that readers see beside the totals, which are always exact and live. `all`: everything, exact and live.
 * `safe`: visitors and values only of days that are over, with noise, because a reader may visit the link and must not
 * learn from the difference what somebody else did. `count`: nothing else.
 */
export type Visibility = "safe" | "all" | "count";

/** The statistics of a link's day (UTC). */
export interface DayStatistics extends Sums {
  readonly day: number;
  /** Three numbers for each hour that had any: the hour (0 to 23), its visits, its bots. Undefined if they are unknown. */
  readonly hours: Uint32Array | undefined;
  /** Undefined if unknown, or if the reader may not see them yet. */
  readonly visitors: number | undefined;
  /** Two numbers for each value: its place in {@link DayRange.values}, and its visits. */
  readonly values: Uint32Array;
  /** For each of {@link DIMENSIONS}, the visits with any other value. Noise may make it negative. */
  readonly others: readonly number[];
}

export interface DayRange {
  /** Oldest first. */
  readonly days: readonly DayStatistics[];
  readonly values: readonly DayValue[];
}

interface DayValue {
  readonly dimension: Dimension;
  readonly text: string;
}

interface CachedDay extends DayStatistics {
  readonly isOver: boolean;
}

/** The cached days of a link. */
interface CachedLink {
  readonly days: Map<number, CachedDay>;
  readonly values: DayValue[];
  /** The places of the values, by text. */
  readonly places: Readonly<Record<Dimension, Map<string, number>>>;
  weight: number;
}

/** In numbers of 4 bytes, so 16 MB: about fifty links with a hundred visits on each of 400 days. */
const MAX_WEIGHT = 4_000_000;
/** Each link takes 3 KB more than its weight. */
const MAX_LINKS = 1000;
const DAY_WEIGHT = 100;
const VALUE_WEIGHT = 30;

/**
 * Reads and caches the days of links. The detail of a day takes ten times as long to read as its sums, and few days but
 * today change. A day stays cached while its sums are the same, because every new visit changes them, and closing a day
 * changes nothing else. With `noise`, the days are public.
 */
export function createDayReader<Id extends Code | LinkKey>(
  store: Pick<VisitStore<Id>, "days" | "daySums">,
  noise: Noise | undefined,
) {
  /** The least recently read link comes first. */
  const links = new Map<string, CachedLink>();
  let weight = 0;

  function keep(key: string, cached: CachedLink): void {
    weight -= links.get(key)?.weight ?? 0;
    cached.weight = weigh(cached);
    weight += cached.weight;
    links.delete(key);
    links.set(key, cached);
    for (const [oldest, { weight: ofOldest }] of links) {
      if (weight <= MAX_WEIGHT && links.size <= MAX_LINKS) break;
      links.delete(oldest);
      weight -= ofOldest;
    }
  }

  function read(
    row: DayVisits,
    cached: CachedLink,
    isOver: boolean,
    { code, createdMs }: LinkId<Id>,
  ): CachedDay {
    const { day, visits, bots } = row;
    const exact = readDetail(row.detail);
    const { hours } = exact;
    const sums = {
      day,
      visits,
      bots,
      hours: hours && Uint32Array.from(Object.entries(hours).flatMap(([hour, of]) => [Number(hour), ...of])),
      isOver,
    };
    if (noise !== undefined && !isOver) return { ...sums, ...NOT_YET };
    const people = countVisitors(exact);
    // Late visits draw all offsets again. Otherwise the difference would reveal them exactly.
    const offsetOf = (...name: string[]) => noise?.([code, createdMs, day, visits, ...name]) ?? 0;
    const detail = noise === undefined ? exact : blur(exact, visits, offsetOf);
    const values = DIMENSIONS.flatMap((dimension) =>
      (detail.values[dimension] ?? []).flatMap(([text, of]) => [placeOf(cached, dimension, text), of]),
    );
    return {
      ...sums,
      // A day may only have bots, or imported visits.
      visitors: people === 0 ? undefined : countVisitors(detail),
      values: Uint32Array.from(values),
      others: DIMENSIONS.map((dimension) => detail.others[dimension] ?? 0),
    };
  }

  return async (link: LinkId<Id>, firstDay: number, lastDay: number, nowMs: number): Promise<DayRange> => {
    const { code, createdMs } = link;
    const sums = await store.daySums(code, createdMs, firstDay, lastDay);
    if (sums.length === 0) return { days: [], values: [] };
    const key = `${createdMs} ${code}`;
    const cached = links.get(key) ?? createCachedLink();
    const openDay = firstOpenDay(nowMs);
    const changed = sums.filter((day) => !isCurrent(cached.days.get(day.day), day, openDay));
    const [first, last] = [changed[0], changed.at(-1)];
    if (first !== undefined && last !== undefined) {
      for (const row of await store.days(code, createdMs, first.day, last.day))
        cached.days.set(row.day, read(row, cached, row.day < openDay, link));
    }
    keep(key, cached);
    const days = sums.map(({ day }) => cached.days.get(day)).filter((day) => day !== undefined);
    return { days, values: cached.values };
  };
}

const NOT_YET = { visitors: undefined, values: new Uint32Array(), others: DIMENSIONS.map(() => 0) };

function createCachedLink(): CachedLink {
  const places = Object.fromEntries(DIMENSIONS.map((dimension) => [dimension, new Map()]));
  return { days: new Map(), values: [], places: places as CachedLink["places"], weight: 0 };
}

function isCurrent(cached: CachedDay | undefined, { day, visits, bots }: DaySums, openDay: number): boolean {
  return cached?.visits === visits && cached.bots === bots && cached.isOver === day < openDay;
}

function placeOf({ values, places }: CachedLink, dimension: Dimension, text: string): number {
  let place = places[dimension].get(text);
  if (place === undefined) {
    place = values.push({ dimension, text }) - 1;
    places[dimension].set(text, place);
  }
  return place;
}

function weigh({ days, values }: CachedLink): number {
  let weight = values.length * VALUE_WEIGHT;
  for (const day of days.values()) weight += DAY_WEIGHT + (day.hours?.length ?? 0) + day.values.length;
  return weight;
}
