import { closeSync, createReadStream, fstatSync, openSync, statSync } from "node:fs";

import { type InputFile, UnreadableFile } from "../../transfer/import-items.ts";

/** Longer than any header of a table. */
const MAX_LINE_BYTES = 64 * 1024;
const NEWLINE = 10;

/** The first bytes of files that must be unpacked, in hexadecimal. */
const PACKED = {
  "1f8b": "is compressed. Unpack it with gunzip",
  "28b52ffd": "is compressed. Unpack it with unzstd",
  fd377a585a00: "is compressed. Unpack it with unxz",
  "425a68": "is compressed. Unpack it with bunzip2",
  "504b0304": "is a ZIP archive or an Excel workbook. Unpack it, or save the sheet as CSV in UTF-8",
};

/** How much is done; `all` is undefined if that is unknown. */
export interface Progress {
  readonly done: number;
  readonly all?: number | undefined;
}

/** A file, or standard input for "-". Throws {@link UnreadableFile}. */
export function openInput(file: string): InputFile & { progress(): Progress } {
  const path = file === "-" ? undefined : file;
  const size = path === undefined ? undefined : sizeOf(path);
  let done = 0;
  async function* read() {
    try {
      for await (const chunk of path === undefined ? Bun.stdin.stream() : createReadStream(path)) {
        const bytes = chunk as Uint8Array;
        if (done === 0) requireUnpacked(bytes);
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

function requireUnpacked(start: Uint8Array): void {
  const hex = start.subarray(0, 8).toHex();
  const packed = Object.entries(PACKED).find(([magic]) => hex.startsWith(magic));
  if (packed !== undefined) throw new UnreadableFile(`${packed[1]}.`);
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
    if (stat.isDirectory()) throw new UnreadableFile("is a folder.");
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
  if (code === "ENOENT") return new UnreadableFile("does not exist.");
  if (code === "EACCES") return new UnreadableFile("can't be read by this user: check its permissions.");
  return typeof code === "string" ? new UnreadableFile(`cannot be read: ${message}.`) : error;
}
