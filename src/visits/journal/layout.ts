/**
 * What a segment is: one file that counts the visits of one hour (UTC). It is mapped into memory, so that what is
 * written outlives the process, however that ends. Four parts, all of little-endian words but the names:
 *
 *   head      what the file is, whose, which hour, and how far the last two parts are filled
 *   counters  for each link: visits, bots
 *   details   for each visit: its link, agent and referrer, language and country, visitor, network
 *   names     the texts that the others refer to by their place: kind, length (bytes), UTF-8
 *
 * Nothing in it tells one visitor's address or user agent, and it is emptied as soon as the store has its sums.
 */

const MAGIC = 0x6c63_7543;
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
  /** 1 when the file is on disk as it is, so that it can be trusted after the machine has gone down. */
  synced: 9,
  boot: 10,
  source: 12,
} as const;

/** The kinds of names; a place counts within its kind. */
export const KINDS = ["link", "agent", "referrer", "language", "country"] as const;
export type Kind = (typeof KINDS)[number];

export const COUNTER_WORDS = 2;
export const DETAIL_WORDS = 5;
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

/** Where the parts of a segment of `bytes` bytes begin, in bytes. Throws where its head is none. */
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

/** The source that counted in a segment, as its slices name it. */
export function sourceOf(head: Uint32Array): string {
  return [Head.source, Head.source + 1].map((at) => (head[at] ?? 0).toString(16).padStart(8, "0")).join("");
}
