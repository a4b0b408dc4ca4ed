import { createReadStream, statSync } from "node:fs";

import type { Input } from "../moving/source.ts";

/** How much is done; `all` is undefined if that is unknown. */
export interface Progress {
  readonly done: number;
  readonly all?: number | undefined;
}

/** A file, or standard input for "-". A text says why it cannot be read. */
export async function openInput(file: string): Promise<(Input & { progress(): Progress }) | string> {
  const path = file === "-" ? undefined : file;
  const size = path === undefined ? undefined : sizeOf(path);
  if (typeof size === "string") return size;
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
function sizeOf(path: string): number | string | undefined {
  try {
    const stat = statSync(path);
    if (stat.isDirectory()) return `${path} is a folder.`;
    return stat.isFile() ? stat.size : undefined;
  } catch (error) {
    return `${path} cannot be read: ${(error as Error).message}`;
  }
}
