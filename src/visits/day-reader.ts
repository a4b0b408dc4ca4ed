import type { LinkId } from "../links/store.ts";
import { countNetworks, FEWEST_NETWORKS, includeLastHour, type Sums, visitorsOf } from "./day.ts";
import { type Networks, readDetail } from "./detail.ts";
import { type Dimension, DIMENSIONS } from "./dimensions.ts";
import type { DayVisits, VisitStore } from "./store.ts";

/**
 * How much of statistics is told. Visits and bots are always told, live. `safe`: so is the series; visitors
 * and breakdowns only of hours that are over and where visits came from enough networks, visitors rounded. Who reads
 * statistics may also visit, and must not learn from what changes whether somebody else did. `all`: everything, live.
 * `more`: like `safe`, but also of the running hour, and with the exact number of visitors; for who manages the link.
 * `count`: nothing else.
 */
export type Shown = "safe" | "more" | "all" | "count";

/** What statistics tell of a link's day (UTC). */
export interface ToldDay extends Sums {
  readonly day: number;
  /** Three numbers for each hour that had any: the hour (0 to 23), its visits, its bots. Undefined if they are unknown. */
  readonly hours: Uint32Array | undefined;
  readonly visitors: number;
  /** Two numbers for each value that is told: its place in {@link ToldDays.values}, and its visits. */
  readonly values: Uint32Array;
  /** The visits whose value is not told because too few networks had it, for each of {@link DIMENSIONS}. */
  readonly hidden: readonly number[];
  /** The visits whose value was not among those kept, for each of {@link DIMENSIONS}. */
  readonly rest: readonly number[];
}

export interface ToldDays {
  /** Oldest first. */
  readonly days: readonly ToldDay[];
  readonly values: readonly ToldValue[];
}

interface ToldValue {
  readonly dimension: Dimension;
  readonly text: string;
}

interface KnownDay extends ToldDay {
  /** The last hour (since 1970), if that decides what is told. */
  readonly lastHour: number;
  readonly isLastHourOver: boolean;
}

/** The days of a link that were read. */
interface Known {
  readonly days: Map<number, KnownDay>;
  readonly values: ToldValue[];
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
 * changes them, and closing a day changes nothing that is told.
 */
export function createDayReader(store: Pick<VisitStore, "days" | "daySums">, shown: Shown) {
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

  /** `hour` is the present one, since 1970. */
  return async (
    { code, createdMs }: LinkId,
    firstDay: number,
    lastDay: number,
    hour: number,
  ): Promise<ToldDays> => {
    const sums = await store.daySums(code, createdMs, firstDay, lastDay);
    if (sums.length === 0) return { days: [], values: [] };
    const key = `${createdMs} ${code}`;
    const known = links.get(key) ?? openKnown();
    const changed = sums.filter((day) => !isCurrent(known.days.get(day.day), day, hour));
    const [first, last] = [changed[0], changed.at(-1)];
    if (first !== undefined && last !== undefined) {
      for (const row of await store.days(code, createdMs, first.day, last.day))
        known.days.set(row.day, read(row, known, hour, shown));
    }
    keep(key, known);
    const days = sums.map(({ day }) => known.days.get(day)).filter((day) => day !== undefined);
    return { days, values: known.values };
  };
}

function openKnown(): Known {
  const places = Object.fromEntries(DIMENSIONS.map((dimension) => [dimension, new Map()]));
  return { days: new Map(), values: [], places: places as Known["places"], weight: 0 };
}

function isCurrent(known: KnownDay | undefined, { visits, bots }: Sums, hour: number): boolean {
  if (known === undefined) return false;
  const { lastHour, isLastHourOver } = known;
  return known.visits === visits && known.bots === bots && hour > lastHour === isLastHourOver;
}

/**
 * What visits from fewer than {@link FEWEST_NETWORKS} networks have in common would tell who made them. It is asked for
 * each day: visits on different days may be one person's.
 */
function read({ day, visits, bots, detail }: DayVisits, known: Known, hour: number, shown: Shown): KnownDay {
  const all = readDetail(detail);
  const lastHour =
    all.last === undefined || shown === "all" || shown === "more"
      ? Number.NEGATIVE_INFINITY
      : day * 24 + all.last.hour;
  const isLastHourOver = hour > lastHour;
  if (isLastHourOver) includeLastHour(all);
  const isTold = (networks: Networks) => shown === "all" || countNetworks(networks) >= FEWEST_NETWORKS;
  const values: number[] = [];
  const hidden = DIMENSIONS.map((dimension) => {
    let ofDimension = 0;
    for (const [text, ofValue, networks] of all.values[dimension] ?? []) {
      if (isTold(networks)) values.push(placeOf(known, dimension, text), ofValue);
      else ofDimension += ofValue;
    }
    return ofDimension;
  });
  const hours = all.hours && Object.entries(all.hours).flatMap(([ofDay, sums]) => [Number(ofDay), ...sums]);
  return {
    day,
    visits,
    bots,
    hours: hours && Uint32Array.from(hours),
    visitors: isTold(all.networks) ? visitorsOf(all) : 0,
    values: Uint32Array.from(values),
    hidden,
    rest: DIMENSIONS.map((dimension) => all.others[dimension] ?? 0),
    lastHour,
    isLastHourOver,
  };
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
