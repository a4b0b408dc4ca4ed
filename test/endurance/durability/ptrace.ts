// A tracer of system calls that needs nothing installed: ptrace through bun:ffi. A seccomp filter stops the traced
// program only at the requested calls. Linux 5.3 or newer, x64 and arm64. The program is a child, never
// attached to from outside, so an ordinary user may trace it under Yama's ptrace_scope=1.
import { dlopen, FFIType, type Pointer, ptr, read } from "bun:ffi";

/** asm/unistd.h and linux/audit.h */
const MACHINES: Readonly<Record<string, { audit: number; numbers: Readonly<Record<string, number>> }>> = {
  x64: {
    audit: 0xc000_003e,
    numbers: {
      write: 1,
      pwrite64: 18,
      writev: 20,
      sendto: 44,
      sendmsg: 46,
      fsync: 74,
      fdatasync: 75,
      ftruncate: 77,
      rename: 82,
      link: 86,
      unlink: 87,
      openat: 257,
      unlinkat: 263,
      renameat: 264,
      linkat: 265,
      renameat2: 316,
    },
  },
  // There is no unlink, link or rename here: they are calls of unlinkat, linkat and renameat.
  arm64: {
    audit: 0xc000_00b7,
    numbers: {
      unlinkat: 35,
      linkat: 37,
      renameat: 38,
      ftruncate: 46,
      openat: 56,
      write: 64,
      writev: 66,
      pwrite64: 68,
      fsync: 82,
      fdatasync: 83,
      sendto: 206,
      sendmsg: 211,
      renameat2: 276,
    },
  },
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
/** Offsets in struct seccomp_data. */
const NUMBER_AT = 0;
const MACHINE_AT = 4;

// linux/ptrace.h, linux/wait.h
const PTRACE_POKEUSER = 6;
const PTRACE_CONT = 7;
const PTRACE_SYSCALL = 24;
const PTRACE_GETREGSET = 0x4204;
const PTRACE_SETREGSET = 0x4205;
const PTRACE_SEIZE = 0x4206;
const PTRACE_GET_SYSCALL_INFO = 0x420e;
const PTRACE_EVENT_SECCOMP = 7;
/** SYSGOOD, FORK, VFORK, CLONE, SECCOMP, EXITKILL: every thread is followed, and none outlives the tracer. */
const OPTIONS = 0x1 | 0x2 | 0x4 | 0x8 | 0x80 | 0x100000;
const SYSCALL_STOP = 5 | 0x80;
const WNOHANG = 1;
const WALL = 0x40000000;
const SIGKILL = 9;
/** The thread was killed while it was stopped. */
const ESRCH = 3;
const EINTR = 4;

/** Offsets in struct user of x64, and register sets of arm64 (linux/elf.h). */
const ORIG_RAX = 15 * 8;
const RAX = 10 * 8;
const NT_PRSTATUS = 1;
const NT_ARM_SYSTEM_CALL = 0x404;
/** Of struct user_pt_regs of arm64. */
const REGISTERS_BYTES = 34 * 8;

/** How exactly a delay ends. */
const POLL_US = 500;

/** A thread stopped in front of a call. */
export interface Call {
  readonly thread: number;
  /** As in asm/unistd.h. */
  readonly name: string;
  readonly argument: (index: number) => number;
}

/** How to treat a call: delay it, read its result before the thread continues (if it succeeds), or let it fail. */
export interface Reaction {
  readonly delayMs?: number;
  readonly onResult?: (result: number) => void;
  /** The call doesn't happen, and fails with this number of asm/errno.h. */
  readonly error?: number;
}

/** In the process that becomes the traced program: names of the calls, then the command. */
if (import.meta.main) await becomeTraced(process.argv[2]?.split(",") ?? [], process.argv.slice(3));

/**
 * Runs a command and calls `onCall` in front of each call that has one of these names, in whatever thread or child
 * process. Resolves with its exit code. It blocks this thread, so timers do not run; `limitSeconds` ends both.
 */
export async function trace(
  command: readonly string[],
  names: readonly string[],
  onCall: (call: Call) => Reaction | undefined,
  limitSeconds = 0,
): Promise<number> {
  const { numbers } = machine();
  const nameOf = new Map(Object.entries(numbers).map(([name, number]) => [number, name]));
  const { libc, errno } = openLibc();
  /** struct ptrace_syscall_info: from 24 the number and the arguments, or the result. */
  const info = new DataView(new ArrayBuffer(88));
  const word = (index: number) => Number(info.getBigInt64(24 + index * 8, true));
  // A buffer made explicitly: the engine may move the memory of a small typed array that has none of its own.
  const waited = new DataView(new ArrayBuffer(4));
  const waiting = new Map<number, (result: number) => void>();
  /** Threads that wait in front of a call. */
  let delayed: { readonly thread: number; readonly untilMs: number }[] = [];

  /** False when the thread has been killed meanwhile. */
  function readInfo(thread: number): boolean {
    if (libc.ptrace(PTRACE_GET_SYSCALL_INFO, thread, info.byteLength, ptr(info)) > 0) return true;
    if (errno() === ESRCH) return false;
    throw new Error(`PTRACE_GET_SYSCALL_INFO is refused: errno ${errno()}. Linux 5.3 or newer is needed.`);
  }

  /** A traced thread that stopped or ended; undefined when none did for a moment while others are delayed. */
  function nextStop(): { thread: number; status: number } | undefined {
    for (;;) {
      const thread = libc.waitpid(-1, ptr(waited), delayed.length > 0 ? WALL | WNOHANG : WALL);
      if (thread > 0) return { thread, status: waited.getInt32(0, true) };
      if (thread < 0 && errno() !== EINTR) throw new Error(`waitpid failed: errno ${errno()}`);
      if (thread < 0) continue;
      libc.usleep(POLL_US);
      return undefined;
    }
  }

  /** Skips the call in front of which the thread stands. */
  function failCall(thread: number, error: number): void {
    const set = (request: number, which: number, value: number | bigint) => {
      if (libc.ptrace(request, thread, which, value) !== 0)
        throw new Error(`ptrace failed: errno ${errno()}`);
    };
    if (process.arch === "x64") {
      set(PTRACE_POKEUSER, ORIG_RAX, 0xffff_ffff_ffff_ffffn);
      set(PTRACE_POKEUSER, RAX, BigInt.asUintN(64, BigInt(-error)));
      return;
    }
    const registers = new DataView(new ArrayBuffer(REGISTERS_BYTES));
    const vector = new BigUint64Array(new ArrayBuffer(16));
    vector.set([BigInt(ptr(registers)), BigInt(REGISTERS_BYTES)]);
    set(PTRACE_GETREGSET, NT_PRSTATUS, ptr(vector));
    registers.setBigInt64(0, BigInt(-error), true);
    set(PTRACE_SETREGSET, NT_PRSTATUS, ptr(vector));
    registers.setInt32(0, -1, true);
    vector.set([BigInt(ptr(registers)), 4n]);
    set(PTRACE_SETREGSET, NT_ARM_SYSTEM_CALL, ptr(vector));
  }

  function resume(thread: number, signal = 0): void {
    libc.ptrace(waiting.has(thread) ? PTRACE_SYSCALL : PTRACE_CONT, thread, 0, signal);
  }

  function onStop(thread: number, event: number, signal: number): void {
    if (event === PTRACE_EVENT_SECCOMP && readInfo(thread)) {
      const name = nameOf.get(word(0)) ?? "";
      const call = { thread, name, argument: (index: number) => word(index + 1) };
      const { delayMs = 0, onResult, error } = onCall(call) ?? {};
      if (error !== undefined) failCall(thread, error);
      if (onResult !== undefined) waiting.set(thread, onResult);
      if (delayMs > 0) {
        delayed.push({ thread, untilMs: performance.now() + delayMs });
        return;
      }
    }
    if (signal === SYSCALL_STOP && readInfo(thread)) {
      const onResult = waiting.get(thread);
      waiting.delete(thread);
      if (word(0) >= 0) onResult?.(word(0));
    }
    // Events and calls are the tracer's own business; a signal is passed on.
    resume(thread, event === 0 && signal !== SYSCALL_STOP ? signal : 0);
  }

  libc.prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  libc.alarm(limitSeconds);
  // It waits for a line, so that it is traced before it becomes the command; without one it ends.
  const child = Bun.spawn([process.execPath, import.meta.path, names.join(","), ...command], {
    stdio: ["pipe", "inherit", "inherit"],
  });
  if (libc.ptrace(PTRACE_SEIZE, child.pid, 0, OPTIONS) !== 0)
    throw new Error(`ptrace is refused: errno ${errno()}. A container may need --cap-add=SYS_PTRACE.`);
  await child.stdin.write("\n");
  await child.stdin.end();
  for (;;) {
    const stop = nextStop();
    const due = delayed.filter(({ untilMs }) => untilMs <= performance.now());
    delayed = delayed.filter((one) => !due.includes(one));
    for (const { thread } of due) resume(thread);
    if (stop === undefined) continue;
    const { thread, status } = stop;
    const signal = (status >> 8) & 0xff;
    if ((status & 0xff) === 0x7f) {
      onStop(thread, status >> 16, signal);
    } else {
      // It ended, by itself or by a signal.
      waiting.delete(thread);
      if (thread === child.pid) return (status & 0x7f) === 0 ? signal : 128 + (status & 0x7f);
    }
  }
}

/** Installs the filter and becomes the command. Without a tracer the filtered calls would fail. */
async function becomeTraced(names: readonly string[], command: readonly string[]): Promise<void> {
  if ((await Bun.stdin.stream().getReader().read()).done) process.exit(1);
  const { libc, errno } = openLibc();
  const program = filterProgram(names);
  const filter = new DataView(new ArrayBuffer(16));
  filter.setUint16(0, program.byteLength / 8, true);
  filter.setBigUint64(8, BigInt(ptr(program)), true);
  if (
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) === 0 &&
    libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ptr(filter), 0, 0) === 0
  ) {
    const texts = command.map((text) => Buffer.from(`${text}\0`));
    const pointers = new BigUint64Array([...texts.map((text) => BigInt(ptr(text))), 0n]);
    libc.execvp(pointers[0] ?? 0n, ptr(pointers));
  }
  console.error(`${command[0]} cannot be traced: errno ${errno()}`);
  process.exit(1);
}

/** struct sock_filter[]: hands the calls with these names to the tracer and allows all others. */
function filterProgram(names: readonly string[]): DataView {
  const { audit, numbers } = machine();
  const stopped = Object.entries(numbers).filter(([name]) => names.includes(name));
  const program: readonly (readonly [code: number, ifTrue: number, ifFalse: number, value: number])[] = [
    [LOAD_WORD, 0, 0, MACHINE_AT],
    [JUMP_IF_EQUAL, 0, stopped.length + 1, audit],
    [LOAD_WORD, 0, 0, NUMBER_AT],
    ...stopped.map(([, number], nth) => [JUMP_IF_EQUAL, stopped.length - nth, 0, number] as const),
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
  return instructions;
}

function machine() {
  const found = process.platform === "linux" ? MACHINES[process.arch] : undefined;
  if (found !== undefined) return found;
  throw new Error(
    `System calls are traced on Linux, x64 and arm64; not on ${process.platform}, ${process.arch}.`,
  );
}

function openLibc() {
  const { symbols: libc } = dlopen("libc.so.6", {
    ptrace: { args: [FFIType.i32, FFIType.i32, FFIType.u64, FFIType.u64], returns: FFIType.i64_fast },
    waitpid: { args: [FFIType.i32, FFIType.ptr, FFIType.i32], returns: FFIType.i32 },
    prctl: {
      args: [FFIType.i32, FFIType.u64, FFIType.u64, FFIType.u64, FFIType.u64],
      returns: FFIType.i32,
    },
    execvp: { args: [FFIType.u64, FFIType.ptr], returns: FFIType.i32 },
    usleep: { args: [FFIType.u32], returns: FFIType.i32 },
    alarm: { args: [FFIType.u32], returns: FFIType.u32 },
    __errno_location: { args: [], returns: FFIType.ptr },
  });
  const errnoAt = libc.__errno_location() as Pointer;
  return { libc, errno: () => read.i32(errnoAt) };
}
