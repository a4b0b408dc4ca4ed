import { type Bytes, type BytesReader, createBytes, readBytes } from "./bytes.ts";
import { type Dimension, DIMENSIONS, NAMES } from "./dimensions.ts";
import type { Sketch } from "./sketch.ts";

/** A {@link DayDetail} as it is stored and sent. To a store it is opaque. */
export type Detail = Uint8Array & { readonly __brand: "Detail" };

/** A sketch while their day lasts, then their number; undefined where there are enough. */
export type Networks = Sketch | number | undefined;

export type Value = [text: string, visits: number, networks?: Networks];

/** What some visits had in common. */
export interface Part {
  /** A sketch while the day lasts, then the estimate. */
  visitors: Sketch | number;
  networks?: Networks;
  values: Partial<Record<Dimension, Value[]>>;
  /** Visits whose value is not among those kept. */
  others: Partial<Record<Dimension, number>>;
}

/** What is known of a link's day beside its sums. The part is that of all hours but the last. */
export interface DayDetail extends Part {
  /** Visits and bots of each hour, 0 to 23, that had any. Undefined for old days, which earlier versions made forget it. */
  hours?: Record<number, [visits: number, bots: number]>;
  /** The last hour in which people came, apart: it is not for everyone until it is over. Undefined once the day is closed. */
  last?: Part & { readonly hour: number };
}

/** A day with one visit, by a person. Most rows have no more. */
export interface OneVisit {
  readonly hour: number;
  readonly visitor: number;
  readonly network: number;
  /** Its value of each of {@link DIMENSIONS}. */
  readonly texts: readonly string[];
}

/**
 * The first byte says what follows; the lower five bits are the hour, or which parts there are.
 *
 *   one visit         visitor (4 bytes), network (4 bytes), a name of each dimension
 *   closed visit      the same without visitor and network
 *   parts             the parts that there are, in the order of {@link Has}
 *   JSON              as earlier versions wrote it
 */
const Form = { parts: 0x20, visit: 0x40, json: "{".charCodeAt(0) & 0xe0, closedVisit: 0x80 } as const;
const FORM = 0xe0;
/** The visitor and the network of one visit. */
const HASH_BYTES = 8;
const Has = { hours: 1, others: 2, last: 4 } as const;
const HOURS = 24;

const PLACES = DIMENSIONS.map(
  (dimension) => new Map(NAMES[dimension].map((name, place) => [name, place] as const)),
);

/** Used for one detail after the other. */
const bytes = createBytes();

export function writeOneVisit({ hour, visitor, network, texts }: OneVisit): Detail {
  bytes.clear();
  bytes.number(Form.visit + hour);
  bytes.word(visitor);
  bytes.word(network);
  for (let nth = 0; nth < DIMENSIONS.length; nth++) writeName(bytes, nth, texts[nth] ?? "");
  return bytes.take() as Detail;
}

/** Forgets who made it. Undefined if it is not the short form of one visit. */
export function closeOneVisit(detail: Detail): Detail | undefined {
  const first = detail[0] ?? 0;
  if ((first & FORM) === Form.closedVisit) return detail;
  if ((first & FORM) !== Form.visit) return undefined;
  const closed = new Uint8Array(detail.subarray(HASH_BYTES));
  closed[0] = first - Form.visit + Form.closedVisit;
  return closed as Detail;
}

export function writeDetail(day: DayDetail): Detail {
  const { hours, last } = day;
  const hasOthers = !isEmpty(day);
  bytes.clear();
  bytes.number(
    Form.parts + (hours && Has.hours ? Has.hours : 0) + (hasOthers ? Has.others : 0) + (last ? Has.last : 0),
  );
  if (hours !== undefined) writeHours(bytes, hours);
  if (hasOthers) writePart(bytes, day);
  if (last !== undefined) {
    bytes.number(last.hour);
    writePart(bytes, last);
  }
  return bytes.take() as Detail;
}

/** Throws if it is damaged. */
export function readDetail(detail: Detail): DayDetail {
  const from = readBytes(detail);
  const first = from.byte();
  const low = first & ~FORM;
  switch (first & FORM) {
    case Form.visit:
      return readOneVisit(from, low);
    case Form.closedVisit:
      return { hours: { [low]: [1, 0] }, ...readNames(from, 1, () => 1) };
    case Form.parts: {
      const hours = low & Has.hours ? readHours(from) : undefined;
      const others = low & Has.others ? readPart(from) : emptyPart();
      const last = low & Has.last ? { hour: from.number(), ...readPart(from) } : undefined;
      return { ...(hours && { hours }), ...others, ...(last && { last }) };
    }
    case Form.json:
      return JSON.parse(new TextDecoder().decode(detail)) as DayDetail;
    default:
      throw new RangeError(`${first} begins no detail of a day`);
  }
}

function readOneVisit(from: BytesReader, hour: number): DayDetail {
  const visitor = from.word();
  const network = from.word();
  const last = { hour, ...readNames(from, [visitor], () => [network]) };
  return { hours: { [hour]: [1, 0] }, ...emptyPart(), last };
}

/** One visit with these names. Each value has networks of its own, because merging changes them in place. */
function readNames(from: BytesReader, visitors: Part["visitors"], networks: () => Networks): Part {
  const values: Part["values"] = {};
  DIMENSIONS.forEach((dimension, nth) => (values[dimension] = [[readName(from, nth), 1, networks()]]));
  return { visitors, networks: networks(), values, others: {} };
}

export function emptyPart(): Part {
  return { visitors: [], networks: [], values: {}, others: {} };
}

export function isEmpty({ visitors, networks, values, others }: Part): boolean {
  return (
    Array.isArray(visitors) &&
    visitors.length === 0 &&
    Array.isArray(networks) &&
    networks.length === 0 &&
    Object.keys(values).length === 0 &&
    Object.keys(others).length === 0
  );
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

/** Networks come first, each once: nearly all values have them from few. */
function writePart(to: Bytes, part: Part): void {
  const { visitors } = part;
  if (Array.isArray(visitors)) {
    to.number(2 * visitors.length);
    for (const visitor of visitors) to.word(visitor);
  } else {
    to.number(2 * visitors + 1);
  }
  const places = placesOfNetworks(part);
  to.number(places.size);
  for (const network of places.keys()) to.word(network);
  writeNetworks(to, part.networks, places);
  DIMENSIONS.forEach((dimension, nth) => {
    const values = part.values[dimension] ?? [];
    const other = part.others[dimension] ?? 0;
    to.number(2 * values.length + (other > 0 ? 1 : 0));
    if (other > 0) to.number(other);
    for (const [text, visits, networks] of values) {
      writeName(to, nth, text);
      to.number(visits);
      writeNetworks(to, networks, places);
    }
  });
}

function readPart(from: BytesReader): Part {
  const visitors = readVisitors(from);
  const all = readWords(from, from.number());
  const part: Part = { visitors, networks: readNetworks(from, all), values: {}, others: {} };
  if (part.networks === undefined) delete part.networks;
  for (const [nth, dimension] of DIMENSIONS.entries()) {
    const head = from.number();
    if (head % 2 === 1) part.others[dimension] = from.number();
    if (head < 2) continue;
    const values: Value[] = [];
    for (let left = Math.floor(head / 2); left > 0; left--) {
      const value: Value = [readName(from, nth), from.number()];
      const networks = readNetworks(from, all);
      if (networks !== undefined) value.push(networks);
      values.push(value);
    }
    part.values[dimension] = values;
  }
  return part;
}

function readVisitors(from: BytesReader): Part["visitors"] {
  const head = from.number();
  return head % 2 === 1 ? (head - 1) / 2 : readWords(from, head / 2);
}

function readWords(from: BytesReader, count: number): number[] {
  const words: number[] = [];
  for (let left = count; left > 0; left--) words.push(from.word());
  return words;
}

function placesOfNetworks({ networks, values }: Part): Map<number, number> {
  const places = new Map<number, number>();
  const add = (some: Networks) => {
    if (Array.isArray(some))
      for (const network of some) if (!places.has(network)) places.set(network, places.size);
  };
  add(networks);
  for (const dimension of DIMENSIONS) for (const value of values[dimension] ?? []) add(value[2]);
  return places;
}

/** 0: enough of them. Odd: so many places of networks follow. Even: only how many there were. */
function writeNetworks(to: Bytes, networks: Networks, places: ReadonlyMap<number, number>): void {
  if (!Array.isArray(networks)) return to.number(networks === undefined ? 0 : 2 * networks + 2);
  to.number(2 * networks.length + 1);
  for (const network of networks) to.number(places.get(network) ?? 0);
}

function readNetworks(from: BytesReader, all: readonly number[]): Networks {
  const head = from.number();
  if (head === 0) return undefined;
  if (head % 2 === 0) return (head - 2) / 2;
  const networks: number[] = [];
  for (let left = (head - 1) / 2; left > 0; left--) networks.push(all[from.number()] ?? 0);
  return networks;
}

/** Even: a place in {@link NAMES}. Odd: the length of the text that follows. */
function writeName(to: Bytes, dimension: number, text: string): void {
  const place = PLACES[dimension]?.get(text);
  if (place !== undefined) return to.number(2 * place);
  const utf8 = Buffer.from(text);
  to.number(2 * utf8.length + 1);
  to.add(utf8);
}

function readName(from: BytesReader, dimension: number): string {
  const head = from.number();
  if (head % 2 === 1) return from.text((head - 1) / 2);
  const name = NAMES[DIMENSIONS[dimension] ?? "referrers"][head / 2];
  if (name === undefined) throw new RangeError(`No name has the place ${head / 2}`);
  return name;
}
