// bun test/durability/syscalls.ts <trace> <command…>
//
// Runs a command and writes to the file <trace>, as JSON lines, the system calls that decide whether what it
// answers survives a power cut. It traces with ptrace through bun:ffi, so that nothing has to be installed.
// Linux 5.3 or newer, x64 and arm64. The command is a child, never attached to from outside: an ordinary user
// may trace it under Yama's ptrace_scope=1.
import { dlopen, FFIType, type Pointer, ptr, read } from "bun:ffi";
import { closeSync, openSync, readlinkSync, readSync, writeSync } from "node:fs";

/**
 * A call that succeeded, or an answer that is about to be sent. `at` counts up. A line is written while its
 * thread stands still: before an answer leaves, and before a thread goes on after any other call. So a call
 * with a smaller `at` than an answer was over before the answer left.
 */
export type SystemCall = { readonly at: number } & (
  | { readonly call: "create" | "remove"; readonly file: string }
  /** `data` in Base64. */
  | { readonly call: "write"; readonly file: string; readonly offset: number; readonly data: string }
  | { readonly call: "truncate"; readonly file: string; readonly bytes: number }
  /** Of a file or a folder; it covers every call with an `at` below `began`. */
  | { readonly call: "sync"; readonly file: string; readonly began: number }
  /** The beginning of an HTTP response. */
  | { readonly call: "answer"; readonly head: string }
);

/** After this time it ends by itself, and the command with it. */
const LIMIT_SECONDS = 120;
const HTTP = "HTTP/1.";
/** As much of an HTTP response is written down. */
const HEAD_BYTES = 2048;
const PATH_BYTES = 4096;

/** asm/unistd.h */
const NUMBERS: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  x64: {
    1: "write",
    18: "pwrite64",
    20: "writev",
    44: "sendto",
    46: "sendmsg",
    74: "fsync",
    75: "fdatasync",
    77: "ftruncate",
    87: "unlink",
    257: "openat",
    263: "unlinkat",
  },
  arm64: {
    35: "unlinkat",
    46: "ftruncate",
    56: "openat",
    64: "write",
    66: "writev",
    68: "pwrite64",
    82: "fsync",
    83: "fdatasync",
    206: "sendto",
    211: "sendmsg",
  },
};
const O_CREAT = 0o100;

// linux/ptrace.h, linux/wait.h, linux/prctl.h
const PTRACE_SYSCALL = 24;
const PTRACE_SEIZE = 0x4206;
const PTRACE_INTERRUPT = 0x4207;
const PTRACE_GET_SYSCALL_INFO = 0x420e;
/** SYSGOOD, FORK, VFORK, CLONE: every thread and process it makes is traced from its first instruction. */
const FOLLOW = 0x1 | 0x2 | 0x4 | 0x8;
/** The kernel kills what is traced when this process ends, however it ends. */
const PTRACE_O_EXITKILL = 0x100000;
const WALL = 0x40000000;
const PR_SET_PDEATHSIG = 1;
const SIGKILL = 9;
const SYSCALL_STOP = 5 | 0x80;
const SYSCALL_ENTRY = 1;
const SYSCALL_EXIT = 2;
/** The thread was killed while it stood still. */
const ESRCH = 3;
const EINTR = 4;

const numbers = NUMBERS[process.arch] ?? {};
if (process.platform !== "linux" || !(process.arch in NUMBERS)) {
  fail(`System calls are traced on Linux, x64 and arm64; not on ${process.platform}, ${process.arch}.`);
}

const { symbols: libc } = dlopen("libc.so.6", {
  ptrace: { args: [FFIType.i32, FFIType.i32, FFIType.u64, FFIType.u64], returns: FFIType.i64_fast },
  waitpid: { args: [FFIType.i32, FFIType.ptr, FFIType.i32], returns: FFIType.i32 },
  prctl: { args: [FFIType.i32, FFIType.u64, FFIType.u64, FFIType.u64, FFIType.u64], returns: FFIType.i32 },
  alarm: { args: [FFIType.u32], returns: FFIType.u32 },
  __errno_location: { args: [], returns: FFIType.ptr },
});
const errnoAt = libc.__errno_location() as Pointer;

/** struct ptrace_syscall_info: op at 0, from 24 the number and the arguments, or the result. */
const info = new DataView(new ArrayBuffer(88));
const infoAt = ptr(info);
const word = (index: number) => Number(info.getBigInt64(24 + index * 8, true));
const argument = (index: number) => word(index + 1);

const [trace = "", ...command] = process.argv.slice(2);
const output = openSync(trace, "w");
/** By thread: what is written when its call returns. */
const pending = new Map<number, (result: number) => void>();
let calls = 0;

type Described = SystemCall extends infer Call ? (Call extends SystemCall ? Omit<Call, "at"> : never) : never;

function record(call: Described): void {
  writeSync(output, `${JSON.stringify({ at: calls++, ...call })}\n`);
}

// A buffer made explicitly: the engine may move the memory of a small typed array that has none of its own.
const waited = new DataView(new ArrayBuffer(4));
const waitedAt = ptr(waited);

/** Blocks until a traced thread stops or ends; undefined when none is left. */
function nextStop(): { thread: number; status: number } | undefined {
  for (;;) {
    const thread = libc.waitpid(-1, waitedAt, WALL);
    if (thread > 0) return { thread, status: waited.getInt32(0, true) };
    if (read.i32(errnoAt) !== EINTR) return undefined;
  }
}

/** A thread stands before a call, or behind one. */
function onSyscall(thread: number): void {
  if (libc.ptrace(PTRACE_GET_SYSCALL_INFO, thread, info.byteLength, infoAt) <= 0) {
    const errno = read.i32(errnoAt);
    if (errno === ESRCH) return;
    fail(`PTRACE_GET_SYSCALL_INFO is refused: errno ${errno}. Linux 5.3 or newer is needed.`);
  }
  const finish = pending.get(thread);
  pending.delete(thread);
  const side = info.getUint8(0);
  if (side === SYSCALL_EXIT && word(0) >= 0) finish?.(word(0));
  if (side === SYSCALL_ENTRY) {
    const next = onEntry(thread, numbers[word(0)]);
    if (next !== undefined) pending.set(thread, next);
  }
}

/** Returns what to do when the call succeeds. */
function onEntry(thread: number, name: string | undefined): ((result: number) => void) | undefined {
  const descriptor = argument(0);
  const file = () => fileOf(thread, descriptor);
  switch (name) {
    case "openat":
      if ((argument(2) & O_CREAT) === 0) return;
      return (opened) => record({ call: "create", file: fileOf(thread, opened) });
    case "unlink":
    case "unlinkat": {
      // SQLite gives whole paths.
      const path = memory(thread, argument(name === "unlink" ? 0 : 1), PATH_BYTES);
      return () => record({ call: "remove", file: path.toString("utf8", 0, path.indexOf(0)) });
    }
    case "pwrite64": {
      const data = memory(thread, argument(1), argument(2));
      const offset = argument(3);
      return (written) =>
        record({ call: "write", file: file(), offset, data: data.toString("base64", 0, written) });
    }
    case "ftruncate": {
      const bytes = argument(1);
      return () => record({ call: "truncate", file: file(), bytes });
    }
    case "fsync":
    case "fdatasync": {
      const began = calls;
      return () => record({ call: "sync", file: file(), began });
    }
    case "write":
    case "sendto":
      return onSend(thread, argument(1), argument(2));
    case "writev":
      return onVector(thread, argument(1));
    case "sendmsg":
      // struct msghdr: the vector is its third word.
      return onVector(thread, Number(memory(thread, argument(1) + 16, 8).readBigUInt64LE()));
    case undefined:
    default:
      return;
  }
}

/** struct iovec: address and length. Of the vector only the first part matters, for it has the head. */
function onVector(thread: number, address: number): undefined {
  const first = memory(thread, address, 16);
  onSend(thread, Number(first.readBigUInt64LE(0)), Number(first.readBigUInt64LE(8)));
}

function onSend(thread: number, address: number, length: number): undefined {
  if (length < HTTP.length || memory(thread, address, HTTP.length).toString("latin1") !== HTTP) return;
  record({ call: "answer", head: memory(thread, address, Math.min(length, HEAD_BYTES)).toString("latin1") });
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

/** What is traced is killed by the kernel, and a shell that still waits reads the end of its input. */
function fail(message: string): never {
  console.error(message);
  process.exit(1);
}

// Not to outlive the test.
libc.prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
libc.alarm(LIMIT_SECONDS);
// The shell waits for a line, so that it is traced before it becomes the command; without one it ends.
const child = Bun.spawn(["/bin/sh", "-c", 'read -r _ && exec "$@"', "sh", ...command], {
  stdio: ["pipe", "inherit", "inherit"],
});
if (libc.ptrace(PTRACE_SEIZE, child.pid, 0, FOLLOW | PTRACE_O_EXITKILL) !== 0) {
  fail(`ptrace is refused: errno ${read.i32(errnoAt)}. A container may need --cap-add=SYS_PTRACE.`);
}
libc.ptrace(PTRACE_INTERRUPT, child.pid, 0, 0);
await child.stdin.write("\n");
await child.stdin.end();

for (let stop = nextStop(); stop !== undefined; stop = nextStop()) {
  const { thread, status } = stop;
  const signal = (status >> 8) & 0xff;
  if ((status & 0xff) !== 0x7f) {
    // It ended, by itself or by a signal.
    pending.delete(thread);
    if (thread === child.pid) process.exit((status & 0x7f) === 0 ? signal : 128 + (status & 0x7f));
    continue;
  }
  if (signal === SYSCALL_STOP) onSyscall(thread);
  // Any other stop is the tracer's own business, except for a signal, which is passed on.
  const passed = signal === SYSCALL_STOP || status >> 16 !== 0 ? 0 : signal;
  libc.ptrace(PTRACE_SYSCALL, thread, 0, passed);
}
