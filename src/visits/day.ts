import type { LinkVisits } from "./fold.ts";
import { addToSketch, estimate, type Sketch } from "./sketch.ts";

/** What the visits of a link are told apart by. */
export const DIMENSIONS = [
  "referrers",
  "countries",
  "browsers",
  "operating_systems",
  "devices",
  "languages",
] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** Values that are kept of one dimension; the visits of the rest are added up. */
const MAX_VALUES = 50;
/** Up to here, looking at each is faster than a map. */
const FEW_VALUES = 8;
/** Some 6 % off above this many visitors a day; exact below. */
const VISITORS_SKETCH = 256;
/** A value that fewer visitors have is nobody's to see. */
export const FEWEST_VISITORS = 5;

/** Visitors of a value: a sketch while their day lasts, then their number; left out from {@link FEWEST_VISITORS} on. */
type Value = [text: string, visits: number, visitors?: Sketch | number];

/** What is kept of a link's day (UTC) beside its sums. It is stored as JSON. */
export interface DayDetail {
  /** Visits and bots of each hour, 0 to 23, that had any; gone after a week. */
  hours?: Record<number, [visits: number, bots: number]>;
  /** A sketch while the day lasts, then the estimate. */
  visitors: Sketch | number;
  values: Partial<Record<Dimension, Value[]>>;
  /** Visits whose value is not among those kept. */
  others: Partial<Record<Dimension, number>>;
}

export function emptyDay(): DayDetail {
  return { visitors: [], values: {}, others: {} };
}

/** Adds what a segment counted of the link in one hour of the day. */
export function addToDay(day: DayDetail, hour: number, { visits, bots, details }: LinkVisits): void {
  day.hours ??= {};
  const [visitsBefore, botsBefore] = day.hours[hour] ?? [0, 0];
  day.hours[hour] = [visitsBefore + visits, botsBefore + bots];

  const visitors: Sketch = Array.isArray(day.visitors) ? day.visitors : [];
  const values = DIMENSIONS.map((dimension) => openValues(day.values[dimension] ?? []));
  for (const { agent, referrer, language, country, visitor, times } of details) {
    addToSketch(visitors, visitor, VISITORS_SKETCH);
    const texts = [referrer, country, agent.browser, agent.os, agent.device, language];
    texts.forEach((text, nth) => values[nth]?.add(text, times, visitor));
  }
  // Late visits of a day that is over: who of them was counted before is no longer known.
  day.visitors =
    typeof day.visitors === "number" ? day.visitors + estimate(visitors, VISITORS_SKETCH) : visitors;
  DIMENSIONS.forEach((dimension, nth) => keepValues(day, dimension, values[nth]?.all ?? []));
}

/** Most links have a few values of a kind; one may have thousands. */
function openValues(all: Value[]) {
  let byText: Map<string, Value> | undefined;

  function find(text: string): Value | undefined {
    if (all.length <= FEW_VALUES) return all.find((value) => value[0] === text);
    byText ??= new Map(all.map((value) => [value[0], value]));
    return byText.get(text);
  }

  return {
    all,
    add(text: string, times: number, visitor: number): void {
      const value = find(text);
      if (value !== undefined) return addToValue(value, times, visitor);
      const added: Value = [text, times, [visitor]];
      all.push(added);
      byText?.set(text, added);
    },
  };
}

function addToValue(value: Value, times: number, visitor: number): void {
  value[1] += times;
  // Of a day that is over nobody knows any more whether this visitor was counted.
  if (!Array.isArray(value[2])) return;
  addToSketch(value[2], visitor, FEWEST_VISITORS);
  if (visitorsOf(value) >= FEWEST_VISITORS) value.pop();
}

function keepValues(day: DayDetail, dimension: Dimension, values: Value[]): void {
  if (values.length > MAX_VALUES) {
    values.sort((a, b) => b[1] - a[1]);
    const rest = values.splice(MAX_VALUES).reduce((sum, [, visits]) => sum + visits, 0);
    day.others[dimension] = (day.others[dimension] ?? 0) + rest;
  }
  if (values.length > 0) day.values[dimension] = values;
}

/** At most {@link FEWEST_VISITORS}: more are not counted. */
export function visitorsOf(value: Value): number {
  const visitors = value[2];
  if (visitors === undefined) return FEWEST_VISITORS;
  return Array.isArray(visitors) ? visitors.length : visitors;
}

export function visitorsOfDay({ visitors }: DayDetail): number {
  return Array.isArray(visitors) ? estimate(visitors, VISITORS_SKETCH) : visitors;
}

/** Forgets the hashes of a day that is over: only numbers stay. */
export function closeDay(day: DayDetail): void {
  day.visitors = visitorsOfDay(day);
  for (const value of Object.values(day.values).flat()) {
    if (Array.isArray(value[2])) value[2] = value[2].length;
  }
}
