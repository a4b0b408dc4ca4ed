import { DAY_MS, HOUR_MS } from "../../links/time.ts";
import {
  closeOneVisit,
  type DayDetail,
  type Detail,
  type Dropped,
  readDetail,
  type Value,
  writeDetail,
  writeOneVisit,
} from "./detail.ts";
import { type Dimension, DIMENSIONS, textsOf, type Traits } from "./dimensions.ts";
import { addToSketch, estimate, mergeSketches } from "./sketch.ts";

/** The values of each dimension that a day keeps. See {@link keepValues}. */
export const MAX_DAY_VALUES = 100;
/** Up to this number of values, comparing with each is faster than creating a map. */
const FEW_VALUES = 16;
/** About 6 % off above this many visitors per day; exact below. */
export const VISITORS_SKETCH = 256;

/** A day is over when the last visits of all processes have reached the store. */
export const CLOSE_AFTER_MS = HOUR_MS;

/** The first day (UTC, since 1970) that is not over yet. Earlier days are closed, and their details are public. */
export function firstOpenDay(nowMs: number): number {
  return Math.floor((nowMs - CLOSE_AFTER_MS) / DAY_MS);
}

export interface Sums {
  readonly visits: number;
  readonly bots: number;
}

/** The visits of a link on one day (UTC), or some of them. {@link mergeDays} adds them up. */
export interface Day extends Sums {
  readonly detail: Detail;
}

/** Visits of one hour. At most `visits` have details. */
export interface HourVisits extends Sums {
  readonly details: readonly SameVisits[];
}

/** A number of visits (`times`) that have everything in common. */
export interface SameVisits extends Traits {
  /** A uint32: see `visitor-numbers.ts`. */
  readonly visitor: number;
  readonly times: number;
}

/** The day of a link whose only visits came in one hour (0 to 23). */
export function createDay({ visits, bots, details }: HourVisits, hour: number): Day {
  const [first] = details;
  // Most rows have one visit.
  if (first !== undefined && visits === 1 && bots === 0) {
    const one = { hour, visitor: first.visitor, texts: textsOf(first) };
    return { visits, bots, detail: writeOneVisit(one) };
  }
  const detail: DayDetail = { hours: { [hour]: [visits, bots] }, visitors: [], values: {}, others: {} };
  const visitors: number[] = (detail.visitors = []);
  const lists = DIMENSIONS.map(() => new ValueList([]));
  for (const same of details) {
    addToSketch(visitors, same.visitor, VISITORS_SKETCH);
    const texts = textsOf(same);
    for (let nth = 0; nth < texts.length; nth++) lists[nth]?.add(texts[nth] ?? "", same.times);
  }
  DIMENSIONS.forEach((dimension, nth) => keepValues(detail, dimension, lists[nth]?.all ?? []));
  return { visits, bots, detail: writeDetail(detail) };
}

/**
 * Adds up two parts of a day. If one part is closed, so is the result. The order of merging does not matter, with two
 * exceptions: which of more than {@link MAX_DAY_VALUES} values are kept and with how many of their visits, and the
 * visitors of a closed part, because nobody knows any more who is in both parts. An unreadable part counts as closed.
 */
export function mergeDays(one: Day, other: Day): Day {
  const detail = readDetail(one.detail);
  mergeInto(detail, readDetail(other.detail));
  return { visits: one.visits + other.visits, bots: one.bots + other.bots, detail: writeDetail(detail) };
}

function mergeInto(day: DayDetail, added: DayDetail): void {
  if (day.hours === undefined || added.hours === undefined) delete day.hours;
  else addHours(day.hours, added.hours);
  if (Array.isArray(day.visitors) && Array.isArray(added.visitors))
    mergeSketches(day.visitors, added.visitors, VISITORS_SKETCH);
  else day.visitors = countVisitors(day) + countVisitors(added);
  const [dropped = {}, alsoDropped = {}] = isOpen(day) ? [day.dropped, added.dropped] : [];
  delete day.dropped;
  const unreadable = [...(day.unreadable ?? []), ...(added.unreadable ?? [])];
  if (unreadable.length > 0) day.unreadable = unreadable;
  for (const dimension of DIMENSIONS) {
    const values = new ValueList(day.values[dimension] ?? []);
    for (const [text, visits] of added.values[dimension] ?? []) values.add(text, visits);
    const others = (day.others[dimension] ?? 0) + (added.others[dimension] ?? 0);
    if (others > 0) day.others[dimension] = others;
    keepValues(day, dimension, values.all, dropped[dimension], alsoDropped[dimension]);
  }
}

function isOpen({ visitors }: DayDetail): boolean {
  return Array.isArray(visitors);
}

function addHours(hours: NonNullable<DayDetail["hours"]>, added: NonNullable<DayDetail["hours"]>): void {
  for (const [hour, [visits, bots]] of Object.entries(added)) {
    const [visitsBefore, botsBefore] = hours[Number(hour)] ?? [0, 0];
    hours[Number(hour)] = [visitsBefore + visits, botsBefore + bots];
  }
}

/** Most links have a few values in a dimension, but one may have thousands. */
class ValueList {
  #byText: Map<string, Value> | undefined;
  constructor(readonly all: Value[]) {}

  #find(text: string): Value | undefined {
    if (this.all.length > FEW_VALUES) {
      this.#byText ??= new Map(this.all.map((value) => [value[0], value]));
      return this.#byText.get(text);
    }
    for (const value of this.all) if (value[0] === text) return value;
    return undefined;
  }

  add(text: string, visits: number): void {
    const value = this.#find(text);
    if (value !== undefined) {
      value[1] += visits;
      return;
    }
    const added: Value = [text, visits];
    this.all.push(added);
    this.#byText?.set(text, added);
  }
}

/**
 * Keeps the values that may have had the most visits (Metwally, Agrawal and El Abbadi, "Efficient computation of frequent
 * and top-k elements in data streams", 2005; merged as in Agarwal et al., "Mergeable summaries", 2012). A value ranks by
 * its visits and what it inherited, the most that it may have had where it wasn't kept. So a value with more than
 * 1 / {@link MAX_DAY_VALUES} of the visits is always kept. Its own visits alone are published: never too many, and too few if
 * it was dropped before.
 */
function keepValues(
  day: DayDetail,
  dimension: Dimension,
  values: Value[],
  ...parts: readonly (Dropped | undefined)[]
): void {
  if (values.length > 0) day.values[dimension] = values;
  const before = parts.filter((part) => part !== undefined);
  if (values.length <= MAX_DAY_VALUES && before.length === 0) return;
  const ranked = values.map((value) => {
    const [text, visits] = value;
    const inherited = before.reduce((sum, part) => sum + (part.inherited.get(text) ?? part.floor), 0);
    return { value, inherited, rank: visits + inherited };
  });
  ranked.sort((a, b) => b.rank - a.rank || compareValues(a.value, b.value));
  const rest = ranked.splice(MAX_DAY_VALUES);
  day.values[dimension] = ranked.map(({ value }) => value);
  const others = rest.reduce((sum, { value }) => sum + value[1], day.others[dimension] ?? 0);
  if (others > 0) day.others[dimension] = others;
  if (!isOpen(day)) return;
  const floor = rest[0]?.rank ?? before.reduce((sum, part) => sum + part.floor, 0);
  const inherited = new Map(ranked.map((kept) => [kept.value[0], kept.inherited]));
  (day.dropped ??= {})[dimension] = { floor, inherited };
}

function compareValues([text, visits]: Value, [otherText, otherVisits]: Value): number {
  return otherVisits - visits || (text < otherText ? -1 : 1);
}

/** At most the number of visits, because an estimate may be too high. */
export function countVisitors(day: DayDetail): number {
  const { visitors } = day;
  return Array.isArray(visitors) ? Math.min(estimate(visitors, VISITORS_SKETCH), knownVisits(day)) : visitors;
}

/** The visits with details. Each of them has a device, if only "". */
function knownVisits({ values, others }: DayDetail): number {
  return (values.devices ?? []).reduce((sum, [, visits]) => sum + visits, others.devices ?? 0);
}

/** Closes a day that is over: replaces its visitors by their number. */
export function closeDetail(detail: Detail): Detail {
  const one = closeOneVisit(detail);
  if (one !== undefined) return one;
  const day = readDetail(detail);
  day.visitors = countVisitors(day);
  delete day.dropped;
  return writeDetail(day);
}
