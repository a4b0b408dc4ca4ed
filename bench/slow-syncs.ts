// bun bench/slow-syncs.ts <ms> <command…>
//
// Runs a command whose fsync and fdatasync, in whatever thread, each begin <ms> later, as on a slow disk. A seccomp
// filter hands these two calls to a tracer (ptrace, through bun:ffi), so nothing has to be installed; no other call
// of the command is stopped. Linux, x64 and arm64, as an ordinary user too.
import { dlopen, FFIType, type Pointer, ptr, read } from "bun:ffi";

/** asm/unistd.h, linux/audit.h */
const MACHINES: Readonly<Record<string, { audit: number; fsync: number; fdatasync: number }>> = {
  x64: { audit: 0xc000_003e, fsync: 74, fdatasync: 75 },
  arm64: { audit: 0xc000_00b7, fsync: 82, fdatasync: 83 },
};

// linux/prctl.h, linux/seccomp.h, linux/bpf_common.h
const PR_SET_PDEATHSIG = 1;
const PR_SET_SECCOMP = 22;
const PR_SET_NO_NEW_PRIVS = 38;
const SECCOMP_MODE_FILTER = 2;
const SECCOMP_RET_TRACE = 0x7ff0_0000;
const SECCOMP_RET_ALLOW = 0x7fff_0000;
const LOAD_WORD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const RETURN = 0x06;
/** Where struct seccomp_data has them. */
const NUMBER_AT = 0;
const MACHINE_AT = 4;

// linux/ptrace.h, linux/wait.h
const PTRACE_CONT = 7;
const PTRACE_SEIZE = 0x4206;
const PTRACE_EVENT_SECCOMP = 7;
/** FORK, VFORK, CLONE, SECCOMP, EXITKILL: every thread it makes is followed, and none outlives this process. */
const OPTIONS = 0x2 | 0x4 | 0x8 | 0x80 | 0x100000;
const WNOHANG = 1;
const WALL = 0x40000000;
const EINTR = 4;
const SIGKILL = 9;

/** How exactly a delay ends. Meanwhile a thread that a signal stops waits as long. */
const POLL_US = 500;

const machine = MACHINES[process.arch];
if (process.platform !== "linux" || machine === undefined) {
  fail(`Syncs are slowed down on Linux, x64 and arm64; not on ${process.platform}, ${process.arch}.`);
}

const { symbols: libc } = dlopen("libc.so.6", {
  ptrace: { args: [FFIType.i32, FFIType.i32, FFIType.u64, FFIType.u64], returns: FFIType.i64_fast },
  waitpid: { args: [FFIType.i32, FFIType.ptr, FFIType.i32], returns: FFIType.i32 },
  prctl: { args: [FFIType.i32, FFIType.u64, FFIType.u64, FFIType.u64, FFIType.u64], returns: FFIType.i32 },
  usleep: { args: [FFIType.u32], returns: FFIType.i32 },
  __errno_location: { args: [], returns: FFIType.ptr },
});
const errnoAt = libc.__errno_location() as Pointer;

const [delay = "", ...command] = process.argv.slice(2);
const delayMs = Number(delay);

/** For this thread and all that it starts. Without a tracer the two calls would fail, so it must come first. */
function installFilter({ audit, fsync, fdatasync }: NonNullable<typeof machine>): void {
  const program: readonly (readonly [code: number, ifTrue: number, ifFalse: number, value: number])[] = [
    [LOAD_WORD, 0, 0, MACHINE_AT],
    [JUMP_IF_EQUAL, 0, 3, audit],
    [LOAD_WORD, 0, 0, NUMBER_AT],
    [JUMP_IF_EQUAL, 2, 0, fsync],
    [JUMP_IF_EQUAL, 1, 0, fdatasync],
    [RETURN, 0, 0, SECCOMP_RET_ALLOW],
    [RETURN, 0, 0, SECCOMP_RET_TRACE],
  ];
  const instructions = new DataView(new ArrayBuffer(program.length * 8));
  for (const [nth, [code, ifTrue, ifFalse, value]] of program.entries()) {
    instructions.setUint16(nth * 8, code, true);
    instructions.setUint8(nth * 8 + 2, ifTrue);
    instructions.setUint8(nth * 8 + 3, ifFalse);
    instructions.setUint32(nth * 8 + 4, value, true);
  }
  const filter = new DataView(new ArrayBuffer(16));
  filter.setUint16(0, program.length, true);
  filter.setBigUint64(8, BigInt(ptr(instructions)), true);
  if (
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) !== 0 ||
    libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ptr(filter), 0, 0) !== 0
  )
    fail(`seccomp is refused: errno ${read.i32(errnoAt)}.`);
}

// A buffer made explicitly: the engine may move the memory of a small typed array that has none of its own.
const waited = new DataView(new ArrayBuffer(4));
const waitedAt = ptr(waited);
/** Threads that stand before a sync, the one that may go first in front. */
const held: { readonly thread: number; readonly untilMs: number }[] = [];

/** A traced thread that stopped or ended; while some are held, undefined after a moment without any. */
function nextStop(): { thread: number; status: number } | undefined {
  for (;;) {
    const thread = libc.waitpid(-1, waitedAt, held.length > 0 ? WALL | WNOHANG : WALL);
    if (thread > 0) return { thread, status: waited.getInt32(0, true) };
    if (thread < 0 && read.i32(errnoAt) !== EINTR) process.exit(0);
    if (thread === 0) {
      libc.usleep(POLL_US);
      return undefined;
    }
  }
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}

libc.prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
installFilter(machine);
// The shell waits for a line, so that it is traced before it becomes the command; without one it ends.
const child = Bun.spawn(["/bin/sh", "-c", 'read -r _ && exec "$@"', "sh", ...command], {
  stdio: ["pipe", "inherit", "inherit"],
});
if (libc.ptrace(PTRACE_SEIZE, child.pid, 0, OPTIONS) !== 0) {
  fail(`ptrace is refused: errno ${read.i32(errnoAt)}. A container may need --cap-add=SYS_PTRACE.`);
}
await child.stdin.write("\n");
await child.stdin.end();

for (;;) {
  const stop = nextStop();
  const nowMs = performance.now();
  while (held[0] !== undefined && held[0].untilMs <= nowMs)
    libc.ptrace(PTRACE_CONT, held.shift()?.thread ?? 0, 0, 0);
  if (stop === undefined) continue;
  const { thread, status } = stop;
  const isStopped = (status & 0xff) === 0x7f;
  if (!isStopped) {
    if (thread === child.pid) process.exit((status & 0x7f) === 0 ? (status >> 8) & 0xff : 1);
  } else if (status >> 16 === PTRACE_EVENT_SECCOMP) {
    held.push({ thread, untilMs: nowMs + delayMs });
  } else {
    // Any other stop is the tracer's own business, except for a signal, which is passed on.
    libc.ptrace(PTRACE_CONT, thread, 0, status >> 16 === 0 ? (status >> 8) & 0xff : 0);
  }
}
