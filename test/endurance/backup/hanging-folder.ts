// bun test/endurance/backup/hanging-folder.ts <folder> <command…>
//
// Runs a command whose own process can't list a folder for a while, as if it were on a network that hangs. Meanwhile, the file
// <folder>.hangs has the number of the call.
import { closeSync, openSync, readFileSync, readSync, rmSync, writeFileSync } from "node:fs";

import { trace } from "../durability/ptrace.ts";

const HANG_MS = 3000;
const LIMIT_SECONDS = 170;
const PATH_BYTES = 4096;

const [folder = "", ...command] = process.argv.slice(2);
let first: string | undefined;
let calls = 0;

function pathAt(thread: number, address: number): string {
  const bytes = Buffer.alloc(PATH_BYTES);
  const memory = openSync(`/proc/${thread}/mem`, "r");
  try {
    return bytes.toString("utf8", 0, readSync(memory, bytes, 0, PATH_BYTES, address)).split("\0", 1)[0] ?? "";
  } finally {
    closeSync(memory);
  }
}

function processOf(thread: number): string | undefined {
  return /^Tgid:\s+(\d+)$/m.exec(readFileSync(`/proc/${thread}/status`, "utf8"))?.[1];
}

process.exitCode = await trace(
  command,
  ["openat"],
  ({ thread, argument }) => {
    first ??= processOf(thread);
    if (pathAt(thread, argument(1)) !== folder || processOf(thread) !== first) return undefined;
    writeFileSync(`${folder}.hangs`, String(++calls));
    return { delayMs: HANG_MS, onResult: () => rmSync(`${folder}.hangs`, { force: true }) };
  },
  LIMIT_SECONDS,
);
