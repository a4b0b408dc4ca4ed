import { canonicalHost } from "../../links/target.ts";
import { isPublicSuffix } from "./domain-name.ts";
import { MAX_PATH_LENGTH, plainPath, type Rule } from "./list-line.ts";

/**
 * The rules of one list as a hash table with open addressing, in memory that threads can share. Each slot is 64 bits: a
 * fingerprint of a host, or of a host with a path, and the flags of its rules. An empty slot is 0.
 *
 * With a million rules, one check in 10^11 is a false positive. The key is random, so nobody can choose such a host.
 */
export type ListTable = SharedArrayBuffer;
/** Two random words. All tables of a check share them. */
export type ListKey = readonly [number, number];

/** The first words of a table: the key, and the number of slots (a power of two) less one. */
const KEY = 0;
const MASK = 2;
const HEADER = 4;

// Flags in the low bits of a slot.
const ITSELF = 1;
const BELOW = 2;
/** The host has rules for paths. */
const HAS_PATHS = 4;
const PATH = 8;
const FLAGS = 15;

const MIN_SLOTS = 16;
/** A fuller table makes longer searches. */
const MAX_LOAD = 0.6;

const DOT = 0x2e;
const PERCENT = 0x25;

/** Reads text character by character. Equal texts have equal fingerprints under the same key. */
function createFingerprint([key0, key1]: ListKey) {
  let a = 0;
  let b = 0;
  function take(unit: number): void {
    a = Math.imul(a ^ unit, 0x9e37_79b1);
    a ^= a >>> 15;
    b = Math.imul(b ^ a, 0x85eb_ca77) + unit;
    b ^= b >>> 13;
  }
  return {
    reset(): void {
      a = key0;
      b = key1;
    },
    take,
    /** Reads a host from its end, so that all hosts above it are intermediate states. */
    takeHost(host: string): void {
      for (let at = host.length - 1; at >= 0; at--) take(host.charCodeAt(at));
    },
    takePath(path: string): void {
      for (let at = 0; at < path.length; at++) take(path.charCodeAt(at));
    },
    high: () => finish(a ^ Math.imul(b, 0xc2b2_ae3d)),
    /** Without the bits of the flags. */
    low: () => finish(b ^ Math.imul(a, 0x27d4_eb2f)) & ~FLAGS,
  };
}

/** The last step of MurmurHash3: each bit depends on all bits. */
function finish(word: number): number {
  let mixed = Math.imul(word ^ (word >>> 16), 0x85eb_ca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35);
  return mixed ^ (mixed >>> 16);
}

/** The first word of the slot with this fingerprint, or of the empty one where it belongs. */
function slotOf(words: Int32Array, high: number, low: number): number {
  const mask = words[MASK] ?? 0;
  for (let slot = high & mask; ; slot = (slot + 1) & mask) {
    const at = HEADER + 2 * slot;
    const stored = words[at + 1] ?? 0;
    if (stored === 0 || (words[at] === high && (stored & ~FLAGS) === low)) return at;
  }
}

function emptyTable(key: ListKey, slots: number): Int32Array<SharedArrayBuffer> {
  const words = new Int32Array(new SharedArrayBuffer(4 * (HEADER + 2 * slots)));
  words.set([...key, slots - 1], KEY);
  return words;
}

export interface ListBuilder {
  /** The number of rules, without duplicates. */
  readonly rules: number;
  add(rule: Rule): void;
  build(): ListTable;
}

export function createListBuilder(key: ListKey): ListBuilder {
  const fingerprint = createFingerprint(key);
  let words = emptyTable(key, MIN_SLOTS);
  let used = 0;
  let rules = 0;

  function put(flags: number): void {
    const high = fingerprint.high();
    const low = fingerprint.low();
    const at = slotOf(words, high, low);
    const stored = words[at + 1] ?? 0;
    if (((stored & FLAGS) | flags) === (stored & FLAGS)) return;
    if (flags !== HAS_PATHS) rules++;
    words[at] = high;
    words[at + 1] = low | (stored & FLAGS) | flags;
    if (stored === 0 && ++used > MAX_LOAD * ((words[MASK] ?? 0) + 1)) grow();
  }

  function grow(): void {
    const old = words;
    words = emptyTable(key, 2 * ((old[MASK] ?? 0) + 1));
    for (let at = HEADER; at < old.length; at += 2) {
      const high = old[at] ?? 0;
      const stored = old[at + 1] ?? 0;
      if (stored === 0) continue;
      const to = slotOf(words, high, stored & ~FLAGS);
      words[to] = high;
      words[to + 1] = stored;
    }
  }

  return {
    get rules() {
      return rules;
    },
    add({ host, covers, path }) {
      fingerprint.reset();
      fingerprint.takeHost(host);
      if (covers === "path") {
        put(HAS_PATHS);
        fingerprint.takePath(path);
        put(PATH);
      } else if (covers === "below") put(BELOW);
      // One line must not block all sites below a public suffix.
      else put(covers === "host" || isPublicSuffix(host) ? ITSELF : ITSELF | BELOW);
    },
    build: () => words.buffer,
  };
}

/** Whether any of these lists blocks a target. */
export type ListCheck = (target: string) => boolean;

/** The check takes targets only, which are serialized URLs without credentials. */
export function createListCheck(tables: readonly ListTable[]): ListCheck {
  const lists = tables.map((table) => new Int32Array(table));
  const [first] = lists;
  if (first === undefined) return () => false;
  const fingerprint = createFingerprint([first[KEY] ?? 0, first[KEY + 1] ?? 0]);

  function has(flags: number): boolean {
    const high = fingerprint.high();
    const low = fingerprint.low();
    for (const words of lists) if (((words[slotOf(words, high, low) + 1] ?? 0) & flags) !== 0) return true;
    return false;
  }

  /** The fingerprint has the host already. */
  function hasPath(target: string, pathAt: number): boolean {
    const [written = ""] = target.slice(pathAt).split("#", 1);
    const path = plainPath(written);
    const end = Math.min(path.length, MAX_PATH_LENGTH);
    for (let at = 0; at < end; at++) {
      fingerprint.take(path.charCodeAt(at));
      if (endsHere(path, at + 1) && has(PATH)) return true;
    }
    return false;
  }

  function check(target: string): boolean {
    const hostAt = target.indexOf("//") + 2;
    const pathAt = target.indexOf("/", hostAt);
    const end = endOfHost(target, hostAt, pathAt);
    if (target.startsWith("[::ffff:", hostAt))
      return check(`http://${canonicalHost(target.slice(hostAt, end))}${target.slice(pathAt)}`);
    fingerprint.reset();
    for (let at = end - 1; at >= hostAt; at--) {
      const unit = target.charCodeAt(at);
      if (unit === DOT && has(BELOW)) return true;
      fingerprint.take(unit);
    }
    return has(ITSELF) || (has(HAS_PATHS) && hasPath(target, pathAt));
  }

  return check;
}

/** Without the port and trailing dots. */
function endOfHost(target: string, hostAt: number, pathAt: number): number {
  if (target[hostAt] === "[") return target.indexOf("]", hostAt) + 1;
  const colon = target.indexOf(":", hostAt);
  let end = colon === -1 || colon > pathAt ? pathAt : colon;
  while (target[end - 1] === ".") end--;
  return end;
}

/** Whether a rule for the first characters of a path covers the path: `/a` covers `/a/b` and `/a?b`, not `/ab`. */
function endsHere(path: string, length: number): boolean {
  return length === path.length || !isWord(path.charCodeAt(length - 1)) || !isWord(path.charCodeAt(length));
}

/** A letter or digit of ASCII, or part of an escaped character. */
function isWord(unit: number): boolean {
  return (
    (unit >= 0x30 && unit <= 0x39) || ((unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x7a) || unit === PERCENT
  );
}
