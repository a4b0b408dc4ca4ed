import { closeSync, fsyncSync, openSync, statSync } from "node:fs";

import {
  type Capacity,
  COUNTER_WORDS,
  DETAIL_WORDS,
  Head,
  HEAD_WORDS,
  type Table,
  TABLES,
  layoutOf,
  NAME_HEAD_BYTES,
  sourceOf,
} from "./layout.ts";

/** Places of these two share a word with another. */
const MAX_PLACES = 65_536;
const MAX_NAME_BYTES = 65_535;
/** Part of the capacity that may stay empty when a segment is full: a name seldom fits the last bytes exactly. */
const NEARLY_FULL = 1 / 64;

/** A text that segments refer to by its place. */
export interface Name {
  readonly table: Table;
  readonly text: string;
  /** A link is named by its code and this. */
  readonly createdMs?: number;
  /** The segment that has it, by its sequence, and its place there. */
  sequence: number;
  place: number;
}

export function createName(table: Table, text: string): Name {
  return { table, text, sequence: 0, place: 0 };
}

export interface Owner {
  /** A random uint64 as two words: the life of one process. */
  readonly source: readonly [number, number];
  /** The same, of the machine's running since its start; zero where the system does not tell. */
  readonly boot: readonly [number, number];
}

export interface VisitDetail {
  readonly agent: Name;
  readonly referrer: Name;
  readonly language: Name;
  readonly country: Name;
  /** A uint32. */
  readonly visitor: number;
}

export type Segment = ReturnType<typeof openSegment>;

/** Maps a segment into memory, to write to it. Throws where the file is none. */
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
  const places: Record<Table, number> = { link: 0, agent: 0, referrer: 0, language: 0, country: 0 };
  // For good: the file may be moved, or even grow again, but what it held is lost.
  let isCut = false;
  let sequence = head[Head.sequence] ?? 0;
  let hour = head[Head.hour] ?? 0;
  /** Counted in this life. Those of an earlier process are not known. */
  let visits = 0;
  let usedDetails = head[Head.usedDetails] ?? 0;
  let usedNameBytes = head[Head.usedNameBytes] ?? 0;
  // What the file counted in an earlier life.
  let staleLinks = capacity.links;
  const encoder = new TextEncoder();

  /** The place of a name, which is written when it has none here; -1 when there is no room for it. */
  function placeOf(name: Name): number {
    if (name.sequence === sequence) return name.place;
    const place = places[name.table];
    if (place >= (name.table === "link" ? capacity.links : MAX_PLACES)) return -1;
    const start = usedNameBytes + NAME_HEAD_BYTES;
    const text = name.createdMs === undefined ? name.text : `${name.text}\t${name.createdMs}`;
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

  return {
    path,
    capacity,
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
     * `gone`: the file was deleted, moved or replaced, and what was written is in memory only. `cut`: the file is
     * shorter than it was, and whoever touches the memory ends the process (SIGBUS).
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
    /** Whether what it holds would fill a segment of this capacity. */
    outgrows(other: Capacity): boolean {
      const room = 1 - NEARLY_FULL;
      return (
        places.link >= other.links * room ||
        usedDetails >= other.details * room ||
        usedNameBytes >= other.nameBytes * room
      );
    },
    /** After the machine has gone down, only a synced file is sure to be as it was written. */
    isTrusted({ boot }: Owner) {
      const [one, two] = [head[Head.boot] ?? 0, head[Head.boot + 1] ?? 0];
      return head[Head.synced] === 1 || (one === boot[0] && two === boot[1]);
    },

    /** Empties it. It is marked free first and gets its sequence last, so that a process killed meanwhile leaves no mixture. */
    begin(owner: Owner, newSequence: number, newHour: number): void {
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
    free(): void {
      sequence = 0;
      head[Head.sequence] = 0;
    },
    sync(): void {
      head[Head.synced] = 1;
      const descriptor = openSync(path, "r+");
      fsyncSync(descriptor);
      closeSync(descriptor);
    },

    /** False when there is no room for another link. */
    count(link: Name, bot: boolean): boolean {
      const place = placeOf(link);
      if (place < 0) return false;
      const at = place * COUNTER_WORDS + (bot ? 1 : 0);
      counters[at] = (counters[at] ?? 0) + 1;
      visits++;
      return true;
    },
    /** False when there is no room. */
    tell(link: Name, { agent, referrer, language, country, visitor }: VisitDetail): boolean {
      if (usedDetails >= capacity.details) return false;
      const place = placeOf(link);
      const a = placeOf(agent);
      const r = placeOf(referrer);
      const l = placeOf(language);
      const c = placeOf(country);
      if (place < 0 || a < 0 || r < 0 || l < 0 || c < 0) return false;
      const at = usedDetails * DETAIL_WORDS;
      details[at] = place;
      details[at + 1] = (a << 16) | r;
      details[at + 2] = (l << 16) | c;
      details[at + 3] = visitor;
      head[Head.usedDetails] = ++usedDetails;
      return true;
    },
  };
}
