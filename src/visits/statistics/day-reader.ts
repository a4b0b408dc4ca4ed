import type { LinkId } from "../../links/store.ts";
import { firstOpenDay, type Sums, countVisitors } from "../day.ts";
import { readDetail } from "../detail.ts";
import { type Dimension, DIMENSIONS } from "../dimensions.ts";
import type { DaySums, DayVisits, VisitStore } from "../store.ts";
import { blur, type Noise } from "./noise.ts";

/**
 * What readers see beside the totals, which are always exact and live. `all`: everything, exact and live. `safe`:
 * visitors and values only of days that are over, each number with noise, because who reads statistics may also visit
 * and must not learn from the difference what somebody else did. `count`: nothing else.
 */
export type Visibility = "safe" | "all" | "count";

/** What statistics say about a link's day (UTC). */
export interface ReadDay extends Sums {
  readonly day: number;
  /** Three numbers for each hour that had any: the hour (0 to 23), its visits, its bots. Undefined if they are unknown. */
  readonly hours: Uint32Array | undefined;
  /** Undefined where the reader may not know them yet, or nobody does. */
  readonly visitors: number | undefined;
  /** Two numbers for each value: its place in {@link ReadDays.values}, and its visits. */
  readonly values: Uint32Array;
  /** For each of {@link DIMENSIONS}, the visits with any other value. Noise may make it negative. */
  readonly others: readonly number[];
}

export interface ReadDays {
  /** Oldest first. */
  readonly days: readonly ReadDay[];
  readonly values: readonly DayValue[];
}

interface DayValue {
  readonly dimension: Dimension;
  readonly text: string;
}

interface KnownDay extends ReadDay {
  readonly isOver: boolean;
}

/** The days of a link that were read. */
interface Known {
  readonly days: Map<number, KnownDay>;
  readonly values: DayValue[];
  /** The places of the values, by text. */
  readonly places: Readonly<Record<Dimension, Map<string, number>>>;
  weight: number;
}

/** The unit is a number of 4 bytes, so this is 16 MB: some fifty links with a hundred visits on each of 400 days. */
const MAX_WEIGHT = 4_000_000;
/** Each takes 3 KB more than it weighs. Those with little to tell are soon read again. */
const MAX_LINKS = 1000;
const DAY_WEIGHT = 100;
const VALUE_WEIGHT = 30;

/**
 * Reads the days of links. The detail of a day takes ten times as long to read as its sums, and hardly any day but
 * today changes. So what was read is kept for as long as the sums of the day stay the same: every visit that is added
 * changes them, and closing a day changes nothing that is read. With `noise`, the days are for everyone to see.
 */
export function createDayReader(store: Pick<VisitStore, "days" | "daySums">, noise: Noise | undefined) {
  /** The link that was asked for last comes last. */
  const links = new Map<string, Known>();
  let weight = 0;

  function keep(key: string, known: Known): void {
    weight -= links.get(key)?.weight ?? 0;
    known.weight = weigh(known);
    weight += known.weight;
    links.delete(key);
    links.set(key, known);
    for (const [oldest, { weight: ofOldest }] of links) {
      if (weight <= MAX_WEIGHT && links.size <= MAX_LINKS) break;
      links.delete(oldest);
      weight -= ofOldest;
    }
  }

  function read(row: DayVisits, known: Known, isOver: boolean, { code, createdMs }: LinkId): KnownDay {
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
    // With the visits, so that late ones draw all offsets again. Otherwise the difference would show them exactly.
    const offsetOf = (...name: string[]) => noise?.([code, createdMs, day, visits, ...name]) ?? 0;
    const detail = noise === undefined ? exact : blur(exact, visits, offsetOf);
    const values = DIMENSIONS.flatMap((dimension) =>
      (detail.values[dimension] ?? []).flatMap(([text, of]) => [placeOf(known, dimension, text), of]),
    );
    return {
      ...sums,
      // Bots are no visitors, and those of imported visits are unknown.
      visitors: people === 0 ? undefined : countVisitors(detail),
      values: Uint32Array.from(values),
      others: DIMENSIONS.map((dimension) => detail.others[dimension] ?? 0),
    };
  }

  return async (link: LinkId, firstDay: number, lastDay: number, nowMs: number): Promise<ReadDays> => {
    const { code, createdMs } = link;
    const sums = await store.daySums(code, createdMs, firstDay, lastDay);
    if (sums.length === 0) return { days: [], values: [] };
    const key = `${createdMs} ${code}`;
    const known = links.get(key) ?? openKnown();
    const openDay = firstOpenDay(nowMs);
    const changed = sums.filter((day) => !isCurrent(known.days.get(day.day), day, openDay));
    const [first, last] = [changed[0], changed.at(-1)];
    if (first !== undefined && last !== undefined) {
      for (const row of await store.days(code, createdMs, first.day, last.day))
        known.days.set(row.day, read(row, known, row.day < openDay, link));
    }
    keep(key, known);
    const days = sums.map(({ day }) => known.days.get(day)).filter((day) => day !== undefined);
    return { days, values: known.values };
  };
}

const NOT_YET = { visitors: undefined, values: new Uint32Array(), others: DIMENSIONS.map(() => 0) };

function openKnown(): Known {
  const places = Object.fromEntries(DIMENSIONS.map((dimension) => [dimension, new Map()]));
  return { days: new Map(), values: [], places: places as Known["places"], weight: 0 };
}

function isCurrent(known: KnownDay | undefined, { day, visits, bots }: DaySums, openDay: number): boolean {
  return known?.visits === visits && known.bots === bots && known.isOver === day < openDay;
}

function placeOf({ values, places }: Known, dimension: Dimension, text: string): number {
  let place = places[dimension].get(text);
  if (place === undefined) {
    place = values.push({ dimension, text }) - 1;
    places[dimension].set(text, place);
  }
  return place;
}

function weigh({ days, values }: Known): number {
  let weight = values.length * VALUE_WEIGHT;
  for (const day of days.values()) weight += DAY_WEIGHT + (day.hours?.length ?? 0) + day.values.length;
  return weight;
}
