import { createReadStream, statSync } from "node:fs";

import { type Input, UnreadableSource } from "../moving/source.ts";

/** How much is done; `all` is undefined if that is unknown. */
export interface Progress {
  readonly done: number;
  readonly all?: number | undefined;
}

/** A file, or standard input for "-". Throws {@link UnreadableSource}. */
export function openInput(file: string): Input & { progress(): Progress } {
  const path = file === "-" ? undefined : file;
  const size = path === undefined ? undefined : sizeOf(path);
  let done = 0;
  return {
    path,
    async *bytes() {
      for await (const chunk of path === undefined ? Bun.stdin.stream() : createReadStream(path)) {
        yield chunk as Uint8Array;
        done += (chunk as Uint8Array).length;
      }
    },
    progress: () => ({ done, all: size }),
  };
}

/** Undefined for a pipe. */
function sizeOf(path: string): number | undefined {
  try {
    const stat = statSync(path);
    if (stat.isDirectory()) throw new UnreadableSource("is a folder.");
    return stat.isFile() ? stat.size : undefined;
  } catch (error) {
    if (error instanceof UnreadableSource) throw error;
    throw new UnreadableSource(`cannot be read: ${(error as Error).message}`);
  }
}
