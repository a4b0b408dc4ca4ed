// Looks for damage in a write-ahead log, which SQLite passes over in silence: it takes what comes before the first bad
// frame, and forgets what was committed after it (https://www.sqlite.org/fileformat2.html#the_write_ahead_log).
import { closeSync, existsSync, fstatSync, openSync, readSync, writeSync } from "node:fs";

import { StoreUnusable } from "../../../links/link-store.ts";

/** Marks a log with little-endian checksums, which all our platforms write. */
const MAGIC = 0x377f0682;
const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** Bytes before the salts in a frame's header, which its checksum covers. */
const SUMMED_BYTES = 8;
const USUAL_PAGE_BYTES = 4096;
/** A log that other processes are writing to may look damaged, but not twice at the same place. */
const MAX_READS = 5;

/**
 * Bytes of the two headers of a log's index, and where each says that it is initialized. After them stands how many frames were
 * moved into the file (https://www.sqlite.org/walformat.html#the_wal_index_file_format).
 */
const INDEX_HEADERS_BYTES = 96;
const INITIALIZED_AT = [12, 60];

/** The two sums of everything up to a place. */
type Checksum = readonly [number, number];

interface Frame {
  readonly isCommit: boolean;
  readonly salts: string;
  /** As it is stored. */
  readonly checksum: Checksum;
  /** The expected checksum, given that of the previous frame. Call it before reading another frame. */
  sumAfter(before: Checksum): Checksum;
}

/**
 * Throws {@link StoreUnusable} if committed transactions lie behind a bad frame. Works while other processes write. Takes
 * time in proportion to the log, as SQLite's own recovery does, and the memory of two frames.
 *
 * A power cut also leaves bad frames, but only of the last transaction, because each is synced before the next one starts.
 * So a commit and a valid frame that follows it prove damage. A single commit after the bad frame proves nothing: it may
 * end the torn transaction, or one that was rolled back because its sync failed.
 */
export function requireWholeWal(path: string): void {
  let previous: string | undefined;
  for (let read = 0; read < MAX_READS; read++) {
    const damage = findDamage(`${path}-wal`);
    if (damage === undefined) return;
    if (damage === previous) throw damaged(path);
    previous = damage;
  }
}

/**
 * Whether the index of a log was ever in use. A power cut may leave one whose contents never reached the disk. Then no
 * commit in its log was synced.
 */
export function hasIndex(shm: string): boolean {
  if (!existsSync(shm)) return false;
  const headers = new Uint8Array(INDEX_HEADERS_BYTES);
  const descriptor = openSync(shm, "r");
  try {
    readSync(descriptor, headers);
  } finally {
    closeSync(descriptor);
  }
  return INITIALIZED_AT.some((at) => headers[at] !== 0);
}

/** Makes the next checkpoint move the whole log. `index` is a descriptor. */
export function forgetMovedFrames(index: number): void {
  writeSync(index, new Uint32Array([0]), 0, Uint32Array.BYTES_PER_ELEMENT, INDEX_HEADERS_BYTES);
}

function damaged(path: string): StoreUnusable {
  return new StoreUnusable(
    `${path}-wal is damaged, and confirmed links lie behind the damage. Nothing was changed. ` +
      `First copy ${path}, ${path}-wal and ${path}-shm elsewhere. Then restore a backup; or continue without those links: ` +
      `sqlite3 ${path} "PRAGMA wal_checkpoint(TRUNCATE)", then curt check.`,
  );
}

/** Identifies the first bad frame in this generation of the log, if committed transactions follow. */
function findDamage(wal: string): string | undefined {
  if (!existsSync(wal)) return undefined;
  const descriptor = openSync(wal, "r");
  try {
    const log = readLog(descriptor);
    const bad = log.firstBad();
    return log.hasTransactionsAfter(bad) ? `${log.salts}:${bad}` : undefined;
  } finally {
    closeSync(descriptor);
  }
}

function readLog(descriptor: number) {
  const header = readHeader(descriptor);
  const frameBytes = FRAME_HEADER_BYTES + header.pageBytes;
  const frames = Math.floor((fstatSync(descriptor).size - HEADER_BYTES) / frameBytes);

  // Reused for each frame.
  const buffer = new Uint8Array(frameBytes);
  const view = new DataView(buffer.buffer);

  function frameAt(nth: number): Frame | undefined {
    if (nth >= frames) return undefined;
    if (readSync(descriptor, buffer, 0, frameBytes, HEADER_BYTES + nth * frameBytes) < frameBytes)
      return undefined;
    return {
      isCommit: view.getUint32(4) !== 0,
      salts: `${view.getUint32(8)}:${view.getUint32(12)}`,
      checksum: [view.getInt32(16), view.getInt32(20)],
      sumAfter: (before) => sum(buffer, FRAME_HEADER_BYTES, frameBytes, sum(buffer, 0, SUMMED_BYTES, before)),
    };
  }

  return {
    salts: header.salts,
    /** The number of the first frame that SQLite rejects: 0 if it rejects the header. */
    firstBad(): number {
      if (header.salts === undefined) return 0;
      let before = header.checksum;
      for (let nth = 0; ; nth++) {
        const frame = frameAt(nth);
        if (frame?.salts !== header.salts || !isSame(frame.checksum, frame.sumAfter(before))) return nth;
        before = frame.checksum;
      }
    },
    hasTransactionsAfter(bad: number): boolean {
      let before = frameAt(bad);
      for (let nth = bad + 1; before !== undefined; nth++) {
        const frame = frameAt(nth);
        const isOfThisLog = frame?.salts === before.salts && before.salts === (header.salts ?? before.salts);
        if (isOfThisLog && before.isCommit && isSame(frame.checksum, frame.sumAfter(before.checksum)))
          return true;
        before = frame;
      }
      return false;
    },
  };
}

/** Has no salts if SQLite would reject the header. */
function readHeader(descriptor: number) {
  const buffer = new Uint8Array(HEADER_BYTES);
  readSync(descriptor, buffer, 0, HEADER_BYTES, 0);
  const view = new DataView(buffer.buffer);
  const checksum: Checksum = [view.getInt32(24), view.getInt32(28)];
  const isWhole = view.getUint32(0) === MAGIC && isSame(checksum, sum(buffer, 0, 24, [0, 0]));
  return {
    pageBytes: isWhole ? view.getUint32(8) : USUAL_PAGE_BYTES,
    salts: isWhole ? `${view.getUint32(16)}:${view.getUint32(20)}` : undefined,
    checksum,
  };
}

/** Adds pairs of words, as the file format says. */
function sum(buffer: Uint8Array, from: number, to: number, [first, second]: Checksum): Checksum {
  const words = new Int32Array(buffer.buffer, from, (to - from) / 4);
  let one = first;
  let two = second;
  for (let nth = 0; nth < words.length; nth += 2) {
    one = (one + (words[nth] as number) + two) | 0;
    two = (two + (words[nth + 1] as number) + one) | 0;
  }
  return [one, two];
}

function isSame(one: Checksum, other: Checksum): boolean {
  return one[0] === other[0] && one[1] === other[1];
}
