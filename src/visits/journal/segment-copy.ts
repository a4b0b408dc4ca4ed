import { closeSync, fstatSync, ftruncateSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";

import { writeAll } from "../../lib/files.ts";
import { bootWords } from "./boot.ts";
import {
  COUNTER_WORDS,
  DETAIL_WORDS,
  Head,
  HEAD_WORDS,
  isTrusted,
  layoutOf,
  sourceOf,
} from "./segment-layout.ts";

const HEAD_BYTES = 4 * HEAD_WORDS;

/** A copy of a segment. Source and sequence identify the segment forever. */
export interface SegmentCopy {
  readonly source: string;
  readonly sequence: number;
  readonly path: string;
}

/**
 * Copies every segment with visits to the folder `to`, while processes write to them and fold them. A copy has all
 * visits that were counted before the call, and maybe more.
 */
export function copySegments(folder: string, to: string): SegmentCopy[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".visits"))
    .flatMap((name) => copySegment(join(folder, name), join(to, name)) ?? []);
}

/** Undefined if the segment is free, was folded meanwhile, or cannot be trusted. */
function copySegment(from: string, path: string): SegmentCopy | undefined {
  const file = openExisting(from);
  if (file === undefined) return undefined;
  const copy = openSync(path, "wx");
  try {
    const head = readHead(file);
    const sequence = head[Head.sequence] ?? 0;
    if (sequence === 0 || !isTrusted(head, bootWords())) return undefined;
    copyParts(from, file, head, copy);
    // The journal reuses the file for another segment once it is folded.
    const after = readHead(file);
    const isSame = after[Head.sequence] === sequence && sourceOf(after) === sourceOf(head);
    return isSame ? { source: sourceOf(head), sequence, path } : undefined;
  } finally {
    closeSync(copy);
    closeSync(file);
  }
}

/** Undefined if the segment was folded meanwhile. */
export function openExisting(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return undefined;
    throw error;
  }
}

export function readHead(file: number): Uint32Array {
  const head = new Uint32Array(HEAD_WORDS);
  readSync(file, head, 0, HEAD_BYTES, 0);
  return head;
}

/**
 * Copies the filled parts. The head is read first, and everything it counts was written before it. So a visit that
 * comes meanwhile is complete or missing, except that it may be counted without its detail.
 */
function copyParts(path: string, file: number, head: Uint32Array, copy: number): void {
  const { size } = fstatSync(file);
  const { capacity, countersAt, detailsAt, namesAt } = layoutOf(path, head, size);
  writeAll(copy, new Uint8Array(head.buffer), 0);
  for (const [start, length] of [
    [countersAt, 4 * COUNTER_WORDS * capacity.links],
    [detailsAt, 4 * DETAIL_WORDS * (head[Head.usedDetails] ?? 0)],
    [namesAt, head[Head.usedNameBytes] ?? 0],
  ] as const) {
    const bytes = new Uint8Array(length);
    readSync(file, bytes, 0, length, start);
    writeAll(copy, bytes, start);
  }
  ftruncateSync(copy, size);
}
