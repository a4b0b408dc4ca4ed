// bun test/endurance/durability/syscalls.ts <trace> <command…>
//
// Runs a command and writes to the file <trace>, as JSON lines, the system calls that decide whether its
// responses survive a power cut. With a file <trace>.fail, such as {"ofFile": "-wal", "times": 2}, the next syncs of files whose path
// ends like this fail. The last one deletes <trace>.fail. Then, with "and": "kill", the command is killed before it sees the failure; with
// "and": "keep files closed", it can't open any more files.
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";

import { type Call, type Reaction, trace } from "./ptrace.ts";

/**
 * A call that succeeded, or a response that is about to be sent. `at` counts up. A line is written while its
 * thread stands still: before a response leaves, and before a thread continues after any other call. So a call
 * with a smaller `at` than a response was over before the response left.
 */
export type SystemCall = { readonly at: number } & (
  | { readonly call: "create" | "remove"; readonly file: string }
  /** `from` loses its file to `file`, or keeps it as well. */
  | { readonly call: "rename" | "link"; readonly from: string; readonly file: string }
  /** `data` in Base64. */
  | { readonly call: "write"; readonly file: string; readonly offset: number; readonly data: string }
  | { readonly call: "truncate"; readonly file: string; readonly bytes: number }
  /** The sync of a file or a folder. It covers every call with an `at` below `startedAt`. */
  | {
      readonly call: "sync";
      readonly file: string;
      readonly startedAt: number;
      /** It failed, so what it covers is no longer written. */
      readonly hasFailed?: boolean;
      /** Whether a segment of the journal is marked as synced. */
      readonly isMarked?: boolean;
    }
  /** The start of an HTTP response, or of lines of the log. */
  | { readonly call: "answer" | "log"; readonly head: string }
);

/** After this time it ends by itself, and the command with it. */
const LIMIT_SECONDS = 170;
const HTTP = "HTTP/1.";
const LOG = '{"level"';
/** This much of an HTTP response or the log is recorded. */
const HEAD_BYTES = 2048;
const PATH_BYTES = 4096;
const O_CREAT = 0o100;
const EIO = 5;
const EMFILE = 24;
/** Where the head of a segment says that it is on disk (src/visits/journal/segment-layout.ts). */
const MARK_AT = 4 * 9;

const NAME_CALLS = ["unlink", "unlinkat", "link", "linkat", "rename", "renameat", "renameat2"];
const FILE_CALLS = ["openat", "pwrite64", "ftruncate", "fsync", "fdatasync"];
const SEND_CALLS = ["write", "sendto", "writev", "sendmsg"];

const [path = "", ...command] = process.argv.slice(2);
const failPath = `${path}.fail`;
const output = openSync(path, "w");
let calls = 0;
let areFilesClosed = false;

/** The contents of the file that lets syncs fail. */
export interface Failure {
  readonly ofFile: string;
  readonly times: number;
  readonly and?: "kill" | "keep files closed" | undefined;
}

type Described = SystemCall extends infer One ? (One extends SystemCall ? Omit<One, "at"> : never) : never;

function record(call: Described): void {
  writeSync(output, `${JSON.stringify({ at: calls++, ...call })}\n`);
}

function onCall({ thread, name, argument }: Call): Reaction | undefined {
  const descriptor = argument(0);
  const file = () => fileOf(thread, descriptor);
  switch (name) {
    case "openat":
      if (areFilesClosed) return { error: EMFILE };
      if ((argument(2) & O_CREAT) === 0) return;
      return { onResult: (opened) => record({ call: "create", file: fileOf(thread, opened) }) };
    case "unlink":
    case "unlinkat": {
      const removed = pathAt(thread, argument(name === "unlink" ? 0 : 1));
      return { onResult: () => record({ call: "remove", file: removed }) };
    }
    case "link":
    case "linkat":
    case "rename":
    case "renameat":
    case "renameat2": {
      const [from, to] = name === "link" || name === "rename" ? [0, 1] : [1, 3];
      const call = {
        call: name.startsWith("link") ? "link" : "rename",
        from: pathAt(thread, argument(from)),
        file: pathAt(thread, argument(to)),
      } as const;
      return { onResult: () => record(call) };
    }
    case "pwrite64": {
      const data = memory(thread, argument(1), argument(2));
      const offset = argument(3);
      const written = (bytes: number) => data.toString("base64", 0, bytes);
      return {
        onResult: (bytes) => record({ call: "write", file: file(), offset, data: written(bytes) }),
      };
    }
    case "ftruncate": {
      const bytes = argument(1);
      return { onResult: () => record({ call: "truncate", file: file(), bytes }) };
    }
    case "fsync":
    case "fdatasync": {
      const sync = { call: "sync", file: file(), startedAt: calls } as const;
      const failure = failureOf(sync.file);
      if (failure !== undefined) {
        record({ ...sync, hasFailed: true });
        areFilesClosed = failure.and === "keep files closed";
        if (failure.and === "kill") {
          process.kill(thread, "SIGKILL");
          return;
        }
        return { error: EIO };
      }
      const isMarked = sync.file.endsWith(".visits") ? readFileSync(sync.file)[MARK_AT] === 1 : undefined;
      return { onResult: () => record({ ...sync, ...(isMarked !== undefined && { isMarked }) }) };
    }
    case "write":
    case "sendto":
      return onSend(thread, argument(1), argument(2));
    case "writev":
      return onVector(thread, argument(1));
    case "sendmsg":
      // struct msghdr: the vector is its third word.
      return onVector(thread, Number(memory(thread, argument(1) + 16, 8).readBigUInt64LE()));
    default:
      throw new Error(`${name} is not traced`);
  }
}

function failureOf(file: string): Failure | undefined {
  if (!existsSync(failPath)) return undefined;
  const failure = JSON.parse(readFileSync(failPath, "utf8")) as Failure;
  if (!file.endsWith(failure.ofFile)) return undefined;
  if (failure.times > 1) writeFileSync(failPath, JSON.stringify({ ...failure, times: failure.times - 1 }));
  else rmSync(failPath);
  return failure;
}

/** struct iovec: address and length. Only the first part of the vector matters, because it has the head. */
function onVector(thread: number, address: number): undefined {
  const first = memory(thread, address, 16);
  onSend(thread, Number(first.readBigUInt64LE(0)), Number(first.readBigUInt64LE(8)));
}

function onSend(thread: number, address: number, length: number): undefined {
  const start = memory(thread, address, Math.min(length, LOG.length)).toString("latin1");
  const call = start.startsWith(HTTP) ? "answer" : start === LOG ? "log" : undefined;
  if (call === undefined) return;
  record({ call, head: memory(thread, address, Math.min(length, HEAD_BYTES)).toString("latin1") });
}

/** Curt and SQLite give whole paths. */
function pathAt(thread: number, address: number): string {
  const bytes = memory(thread, address, PATH_BYTES);
  return bytes.toString("utf8", 0, bytes.indexOf(0));
}

function fileOf(thread: number, descriptor: number): string {
  return readlinkSync(`/proc/${thread}/fd/${descriptor}`);
}

function memory(thread: number, address: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  const file = openSync(`/proc/${thread}/mem`, "r");
  try {
    return bytes.subarray(0, readSync(file, bytes, 0, length, address));
  } finally {
    closeSync(file);
  }
}

process.exit(await trace(command, [...NAME_CALLS, ...FILE_CALLS, ...SEND_CALLS], onCall, LIMIT_SECONDS));
