import { statSync } from "node:fs";

import { type Code, keyOf } from "../../links/code.ts";
import {
  COUNTER_WORDS,
  DETAIL_WORDS,
  isTrusted,
  VISIT_TABLES,
  VISITOR_WORD,
  type VisitTable,
  Head,
  HEAD_WORDS,
  type Table,
  TABLES,
  layoutOf,
  NAME_HEAD_BYTES,
  sourceOf,
} from "./segment-layout.ts";

/** Places of the names of a visit have 16 bits. */
const MAX_PLACES = 65_536;
const MAX_NAME_BYTES = 65_535;

/** A text that visits refer to by its place in a segment. */
export interface Name {
  readonly table: Table;
  readonly text: string;
  /** Only links have these two, see {@link linkName}. */
  readonly keyPrefix?: string;
  readonly createdMs?: number;
  /** The sequence of the segment that has the name, and the place there. */
  sequence: number;
  place: number;
}

export function createName(table: Table, text: string): Name {
  return { table, text, sequence: 0, place: 0 };
}

/** The name of a link: its key and its creation. Joined late, to save each redirect a string. */
export function linkName(keyPrefix: string, code: string, createdMs: number): string {
  return `${keyOf(keyPrefix, code as Code)}\t${createdMs}`;
}

export interface Owner {
  /** A random uint64 as two words. Identifies the run of one process. */
  readonly source: readonly [number, number];
  /** Identifies the boot of the machine; zero on systems that don't say. */
  readonly boot: readonly [number, number];
}

export interface VisitDetail extends Readonly<Record<VisitTable, Name>> {
  /** A uint32. */
  readonly visitor: number;
}

export type Segment = ReturnType<typeof openSegment>;

/** Maps a segment into memory, to write to it. Throws if the file is not a segment. */
export function openSegment(path: string) {
  const mapped = statSync(path);
  if (mapped.size < HEAD_WORDS * 4) throw new Error(`${path} is not a segment`);
  const bytes = Bun.mmap(path, { shared: true });
  const words = (start: number, length: number) =>
    new Uint32Array(bytes.buffer, bytes.byteOffset + start, length);
  const head = words(0, HEAD_WORDS);
  const { capacity, countersAt, detailsAt, namesAt } = layoutOf(path, head, bytes.length);
  const counters = words(countersAt, COUNTER_WORDS * capacity.links);
  const details = words(detailsAt, DETAIL_WORDS * capacity.details);
  const names = bytes.subarray(namesAt);
  /** How many places of each table are used. */
  const places = Object.fromEntries(TABLES.map((table) => [table, 0])) as Record<Table, number>;
  // Stays true: the file may be moved, or even grow again, but its contents are lost.
  let isCut = false;
  let sequence = head[Head.sequence] ?? 0;
  let hour = head[Head.hour] ?? 0;
  /** Only those of this process, because the number of earlier ones is unknown. */
  let visits = 0;
  let usedDetails = head[Head.usedDetails] ?? 0;
  let usedNameBytes = head[Head.usedNameBytes] ?? 0;
  /** Counters that an earlier use may have left. */
  let staleLinks = capacity.links;
  const encoder = new TextEncoder();

  /** The place of a name, which is written if it is new here. -1 if there is no space for it. */
  function placeOf(name: Name): number {
    if (name.sequence === sequence) return name.place;
    const place = places[name.table];
    if (place >= (name.table === "link" ? capacity.links : MAX_PLACES)) return -1;
    const start = usedNameBytes + NAME_HEAD_BYTES;
    const { createdMs, keyPrefix = "" } = name;
    const text = createdMs === undefined ? name.text : linkName(keyPrefix, name.text, createdMs);
    // UTF-8 takes at most three bytes for a UTF-16 unit.
    if (start + text.length * 3 > capacity.nameBytes) return -1;
    const { written } = encoder.encodeInto(text, names.subarray(start));
    if (written > MAX_NAME_BYTES) return -1;
    names[usedNameBytes] = TABLES.indexOf(name.table);
    names[usedNameBytes + 1] = written & 0xff;
    names[usedNameBytes + 2] = written >> 8;
    usedNameBytes = start + written;
    head[Head.usedNameBytes] = usedNameBytes;
    name.sequence = sequence;
    name.place = place;
    places[name.table] = place + 1;
    return place;
  }

  /** Writes all but the link behind the details in use. False if there is no space. */
  function writeDetail(detail: VisitDetail): boolean {
    if (usedDetails >= capacity.details) return false;
    const at = usedDetails * DETAIL_WORDS;
    for (let nth = 0; nth < VISIT_TABLES.length; nth++) {
      const place = placeOf(detail[VISIT_TABLES[nth] as VisitTable]);
      if (place < 0) return false;
      const word = at + 1 + (nth >> 1);
      details[word] = nth % 2 === 0 ? place << 16 : (details[word] ?? 0) | place;
    }
    details[at + VISITOR_WORD] = detail.visitor;
    return true;
  }

  return {
    path,
    /** All of the mapped memory. */
    bytes,
    get sequence() {
      return sequence;
    },
    get source() {
      return sourceOf(head);
    },
    get hour() {
      return hour;
    },
    /**
     * `gone`: the file was deleted, moved or replaced, so the visits are in memory only. `cut`: the file is shorter
     * than it was, and any access to the memory ends the process (SIGBUS).
     */
    get file(): "whole" | "gone" | "cut" {
      if (isCut) return "cut";
      const file = statSync(path, { throwIfNoEntry: false });
      if (file?.ino !== mapped.ino || file.dev !== mapped.dev) return "gone";
      isCut = file.size < mapped.size;
      return isCut ? "cut" : "whole";
    },
    /** How many visits this process counted in it. */
    get visits() {
      return visits;
    },
    get isEmpty() {
      return usedNameBytes === 0;
    },
    /** Whether this process wrote it. */
    isOf({ source }: Owner) {
      return head[Head.source] === source[0] && head[Head.source + 1] === source[1];
    },
    isTrusted: ({ boot }: Owner) => isTrusted(head, boot),
    /** Whether `syncSegment` has put all of it on disk. */
    get isSynced() {
      return head[Head.synced] === 1;
    },

    /**
     * Empties it. It is marked free first and gets its sequence last, so that a process killed meanwhile leaves no
     * mixture.
     */
    start(owner: Owner, newSequence: number, newHour: number): void {
      head[Head.sequence] = 0;
      counters.fill(0, 0, Math.max(staleLinks, places.link) * COUNTER_WORDS);
      staleLinks = 0;
      for (const table of TABLES) places[table] = 0;
      visits = usedDetails = usedNameBytes = 0;
      head[Head.usedDetails] = 0;
      head[Head.usedNameBytes] = 0;
      head[Head.synced] = 0;
      hour = head[Head.hour] = newHour;
      head.set(owner.boot, Head.boot);
      head.set(owner.source, Head.source);
      sequence = newSequence;
      head[Head.sequence] = newSequence;
    },
    /** Erases the visits, once the store has their sums. It is marked free first, so that nobody folds a half of them. */
    free(): void {
      sequence = 0;
      head[Head.sequence] = 0;
      counters.fill(0, 0, places.link * COUNTER_WORDS);
      // The last one may be incomplete, for lack of space.
      details.fill(0, 0, (usedDetails + 1) * DETAIL_WORDS);
      names.fill(0, 0, usedNameBytes);
    },

    /**
     * Counts a visit, by a person with its detail unless there was no space for it. False, and nothing is counted, if there
     * is no space. A process killed meanwhile leaves at most a visit without its detail, never a detail without its visit.
     */
    count(link: Name, bot: boolean, detail?: VisitDetail): boolean {
      if (detail !== undefined && !writeDetail(detail)) return false;
      // Last: a link that has its name here has visits.
      const place = placeOf(link);
      if (place < 0) return false;
      const at = place * COUNTER_WORDS + (bot ? 1 : 0);
      counters[at] = (counters[at] ?? 0) + 1;
      visits++;
      if (detail !== undefined) {
        details[usedDetails * DETAIL_WORDS] = place;
        head[Head.usedDetails] = ++usedDetails;
      }
      return true;
    },
  };
}
