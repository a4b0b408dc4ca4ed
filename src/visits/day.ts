import { DAY_MS, HOUR_MS } from "../links/time.ts";
import {
  closeOneVisit,
  type DayDetail,
  type Detail,
  readDetail,
  type Value,
  writeDetail,
  writeOneVisit,
} from "./detail.ts";
import { type Dimension, DIMENSIONS } from "./dimensions.ts";
import { addToSketch, estimate, mergeSketches } from "./sketch.ts";

/** Values that are kept of each dimension; the visits of the rest are added up. */
export const KEPT_VALUES = 100;
/** For so few values, comparing with each is faster than making a map. */
const FEW_VALUES = 8;
/** Some 6 % off above this many visitors a day; exact below. */
const VISITORS_SKETCH = 256;

/** A day is over when the last visits of all processes have reached the store. */
const CLOSE_AFTER_MS = HOUR_MS;

/** The first day (UTC, since 1970) that is not over yet: days before it are closed, and what they have is for everyone. */
export function firstOpenDay(nowMs: number): number {
  return Math.floor((nowMs - CLOSE_AFTER_MS) / DAY_MS);
}

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
  /** A uint32: see `visitor.ts`. */
  readonly visitor: number;
  readonly times: number;
}

/** The day of a link in which nothing but these visits came, in one hour (0 to 23). */
export function dayOf({ visits, bots, details }: CountedVisits, hour: number): Day {
  const [first] = details;
  if (first !== undefined && visits === 1 && bots === 0)
    return { visits, bots, detail: detailOfOne(first, hour) };
  const detail: DayDetail = { hours: { [hour]: [visits, bots] }, visitors: [], values: {}, others: {} };
  const visitors: number[] = (detail.visitors = []);
  const lists = DIMENSIONS.map(() => openValues([]));
  for (const same of details) {
    addToSketch(visitors, same.visitor, VISITORS_SKETCH);
    textsOf(same).forEach((text, nth) => lists[nth]?.add([text, same.times]));
  }
  DIMENSIONS.forEach((dimension, nth) => keepValues(detail, dimension, lists[nth]?.all ?? []));
  return { visits, bots, detail: writeDetail(detail) };
}

/** Most rows are of one visit, so this takes the short way. */
function detailOfOne(visit: SameVisits, hour: number): Detail {
  return writeOneVisit({ hour, visitor: visit.visitor, texts: textsOf(visit) });
}

/** In the order of {@link DIMENSIONS}. */
function textsOf({ agent, referrer, country, language }: SameVisits): string[] {
  return [referrer, country, agent.browser, agent.os, agent.device, language];
}

/**
 * Two parts of a day as one; where one part is closed, so is the whole. The order of merging does not matter, except
 * for which of more than {@link KEPT_VALUES} values are kept, and for visitors once their day is closed: whether
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
  if (Array.isArray(day.visitors) && Array.isArray(added.visitors))
    mergeSketches(day.visitors, added.visitors, VISITORS_SKETCH);
  else day.visitors = visitorsOf(day) + visitorsOf(added);
  for (const dimension of DIMENSIONS) {
    const values = openValues(day.values[dimension] ?? []);
    for (const value of added.values[dimension] ?? []) values.add(value);
    const others = (day.others[dimension] ?? 0) + (added.others[dimension] ?? 0);
    if (others > 0) day.others[dimension] = others;
    keepValues(day, dimension, values.all);
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
      if (value !== undefined) {
        value[1] += added[1];
        return;
      }
      all.push(added);
      byText?.set(added[0], added);
    },
  };
}

function keepValues(day: DayDetail, dimension: Dimension, values: Value[]): void {
  if (values.length > KEPT_VALUES) {
    values.sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    const rest = values.splice(KEPT_VALUES).reduce((sum, [, visits]) => sum + visits, 0);
    day.others[dimension] = (day.others[dimension] ?? 0) + rest;
  }
  if (values.length > 0) day.values[dimension] = values;
}

/** An estimate may be too high, but nobody visits without a visit. */
export function visitorsOf(day: DayDetail): number {
  const { visitors } = day;
  return Array.isArray(visitors) ? Math.min(estimate(visitors, VISITORS_SKETCH), knownVisits(day)) : visitors;
}

/** Visits whose detail is known: each has a value of every dimension. */
function knownVisits({ values, others }: DayDetail): number {
  return (values.devices ?? []).reduce((sum, [, visits]) => sum + visits, others.devices ?? 0);
}

/** Closes a day that is over: of its visitors only their number stays. */
export function close(detail: Detail): Detail {
  const one = closeOneVisit(detail);
  if (one !== undefined) return one;
  const day = readDetail(detail);
  day.visitors = visitorsOf(day);
  return writeDetail(day);
}
