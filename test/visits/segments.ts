import { join } from "node:path";

import { createSegmentFile, syncSegment } from "../../src/visits/journal/segment-file.ts";
import { createName, openSegment } from "../../src/visits/journal/segment.ts";
import type { TestVisit } from "./slices.ts";

export interface SegmentContents {
  readonly folder: string;
  /** Two words; segments of one source are folded in the order of their sequence. */
  readonly source?: readonly [number, number];
  readonly sequence?: number;
  /** Hours since 1970 (UTC). */
  readonly hour: number;
  readonly visits: readonly TestVisit[];
}

const CAPACITY = { links: 2000, details: 5000, nameBytes: 200_000 };
let files = 0;

/** Writes a segment as a process leaves it, synced if it stopped in order, and returns its path. */
export async function writeSegment(contents: SegmentContents, isSynced = false): Promise<string> {
  const { folder, source, sequence, hour, visits } = contents;
  const path = join(folder, `test-${++files}.visits`);
  await createSegmentFile(path, CAPACITY);
  const segment = openSegment(path);
  segment.start({ source: source ?? [files, 7], boot: [0, 0] }, sequence ?? 1, hour);
  const links = new Map<string, ReturnType<typeof createName>>();
  for (const {
    code,
    createdMs = 5,
    bot = false,
    visitor = 1,
    browser,
    referrer,
    language,
    country,
  } of visits) {
    const text = `${code}\t${createdMs}`;
    const link = links.get(text) ?? createName("link", text);
    links.set(text, link);
    const detail = {
      agent: createName("agent", `${browser ?? "Chrome"}\tWindows\tdesktop`),
      referrer: createName("referrer", referrer ?? ""),
      language: createName("language", language ?? "ko"),
      country: createName("country", country ?? "KR"),
      visitor,
    };
    if (!segment.count(link, bot, bot ? undefined : detail)) throw new Error("the segment is full");
  }
  if (isSynced) syncSegment(path);
  return path;
}
