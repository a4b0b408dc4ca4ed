import { DAY_MS } from "../../links/time.ts";
import { type Bytes, type BytesReader, createBytes, readBytes } from "./bytes.ts";
import { type Dimension, DIMENSIONS, NAMES } from "./dimensions.ts";
import type { Sketch } from "./sketch.ts";

/** A {@link DayDetail} as it is stored and sent. To a store it is opaque. */
export type Detail = Uint8Array & { readonly __brand: "Detail" };

export type Value = [text: string, visits: number];

/** A link's day beyond its sums. */
export interface DayDetail {
  /** Visits and bots of each hour, 0 to 23, that had any. Undefined if only the sums were imported. */
  hours?: Record<number, [visits: number, bots: number]>;
  /** A sketch while the day lasts, then the estimate. */
  visitors: Sketch | number;
  values: Partial<Record<Dimension, Value[]>>;
  /** Visits that aren't in `values`. */
  others: Partial<Record<Dimension, number>>;
  /** Only while the day is open, and only of dimensions with more values than a day keeps. */
  dropped?: Partial<Record<Dimension, Dropped>>;
  /** Details that could not be read, unchanged. Only the sums of their visits are known. */
  unreadable?: readonly Uint8Array[];
}

/** Bounds for the values that a day dropped. Decides only which values the day keeps, and is never published. */
export interface Dropped {
  /** The most visits that a value which isn't kept may have had. At least 1. */
  readonly floor: number;
  /** The most visits that each kept value may have had before it was kept. */
  readonly inherited: ReadonlyMap<string, number>;
}

/** A day with one visit, by a person. Most rows have no more. */
export interface OneVisit {
  readonly hour: number;
  readonly visitor: number;
  /** In the order of {@link DIMENSIONS}. */
  readonly texts: readonly string[];
}

/**
 * The first byte says which form follows. Its lower five bits are the hour, or for a day: {@link HAS_HOURS},
 * {@link HAS_DROPPED} and {@link HAS_UNREADABLE}.
 *
 *   visit         visitor (4 bytes), number of dimensions, a name for each
 *   closed visit  number of dimensions, a name for each
 *   day           hours if they are known, visitors, number of dimensions, the values of each, unreadable details
 *
 * Older rows may have fewer dimensions than {@link DIMENSIONS}.
 */
const Form = { day: 0x20, visit: 0x40, closedVisit: 0x80 } as const;
const FORM = 0xe0;
const VISITOR_BYTES = 4;
const HAS_HOURS = 1;
const HAS_DROPPED = 2;
const HAS_UNREADABLE = 4;
const HOURS = 24;

const PLACES = DIMENSIONS.map(
  (dimension) => new Map(NAMES[dimension].map((name, place) => [name, place] as const)),
);

/** Reused for each detail. */
const bytes = createBytes();

export function writeOneVisit({ hour, visitor, texts }: OneVisit): Detail {
  bytes.clear();
  bytes.number(Form.visit + hour);
  bytes.word(visitor);
  bytes.number(texts.length);
  texts.forEach((text, nth) => writeName(bytes, nth, text));
  return bytes.take() as Detail;
}

/** Removes the visitor. Undefined if the detail is not in the short form of one visit, or is too short for it. */
export function closeOneVisit(detail: Detail): Detail | undefined {
  const first = detail[0] ?? 0;
  if ((first & FORM) === Form.closedVisit) return detail;
  if ((first & FORM) !== Form.visit || detail.length <= VISITOR_BYTES) return undefined;
  const closed = new Uint8Array(detail.subarray(VISITOR_BYTES));
  closed[0] = first - Form.visit + Form.closedVisit;
  return closed as Detail;
}

export function writeDetail(day: DayDetail): Detail {
  const { hours, visitors, values, others, dropped, unreadable } = day;
  bytes.clear();
  const parts = (hours ? HAS_HOURS : 0) + (dropped ? HAS_DROPPED : 0) + (unreadable ? HAS_UNREADABLE : 0);
  bytes.number(Form.day + parts);
  if (hours !== undefined) writeHours(bytes, hours);
  writeVisitors(bytes, visitors);
  const hasValues = Object.keys(values).length + Object.keys(others).length > 0;
  bytes.number(hasValues ? DIMENSIONS.length : 0);
  if (hasValues) DIMENSIONS.forEach((dimension, nth) => writeValues(bytes, nth, dimension, day));
  if (unreadable !== undefined) writeUnreadable(bytes, unreadable);
  return bytes.take() as Detail;
}

/** Sets a detail aside that is damaged or of a later version, because throwing would stop the counting of all links. */
export function readDetail(detail: Detail): DayDetail {
  try {
    return parseDetail(detail);
  } catch {
    return { visitors: 0, values: {}, others: {}, unreadable: [detail] };
  }
}

/** Calls `onFault` if a store sets a detail aside by writing `after` instead of `before`. */
export function reportUnreadable(
  { code, day }: { readonly code: string; readonly day: number },
  before: readonly (Detail | null | undefined)[],
  after: Detail | null,
  onFault: (error: unknown) => void,
): void {
  if (!hasUnreadable(after) || before.some(hasUnreadable)) return;
  const date = new Date(day * DAY_MS).toISOString().slice(0, 10);
  onFault(new Error(`The details of ${code} on ${date} are damaged or of a later version: only sums remain`));
}

function hasUnreadable(detail: Detail | null | undefined): boolean {
  const first = detail?.[0] ?? 0;
  return (first & FORM) === Form.day && (first & HAS_UNREADABLE) !== 0;
}

function parseDetail(detail: Detail): DayDetail {
  const from = readBytes(detail);
  const first = from.byte();
  const low = first & ~FORM;
  if (low >= HOURS) throw new RangeError(`${low} is no hour`);
  switch (first & FORM) {
    case Form.visit:
      return { hours: { [low]: [1, 0] }, visitors: [from.word()], ...readNames(from) };
    case Form.closedVisit:
      return { hours: { [low]: [1, 0] }, visitors: 1, ...readNames(from) };
    case Form.day: {
      const hours = low & HAS_HOURS ? readHours(from) : undefined;
      const visitors = readVisitors(from);
      const values = readValues(from, (low & HAS_DROPPED) !== 0);
      const unreadable = low & HAS_UNREADABLE ? readUnreadable(from) : undefined;
      return { ...(hours && { hours }), visitors, ...values, ...(unreadable && { unreadable }) };
    }
    default:
      throw new RangeError(`${first} is no form of a day's detail`);
  }
}

function readNames(from: BytesReader): Pick<DayDetail, "values" | "others"> {
  const values: DayDetail["values"] = {};
  for (const [nth, dimension] of readDimensions(from).entries())
    values[dimension] = [[readName(from, nth), 1]];
  return { values, others: {} };
}

function readDimensions(from: BytesReader): readonly Dimension[] {
  const count = from.number();
  if (count > DIMENSIONS.length) throw new RangeError(`A later version wrote ${count} dimensions`);
  return DIMENSIONS.slice(0, count);
}

/** A bit for each hour, then the visits and bots of those that had any. */
function writeHours(to: Bytes, hours: NonNullable<DayDetail["hours"]>): void {
  let mask = 0;
  for (const hour of Object.keys(hours)) mask |= 1 << Number(hour);
  to.number(mask);
  for (const [visits, bots] of Object.values(hours)) {
    to.number(visits);
    to.number(bots);
  }
}

function readHours(from: BytesReader): NonNullable<DayDetail["hours"]> {
  const hours: NonNullable<DayDetail["hours"]> = {};
  const mask = from.number();
  for (let hour = 0; hour < HOURS; hour++)
    if (mask & (1 << hour)) hours[hour] = [from.number(), from.number()];
  return hours;
}

/** Even: twice the number of hashes that follow. Odd: twice the estimate, plus one. */
function writeVisitors(to: Bytes, visitors: DayDetail["visitors"]): void {
  if (!Array.isArray(visitors)) return to.number(2 * visitors + 1);
  to.number(2 * visitors.length);
  for (const visitor of visitors) to.word(visitor);
}

function readVisitors(from: BytesReader): DayDetail["visitors"] {
  const head = from.number();
  if (head % 2 === 1) return (head - 1) / 2;
  const visitors: number[] = [];
  for (let count = head / 2; count > 0; count--) visitors.push(from.word());
  return visitors;
}

/**
 * Twice the number of values, plus one if there are others, whose number follows. Then each value and its visits. With
 * {@link HAS_DROPPED}, the floor comes before the values (0 if none was dropped), and what each value inherited after its visits.
 */
function writeValues(
  to: Bytes,
  nth: number,
  dimension: Dimension,
  { values, others, dropped }: DayDetail,
): void {
  const all = values[dimension] ?? [];
  const other = others[dimension] ?? 0;
  const ofDropped = dropped?.[dimension];
  to.number(2 * all.length + (other > 0 ? 1 : 0));
  if (other > 0) to.number(other);
  if (dropped !== undefined) to.number(ofDropped?.floor ?? 0);
  for (const [text, visits] of all) {
    writeName(to, nth, text);
    to.number(visits);
    if (ofDropped !== undefined) to.number(ofDropped.inherited.get(text) ?? 0);
  }
}

function readValues(
  from: BytesReader,
  hasDropped: boolean,
): Pick<DayDetail, "values" | "others" | "dropped"> {
  const dropped: DayDetail["dropped"] = {};
  const read: ReturnType<typeof readValues> = { values: {}, others: {}, ...(hasDropped && { dropped }) };
  for (const [nth, dimension] of readDimensions(from).entries()) {
    const head = from.number();
    if (head % 2 === 1) read.others[dimension] = from.number();
    const floor = hasDropped ? from.number() : 0;
    const inherited = floor > 0 ? new Map<string, number>() : undefined;
    if (inherited !== undefined) dropped[dimension] = { floor, inherited };
    if (head < 2) continue;
    const values: Value[] = [];
    for (let count = Math.floor(head / 2); count > 0; count--) {
      const text = readName(from, nth);
      values.push([text, from.number()]);
      inherited?.set(text, from.number());
    }
    read.values[dimension] = values;
  }
  return read;
}

function writeUnreadable(to: Bytes, unreadable: readonly Uint8Array[]): void {
  to.number(unreadable.length);
  for (const detail of unreadable) {
    to.number(detail.length);
    to.add(detail);
  }
}

function readUnreadable(from: BytesReader): Uint8Array[] {
  const unreadable: Uint8Array[] = [];
  for (let count = from.number(); count > 0; count--) unreadable.push(from.part(from.number()));
  return unreadable;
}

/** Even: a place in {@link NAMES}. Odd: the length of the text that follows. */
function writeName(to: Bytes, dimension: number, text: string): void {
  const place = PLACES[dimension]?.get(text);
  if (place !== undefined) return to.number(2 * place);
  to.number(2 * Buffer.byteLength(text) + 1);
  to.text(text);
}

function readName(from: BytesReader, dimension: number): string {
  const head = from.number();
  if (head % 2 === 1) return from.text((head - 1) / 2);
  const name = NAMES[DIMENSIONS[dimension] ?? "referrers"][head / 2];
  if (name === undefined) throw new RangeError(`No name has the place ${head / 2}`);
  return name;
}
