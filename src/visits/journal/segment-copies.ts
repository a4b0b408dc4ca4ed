// Copies of segments, taken from outside while processes count visits in them and fold them.
import { closeSync, fstatSync, ftruncateSync, openSync, readdirSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";

import { bootWords } from "./journal.ts";
import { COUNTER_WORDS, DETAIL_WORDS, Head, HEAD_WORDS, layoutOf, sourceOf } from "./layout.ts";

const HEAD_BYTES = 4 * HEAD_WORDS;

/** A segment, named by who wrote it and its place in the order. No two segments have the same name, ever. */
export interface SavedSegment {
  readonly source: string;
  readonly sequence: number;
  /** Of the copy. */
  readonly path: string;
}

/**
 * Copies every segment that has visits to the folder `to`. A copy of the one that a process writes to has all visits
 * that were counted before this was called, and maybe some more.
 */
export function saveSegments(folder: string, to: string): SavedSegment[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".visits"))
    .flatMap((name) => saveSegment(join(folder, name), join(to, name)) ?? []);
}

/** Undefined where there is nothing to count: the segment is free, was folded meanwhile, or cannot be trusted. */
function saveSegment(from: string, path: string): SavedSegment | undefined {
  const file = openThere(from);
  if (file === undefined) return undefined;
  const copy = openSync(path, "w");
  try {
    const head = readHead(file);
    const sequence = head[Head.sequence] ?? 0;
    if (sequence === 0 || !isTrusted(head)) return undefined;
    copyParts(from, file, head, copy);
    // A file is used again for another segment once it is folded.
    const after = readHead(file);
    const isSame = after[Head.sequence] === sequence && sourceOf(after) === sourceOf(head);
    return isSame ? { source: sourceOf(head), sequence, path } : undefined;
  } finally {
    closeSync(copy);
    closeSync(file);
  }
}

function openThere(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return undefined;
    throw error;
  }
}

function readHead(file: number): Uint32Array {
  const head = new Uint32Array(HEAD_WORDS);
  readSync(file, head, 0, HEAD_BYTES, 0);
  return head;
}

/** As `openJournal` decides it at a start. */
function isTrusted(head: Uint32Array): boolean {
  const [one, two] = bootWords();
  return head[Head.synced] === 1 || (head[Head.boot] === one && head[Head.boot + 1] === two);
}

/**
 * Only what is filled, as far as the head says. The head is read first: what it counts was written before it. So a visit
 * that comes meanwhile is either whole or not there, except that it may be counted without its details.
 */
function copyParts(path: string, file: number, head: Uint32Array, copy: number): void {
  const { size } = fstatSync(file);
  const { capacity, countersAt, detailsAt, namesAt } = layoutOf(path, head, size);
  writeSync(copy, head, 0, HEAD_BYTES, 0);
  for (const [start, length] of [
    [countersAt, 4 * COUNTER_WORDS * capacity.links],
    [detailsAt, 4 * DETAIL_WORDS * (head[Head.usedDetails] ?? 0)],
    [namesAt, head[Head.usedNameBytes] ?? 0],
  ] as const) {
    const bytes = new Uint8Array(length);
    readSync(file, bytes, 0, length, start);
    writeSync(copy, bytes, 0, length, start);
  }
  ftruncateSync(copy, size);
}
