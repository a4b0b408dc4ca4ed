import { readdirSync } from "node:fs";

// From Linux's asm-generic/socket.h and linux/filter.h.
const SOL_SOCKET = 1;
const SO_ACCEPTCONN = 30;
const SO_ATTACH_REUSEPORT_CBPF = 51;
const LOAD_WORD = 0x20;
const RANDOM = 0xff_ff_f0_38;
const MODULO = 0x94;
const ADD = 0x04;
const RETURN = 0x16;
const LIBRARIES = ["libc.so.6", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"];

/**
 * So many of the processes that share a port, from the one that began to listen as the `first` (from 0). When one stops
 * listening, the last one takes its place.
 */
export interface Places {
  readonly first: number;
  readonly count: number;
}

/** No process has this place, so the kernel spreads connections as usual. Otherwise some would get none. */
export const ANYWHERE: Places = { first: 0xff_ff_ff_ff, count: 1 };

/**
 * Sends all new connections of the ports that this process listens on to some of the processes that share them.
 * A process that closes its listening socket resets the connections that wait in it, so before that, they have to go to others.
 * Should those be gone, the kernel spreads connections as usual.
 * Returns false where the system cannot do this: only Linux can.
 */
export async function steerConnections({ first, count }: Places): Promise<boolean> {
  if (process.platform !== "linux") return false;
  const { ptr } = await import("bun:ffi");
  const libc = await openLibc();
  if (libc === undefined) return false;
  const steps = [
    [LOAD_WORD, RANDOM],
    [MODULO, count],
    [ADD, first],
    [RETURN, 0],
  ] as const;
  // struct sock_filter: a 16-bit code, two jumps of 8 bits, and a 32-bit operand.
  const filter = new Uint32Array(steps.flat());
  const program = new BigUint64Array([BigInt(steps.length), BigInt(ptr(filter))]);
  const isListening = new Int32Array(1);
  const length = new Uint32Array(1);
  let isSteered = false;
  for (const name of readdirSync("/proc/self/fd")) {
    const socket = Number(name);
    length[0] = isListening.byteLength;
    const isSocket = libc.getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, isListening, length) === 0;
    if (!isSocket || isListening[0] !== 1) continue;
    // Fails for a port that is not shared.
    if (libc.setsockopt(socket, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, program, program.byteLength) === 0)
      isSteered = true;
  }
  return isSteered;
}

async function openLibc() {
  const { dlopen } = await import("bun:ffi");
  for (const library of LIBRARIES) {
    try {
      return dlopen(library, {
        getsockopt: { args: ["int", "int", "int", "ptr", "ptr"], returns: "int" },
        setsockopt: { args: ["int", "int", "int", "ptr", "u32"], returns: "int" },
      }).symbols;
    } catch {
      // Another C library, maybe.
    }
  }
  return undefined;
}
