import {
  closeOneVisit,
  type DayDetail,
  type Detail,
  emptyPart,
  isEmpty,
  type Networks,
  type Part,
  readDetail,
  type Value,
  writeDetail,
  writeOneVisit,
} from "./detail.ts";
import { type Dimension, DIMENSIONS } from "./dimensions.ts";
import { addToSketch, estimate, mergeSketches, type Sketch } from "./sketch.ts";

/** Values that are kept of each dimension; the visits of the rest are added up. */
const MAX_VALUES = 50;
/** For so few values, comparing with each is faster than making a map. */
const FEW_VALUES = 8;
/** Some 6 % off above this many visitors a day; exact below. */
const VISITORS_SKETCH = 256;
/** A value is shown only if visits from at least this many networks had it that day: a visitor is easily made up. */
export const FEWEST_NETWORKS = 5;

export interface Sums {
  readonly visits: number;
  readonly bots: number;
}

/** The visits of a link on one day (UTC), or a part of them: parts are merged. */
export interface Day extends Sums {
  readonly detail: Detail;
}

/** Visits of one hour. Those told in detail are at most `visits`. */
export interface CountedVisits extends Sums {
  readonly details: readonly SameVisits[];
}

/** So many visits (`times`) that have everything in common. */
export interface SameVisits {
  readonly agent: { readonly browser: string; readonly os: string; readonly device: string };
  readonly referrer: string;
  readonly language: string;
  readonly country: string;
  /** uint32s: see `visitor.ts`. */
  readonly visitor: number;
  readonly network: number;
  readonly times: number;
}

/** The day of a link in which nothing but these visits came, in one hour (0 to 23). */
export function dayOf({ visits, bots, details }: CountedVisits, hour: number): Day {
  const [first] = details;
  if (first !== undefined && visits === 1 && bots === 0)
    return { visits, bots, detail: detailOfOne(first, hour) };
  const visitors: Sketch = [];
  const networks: Sketch = [];
  const lists = DIMENSIONS.map(() => openValues([]));
  for (const same of details) {
    const { visitor, network, times } = same;
    addToSketch(visitors, visitor, VISITORS_SKETCH);
    addToSketch(networks, network, FEWEST_NETWORKS);
    textsOf(same).forEach((text, nth) => lists[nth]?.add([text, times, [network]]));
  }
  const last = { hour, visitors, networks: fewNetworks(networks), values: {}, others: {} };
  DIMENSIONS.forEach((dimension, nth) => keepValues(last, dimension, lists[nth]?.all ?? []));
  const detail: DayDetail = {
    hours: { [hour]: [visits, bots] },
    ...emptyPart(),
    ...(details.length > 0 && { last }),
  };
  return { visits, bots, detail: writeDetail(detail) };
}

/** Most rows are of one visit, so this takes the short way. */
function detailOfOne(visit: SameVisits, hour: number): Detail {
  return writeOneVisit({ hour, visitor: visit.visitor, network: visit.network, texts: textsOf(visit) });
}

/** In the order of {@link DIMENSIONS}. */
function textsOf({ agent, referrer, country, language }: SameVisits): string[] {
  return [referrer, country, agent.browser, agent.os, agent.device, language];
}

/**
 * Two parts of a day as one; where one part is closed, so is the whole. The order of merging does not matter, except
 * for which of more than {@link MAX_VALUES} values are kept, and for visitors once their day is closed: whether
 * somebody is in both parts is then no longer known.
 */
export function merge(one: Day, other: Day): Day {
  const detail = readDetail(one.detail);
  mergeInto(detail, readDetail(other.detail));
  return { visits: one.visits + other.visits, bots: one.bots + other.bots, detail: writeDetail(detail) };
}

function mergeInto(day: DayDetail, added: DayDetail): void {
  if (day.hours === undefined || added.hours === undefined) delete day.hours;
  else addHours(day.hours, added.hours);
  if (typeof day.visitors === "number" || typeof added.visitors === "number") {
    includeLastHour(day);
    includeLastHour(added);
  }
  mergeLast(day, added);
  mergePart(day, added);
  if (typeof day.visitors === "number") closePart(day);
}

/** The last hour of two parts of a day; the other is no longer the last. */
function mergeLast(day: DayDetail, added: DayDetail): void {
  if (day.last === undefined || added.last === undefined) {
    if (added.last !== undefined) day.last = added.last;
  } else if (day.last.hour === added.last.hour) {
    mergePart(day.last, added.last);
  } else {
    const [earlier, last] = day.last.hour < added.last.hour ? [day.last, added.last] : [added.last, day.last];
    mergePart(day, earlier);
    day.last = last;
  }
}

/** Makes the last hour one of the others. */
export function includeLastHour(day: DayDetail): void {
  if (day.last !== undefined) mergePart(day, day.last);
  delete day.last;
}

function mergePart(part: Part, added: Part): void {
  // Nearly always so for the hours before the last one: what is added is of one hour.
  if (isEmpty(added)) return;
  if (Array.isArray(part.visitors) && Array.isArray(added.visitors))
    mergeSketches(part.visitors, added.visitors, VISITORS_SKETCH);
  else part.visitors = visitorsOf(part) + visitorsOf(added);
  part.networks = mergeNetworks(part.networks, added.networks);
  for (const dimension of DIMENSIONS) {
    const values = openValues(part.values[dimension] ?? []);
    for (const value of added.values[dimension] ?? []) values.add(value);
    const others = (part.others[dimension] ?? 0) + (added.others[dimension] ?? 0);
    if (others > 0) part.others[dimension] = others;
    keepValues(part, dimension, values.all);
  }
}

function addHours(hours: NonNullable<DayDetail["hours"]>, added: NonNullable<DayDetail["hours"]>): void {
  for (const [hour, [visits, bots]] of Object.entries(added)) {
    const [visitsBefore, botsBefore] = hours[Number(hour)] ?? [0, 0];
    hours[Number(hour)] = [visitsBefore + visits, botsBefore + bots];
  }
}

/** Most links have a few values of a kind; one may have thousands. */
function openValues(all: Value[]) {
  let byText: Map<string, Value> | undefined;
  let searches = 0;

  function find(text: string): Value | undefined {
    if (++searches <= FEW_VALUES) return all.find((value) => value[0] === text);
    byText ??= new Map(all.map((value) => [value[0], value]));
    return byText.get(text);
  }

  return {
    all,
    add(added: Value): void {
      const value = find(added[0]);
      if (value !== undefined) return mergeValue(value, added);
      all.push(added);
      byText?.set(added[0], added);
    },
  };
}

function mergeValue(value: Value, added: Value): void {
  value[1] += added[1];
  value[2] = mergeNetworks(value[2], added[2]);
  if (value[2] === undefined) value.length = 2;
}

function mergeNetworks(one: Networks, other: Networks): Networks {
  // Once the day is closed, the networks of both parts may be the same.
  if (!Array.isArray(one) || !Array.isArray(other))
    return fewNetworks(Math.max(countNetworks(one), countNetworks(other)));
  mergeSketches(one, other, FEWEST_NETWORKS);
  return fewNetworks(one);
}

function fewNetworks(networks: Networks): Networks {
  return countNetworks(networks) < FEWEST_NETWORKS ? networks : undefined;
}

function keepValues(part: Part, dimension: Dimension, values: Value[]): void {
  if (values.length > MAX_VALUES) {
    values.sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    const rest = values.splice(MAX_VALUES).reduce((sum, [, visits]) => sum + visits, 0);
    part.others[dimension] = (part.others[dimension] ?? 0) + rest;
  }
  if (values.length > 0) part.values[dimension] = values;
}

/** At most {@link FEWEST_NETWORKS}: more are not counted. */
export function countNetworks(networks: Networks): number {
  if (networks === undefined) return FEWEST_NETWORKS;
  return Array.isArray(networks) ? networks.length : networks;
}

/** An estimate may be too high, but nobody visits without a visit. */
export function visitorsOf(part: Part): number {
  const { visitors } = part;
  return Array.isArray(visitors) ? Math.min(estimate(visitors, VISITORS_SKETCH), visitsTold(part)) : visitors;
}

/** Visits whose detail is known: each has a value of every dimension. */
function visitsTold({ values, others }: Part): number {
  return (values.devices ?? []).reduce((sum, [, visits]) => sum + visits, others.devices ?? 0);
}

/** Closes a day that is over: of its visitors only numbers stay. */
export function close(detail: Detail): Detail {
  const one = closeOneVisit(detail);
  if (one !== undefined) return one;
  const day = readDetail(detail);
  includeLastHour(day);
  closePart(day);
  return writeDetail(day);
}

function closePart(part: Part): void {
  part.visitors = visitorsOf(part);
  if (Array.isArray(part.networks)) part.networks = part.networks.length;
  for (const value of Object.values(part.values).flat()) {
    if (Array.isArray(value[2])) value[2] = value[2].length;
  }
}
