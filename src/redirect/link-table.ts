import type { Link } from "../links/link.ts";
import { type Counter, counterOf } from "../visits/recorder.ts";

/** The part of a link that the redirect needs. */
export interface Entry extends Counter {
  readonly endsMs: number;
  readonly target: string;
  /** The link's place in the table, and the number of the table's changes by then. */
  readonly at: number;
  readonly changes: number;
}

/*
 * A link is a record: these 32-bit words, its code in UTF-16, and its target in ASCII. A record starts at an even word, because
 * some numbers take two.
 */
/** Length of the target << 9 | length of the code << 1 | whether it was used. */
const SHAPE = 0;
/** The next record of the same bucket. */
const NEXT = 1;
const HASH = 2;
/** These five are the recorder's. */
const SEQUENCE = 3;
const PLACE = 4;
const KEY_DAY = 5;
const KEY_0 = 6;
const KEY_1 = 7;
/** Two words each. */
const CREATED = 8;
const ENDS = 10;
const HEAD_WORDS = 12;
const WORD_BYTES = 4;

const USED = 1;
const MAX_CODE_LENGTH = 0xff;
const MAX_TARGET_LENGTH = 0x3f_ffff;
/** No record. */
const NONE = -1;

/** In the memory of a new table: 1 MiB, for 7,000 usual links. */
const FIRST_WORDS = 2 ** 18;
/** There is a bucket for each record of this size. */
const USUAL_RECORD_BYTES = 160;
/** Records in a bucket. Bounds a look-up even if somebody creates codes that share a bucket. */
const MAX_CHAIN = 16;
/** Used records that survive when a new one needs room. Bounds the cost of a new record. */
const MAX_SURVIVORS = 64;
/** Targets that stay decoded, which saves a hot redirect 4 %. Longer ones are always decoded, to bound the memory. */
const DECODED = 4096;
const MAX_DECODED_LENGTH = 256;

/**
 * A bounded table of links in one block of memory. It takes a third of the memory of objects, and no time of the garbage
 * collector.
 *
 * Records follow each other. At the end, writing continues at the start, where the oldest records make room. Records used since
 * they were written are then written again (second chance).
 *
 * It doubles until it has `maxBytes`. The collector counts its memory, written or not, and lets garbage grow in proportion.
 */
export function createLinkTable(maxBytes: number, keyPrefix = "") {
  const maxLength = Math.floor(maxBytes / WORD_BYTES / 2) * 2;
  let length = Math.min(maxLength, FIRST_WORDS);
  let { words, numbers, units, bytes } = allocate(length);
  /** The first record of each bucket. */
  const buckets = new Int32Array(2 ** Math.ceil(Math.log2(maxBytes / USUAL_RECORD_BYTES))).fill(NONE);
  /** The decoded targets, and the records that they belong to. */
  const targets = Array.from({ length: DECODED }, () => "");
  const decoded = new Int32Array(DECODED).fill(NONE);
  const slotOf = (at: number) => (at >>> 1) & (DECODED - 1);
  /** Records are from 0 to `newest`. Once wrapped, they are also from `oldest` to `end`. */
  let newest = 0;
  let oldest = 0;
  let end = 0;
  let isWrapped = false;
  let changes = 0;
  let links = 0;

  const word = (at: number) => words[at] ?? 0;
  const bucketOf = (hash: number) => hash & (buckets.length - 1);
  const firstOf = (hash: number) => buckets[bucketOf(hash)] ?? NONE;
  const codeLength = (shape: number) => (shape >>> 1) & MAX_CODE_LENGTH;
  const targetLength = (shape: number) => shape >>> 9;

  function isAt(at: number, code: string, hash: number): boolean {
    if (word(at + HASH) !== hash || codeLength(word(at + SHAPE)) !== code.length) return false;
    const first = (at + HEAD_WORDS) * 2;
    for (let nth = 0; nth < code.length; nth++) if (units[first + nth] !== code.charCodeAt(nth)) return false;
    return true;
  }

  function find(code: string, hash: number): number {
    let at = firstOf(hash);
    while (at !== NONE && !isAt(at, code, hash)) at = word(at + NEXT);
    return at;
  }

  /** Replaces a record by `to` in its bucket. Returns false if the record was dropped before. */
  function relink(from: number, to: number): boolean {
    const hash = word(from + HASH);
    let before = firstOf(hash);
    if (before === from) {
      buckets[bucketOf(hash)] = to;
      return true;
    }
    while (before !== NONE && word(before + NEXT) !== from) before = word(before + NEXT);
    if (before === NONE) return false;
    words[before + NEXT] = to;
    return true;
  }

  function drop(at: number): void {
    if (relink(at, word(at + NEXT))) links--;
  }

  /** Drops the oldest record, or writes it again. Returns whether it wrote it again. */
  function passOldest(maySurvive: boolean): boolean {
    const shape = word(oldest + SHAPE);
    const size = wordsOf(codeLength(shape), targetLength(shape));
    const survives = maySurvive && (shape & USED) !== 0 && relink(oldest, newest);
    if (survives) {
      words.copyWithin(newest, oldest, oldest + size);
      decoded[slotOf(newest)] = NONE;
      words[newest + SHAPE] = shape & ~USED;
      newest += size;
    } else {
      drop(oldest);
    }
    oldest += size;
    isWrapped = oldest < end;
    return survives;
  }

  /** Records keep their places. */
  function grow(): void {
    const before = words;
    length = Math.min(maxLength, length * 2);
    ({ words, numbers, units, bytes } = allocate(length));
    words.set(before);
  }

  /** Makes room behind the newest record, for at most the whole table. */
  function reserve(size: number): void {
    for (let survivors = 0; newest + size > (isWrapped ? oldest : length);) {
      if (isWrapped) {
        if (passOldest(survivors < MAX_SURVIVORS)) survivors++;
      } else if (length < maxLength) {
        grow();
      } else {
        end = newest;
        newest = oldest = 0;
        isWrapped = true;
      }
    }
  }

  /** Drops the last record of a full bucket. */
  function shorten(hash: number): void {
    let at = firstOf(hash);
    for (let nth = 2; nth < MAX_CHAIN && at !== NONE; nth++) at = word(at + NEXT);
    if (at === NONE || word(at + NEXT) === NONE) return;
    words[at + NEXT] = NONE;
    links--;
  }

  function write({ code, createdMs, endsMs, target }: Link): number {
    const hash = hashOf(code);
    const before = find(code, hash);
    if (before !== NONE) drop(before);
    const size = wordsOf(code.length, target.length);
    if (size > maxLength || code.length > MAX_CODE_LENGTH || target.length > MAX_TARGET_LENGTH) return NONE;
    reserve(size);
    shorten(hash);
    const at = newest;
    newest += size;
    words[at + SHAPE] = (target.length << 9) | (code.length << 1);
    words[at + NEXT] = firstOf(hash);
    words[at + HASH] = hash;
    buckets[bucketOf(hash)] = at;
    links++;
    numbers[(at + CREATED) / 2] = createdMs;
    numbers[(at + ENDS) / 2] = endsMs;
    const first = (at + HEAD_WORDS) * 2;
    for (let nth = 0; nth < code.length; nth++) units[first + nth] = code.charCodeAt(nth);
    bytes.write(target, targetAt(at, code.length), "latin1");
    decoded[slotOf(at)] = NONE;
    return at;
  }

  function targetOf(at: number): string {
    const slot = slotOf(at);
    if (decoded[slot] === at) return targets[slot] ?? "";
    const shape = word(at + SHAPE);
    const start = targetAt(at, codeLength(shape));
    const target = bytes.toString("latin1", start, start + targetLength(shape));
    if (target.length <= MAX_DECODED_LENGTH) {
      decoded[slot] = at;
      targets[slot] = target;
    }
    return target;
  }

  /** Writes the recorder's fields. */
  function writeCounter(at: number, { sequence, place, keyDay, key0, key1 }: Counter): void {
    words[at + SEQUENCE] = sequence;
    words[at + PLACE] = place;
    words[at + KEY_DAY] = keyDay;
    words[at + KEY_0] = key0;
    words[at + KEY_1] = key1;
  }

  return {
    get(code: string): Entry | undefined {
      const at = find(code, hashOf(code));
      if (at === NONE) return undefined;
      const shape = word(at + SHAPE);
      if ((shape & USED) === 0) words[at + SHAPE] = shape | USED;
      return {
        table: "link",
        keyPrefix,
        text: code,
        createdMs: numbers[(at + CREATED) / 2] ?? 0,
        sequence: word(at + SEQUENCE),
        place: word(at + PLACE),
        keyDay: word(at + KEY_DAY),
        key0: word(at + KEY_0),
        key1: word(at + KEY_1),
        endsMs: numbers[(at + ENDS) / 2] ?? 0,
        target: targetOf(at),
        at,
        changes,
      };
    },
    /** Adds or replaces a link. The entry is valid even if the link is too long for the table. */
    set(link: Link): Entry {
      changes++;
      const at = write(link);
      const counter = counterOf(link, keyPrefix);
      if (at !== NONE) writeCounter(at, counter);
      const { endsMs, target } = link;
      return { ...counter, endsMs, target, at, changes: at === NONE ? NONE : changes };
    },
    /** Stores the recorder's fields of an entry, unless the table has changed since. Then they are computed again. */
    keep(entry: Entry): void {
      const { at, sequence, keyDay } = entry;
      if (entry.changes !== changes) return;
      if (word(at + SEQUENCE) !== sequence || word(at + KEY_DAY) !== keyDay) writeCounter(at, entry);
    },
    delete(code: string): void {
      changes++;
      const at = find(code, hashOf(code));
      if (at !== NONE) drop(at);
    },
    /** Number of links. */
    get size() {
      return links;
    },
    clear(): void {
      changes++;
      links = 0;
      buckets.fill(NONE);
      newest = 0;
      isWrapped = false;
    },
  };
}

function allocate(length: number) {
  const buffer = new ArrayBuffer(length * WORD_BYTES);
  const words = new Int32Array(buffer);
  return {
    words,
    numbers: new Float64Array(buffer),
    units: new Uint16Array(buffer),
    bytes: Buffer.from(buffer),
  };
}

/** The words of a record, an even number. */
function wordsOf(codeLength: number, targetLength: number): number {
  return ((targetAt(0, codeLength) + targetLength + 2 * WORD_BYTES - 1) >>> 3) << 1;
}

/** The byte where a record's target starts. */
function targetAt(at: number, codeLength: number): number {
  return (at + HEAD_WORDS) * WORD_BYTES + codeLength * 2;
}

/** FNV-1a over UTF-16 units. The low bits choose the bucket. @internal */
export function hashOf(code: string): number {
  let hash = 0x811c_9dc5 | 0;
  for (let nth = 0; nth < code.length; nth++) hash = Math.imul(hash ^ code.charCodeAt(nth), 0x0100_0193);
  return hash ^ (hash >>> 15);
}
