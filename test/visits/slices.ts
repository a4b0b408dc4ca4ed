import type { LinkKey } from "../../src/links/code.ts";
import { createDay } from "../../src/visits/days/day.ts";
import { type Detail, readDetail } from "../../src/visits/days/detail.ts";
import { MAX_ROWS, type Row, type Slice, encodeRows } from "../../src/visits/days/slice.ts";
import type { DayVisits } from "../../src/visits/days/visit-store.ts";

/** A visit as a test describes it. */
export interface TestVisit {
  readonly code: string;
  readonly createdMs?: number;
  readonly bot?: boolean;
  readonly visitor?: number;
  readonly browser?: string;
  readonly referrer?: string;
  readonly language?: string;
  readonly country?: string;
}

export interface CountedVisits {
  /** Default: a new source. */
  readonly source?: string;
  readonly sequence?: number;
  /** Hours since 1970 (UTC). */
  readonly hour: number;
  readonly visits: readonly TestVisit[];
}

let sources = 0;

/** Visits as a source adds them to a store, with at most `size` links in a slice. */
export function slicesOf(batch: CountedVisits, size = MAX_ROWS): Slice[] {
  const { source = `source ${++sources}`, sequence = 1, hour, visits } = batch;
  const byLink = Map.groupBy(visits, ({ code, createdMs = 5 }) => `${code}\t${createdMs}`);
  const rows = [...byLink.values()].map((ofLink) => rowOf(ofLink, hour));
  rows.sort((a, b) => (a.code < b.code ? -1 : 1));
  return Array.from({ length: Math.ceil(rows.length / size) }, (_, nth) => {
    const some = rows.slice(nth * size, (nth + 1) * size);
    return { source, sequence, from: nth * size, length: some.length, rows: encodeRows(some) };
  });
}

/** All visits are of one link. */
function rowOf(visits: readonly TestVisit[], hour: number): Row {
  const people = visits.filter(({ bot = false }) => !bot);
  const details = people.map(({ visitor = 1, browser = "Chrome", ...more }) => {
    const { referrer = "", language = "ko", country = "KR" } = more;
    return {
      agent: { browser, os: "Windows", device: "desktop" },
      referrer,
      language,
      country,
      visitor,
      times: 1,
    };
  });
  const { code = "", createdMs = 5 } = visits[0] ?? {};
  const counts = { visits: people.length, bots: visits.length - people.length, details };
  return {
    code: code as LinkKey,
    createdMs,
    day: Math.floor(hour / 24),
    ...createDay(counts, hour % 24),
  };
}

/** Details that can't be read: one is cut off, one has more dimensions than this version knows. */
export const UNREADABLE = ["4d9cba", "8d0902020202020202"].map((hex) => Uint8Array.fromHex(hex) as Detail);

/** A day with five visits and two bots for each link, and unreadable details. */
export function unreadableSlice(
  codes: readonly string[],
  {
    createdMs,
    day,
    detail = UNREADABLE[0],
    source = `source ${++sources}`,
  }: { createdMs: number; day: number; detail?: Detail; source?: string },
): Slice {
  const rows = codes.map((code) => ({
    code: code as LinkKey,
    createdMs,
    day,
    visits: 5,
    bots: 2,
    detail: detail ?? (new Uint8Array() as Detail),
  }));
  return { source, sequence: 1, from: 0, length: rows.length, rows: encodeRows(rows) };
}

export function detailOf(day: DayVisits | undefined) {
  return day && readDetail(day.detail);
}
