import { closeSync, createReadStream, fstatSync, openSync, statSync } from "node:fs";

import { requirePlain } from "../../transfer/plain-text.ts";
import { type Input, UnreadableSource } from "../../transfer/source.ts";

/** Longer than any header of a table. */
const MAX_LINE_BYTES = 64 * 1024;
const NEWLINE = 10;

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
  async function* read() {
    try {
      for await (const chunk of path === undefined ? Bun.stdin.stream() : createReadStream(path)) {
        const bytes = chunk as Uint8Array;
        if (done === 0) requirePlain(bytes);
        yield bytes;
        done += bytes.length;
      }
    } catch (error) {
      throw explain(error);
    }
  }
  const chunks = read();
  const head: Uint8Array[] = [];
  return {
    async firstLine() {
      for (let length = 0; length < MAX_LINE_BYTES && head.at(-1)?.includes(NEWLINE) !== true;) {
        const { value } = await chunks.next();
        if (value === undefined) break;
        head.push(value);
        length += value.length;
      }
      return Buffer.concat(head).toString().split("\n", 1)[0] ?? "";
    },
    async *bytes() {
      yield* head;
      yield* chunks;
    },
    progress: () => ({ done, all: size }),
  };
}

/** Whether `path` and `file` are the same file. Writing it would destroy the input. */
export function isInput(path: string, file: string): boolean {
  try {
    const written = statSync(path, { bigint: true });
    const read = file === "-" ? fstatSync(0, { bigint: true }) : statSync(file, { bigint: true });
    return written.isFile() && written.dev === read.dev && written.ino === read.ino;
  } catch {
    // One is not there.
    return false;
  }
}

/** Undefined for a pipe. */
function sizeOf(path: string): number | undefined {
  try {
    const stat = statSync(path);
    if (stat.isDirectory()) throw new UnreadableSource("is a folder.");
    if (!stat.isFile()) return undefined;
    // Checks now that the file can be read.
    closeSync(openSync(path, "r"));
    return stat.size;
  } catch (error) {
    throw explain(error);
  }
}

/** Puts a system error about the file into words. */
function explain(error: unknown): unknown {
  const { code, message } = error as { code?: unknown; message: string };
  if (code === "ENOENT") return new UnreadableSource("is not there.");
  if (code === "EACCES") return new UnreadableSource("must not be read by this user: check its permissions.");
  return typeof code === "string" ? new UnreadableSource(`cannot be read: ${message}.`) : error;
}
