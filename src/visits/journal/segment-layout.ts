/**
 * A segment is a file that counts the visits of one hour (UTC). It is mapped into memory, so visits are not lost if the
 * process is killed. It has four parts. All consist of little-endian 32-bit words, except the names:
 *
 *   head      magic and version, hour, which process wrote it, sizes, how far the last two parts are filled
 *   counters  for each link: visits, bots
 *   details   for each visit: its link, the names in {@link VISIT_TABLES} (two per word), visitor
 *   names     the texts that the others refer to by their place: table, length (bytes), UTF-8
 *
 * It contains no visitor's IP address or full user agent, and it is emptied as soon as the store has its sums.
 */

const MAGIC = 0x6c63_7543;
/** Raise it with every change to the layout or the tables. */
const VERSION = 2;
export const HEAD_WORDS = 16;

export const Head = {
  magic: 0,
  version: 1,
  /** 0 while the segment is free. */
  sequence: 2,
  hour: 3,
  links: 4,
  details: 5,
  nameBytes: 6,
  usedDetails: 7,
  usedNameBytes: 8,
  /** 1 if the whole file is on disk, so that it can be trusted after the machine has crashed. */
  synced: 9,
  boot: 10,
  source: 12,
} as const;

/** The names that a visit refers to. */
export const VISIT_TABLES = ["agent", "referrer", "language", "country"] as const;
export type VisitTable = (typeof VISIT_TABLES)[number];
/** Each table counts its places from 0. */
export const TABLES = ["link", ...VISIT_TABLES] as const;
export type Table = (typeof TABLES)[number];

export const COUNTER_WORDS = 2;
/** A place in a {@link VISIT_TABLES} table takes 16 bits. The first of two is in the high half of their word. */
export const DETAIL_WORDS = 2 + Math.ceil(VISIT_TABLES.length / 2);
export const VISITOR_WORD = DETAIL_WORDS - 1;
export const NAME_HEAD_BYTES = 3;

export interface Capacity {
  readonly links: number;
  readonly details: number;
  readonly nameBytes: number;
}

export function segmentBytes(of: Capacity): number {
  return 4 * (HEAD_WORDS + of.links * COUNTER_WORDS + of.details * DETAIL_WORDS) + of.nameBytes;
}

/** The head of a free segment. */
export function headOf(capacity: Capacity): Uint8Array {
  const head = new Uint32Array(HEAD_WORDS);
  head[Head.magic] = MAGIC;
  head[Head.version] = VERSION;
  head[Head.links] = capacity.links;
  head[Head.details] = capacity.details;
  head[Head.nameBytes] = capacity.nameBytes;
  return new Uint8Array(head.buffer);
}

/** Returns where the parts of a segment start, in bytes. `bytes` is the file's size. Throws if the head is invalid. */
export function layoutOf(path: string, head: Uint32Array, bytes: number) {
  const capacity: Capacity = {
    links: head[Head.links] ?? 0,
    details: head[Head.details] ?? 0,
    nameBytes: head[Head.nameBytes] ?? 0,
  };
  if (
    head[Head.magic] !== MAGIC ||
    head[Head.version] !== VERSION ||
    bytes !== segmentBytes(capacity) ||
    (head[Head.usedDetails] ?? 0) > capacity.details ||
    (head[Head.usedNameBytes] ?? 0) > capacity.nameBytes
  ) {
    throw new Error(`${path} is not a segment of this version`);
  }
  const countersAt = 4 * HEAD_WORDS;
  const detailsAt = countersAt + 4 * COUNTER_WORDS * capacity.links;
  return { capacity, countersAt, detailsAt, namesAt: detailsAt + 4 * DETAIL_WORDS * capacity.details };
}

/** The source (the run of one process) that wrote a segment. Slices carry the same text. */
export function sourceOf(head: Uint32Array): string {
  return [Head.source, Head.source + 1].map((at) => (head[at] ?? 0).toString(16).padStart(8, "0")).join("");
}

/**
 * Whether a segment is as it was written. After a crash of the machine, that is certain only for a synced one. On systems
 * that don't identify the boot, the machine may have crashed at any time.
 */
export function isTrusted(head: Uint32Array, [boot0, boot1]: readonly [number, number]): boolean {
  const isBootKnown = boot0 !== 0 || boot1 !== 0;
  const isSameBoot = head[Head.boot] === boot0 && head[Head.boot + 1] === boot1;
  return head[Head.synced] === 1 || (isBootKnown && isSameBoot);
}
