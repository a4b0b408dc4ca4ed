import { expect } from "bun:test";

import type { Program } from "../../service.ts";

/** What is promised: every process applies a change within a second of its answer. */
const PROMISED_MS = 1000;
const CONNECTIONS = 6;
/** Between two requests of a client: each process is asked many times in that second, and has time to apply the change. */
const PAUSE_MS = 10;
export const PROCESSES = 4;
/** So many answers over new connections come from all processes. */
const ENOUGH = 30 * PROCESSES;
/** On a busy machine, a process may get no time in that second. It will rarely happen again. */
const MAX_LATE = 2;
/** A process that has not applied a change by then never will. */
const NEVER_MS = 60_000;

export interface Change {
  readonly code: string;
  /** Returns when it has been answered. */
  readonly change: () => Promise<unknown>;
}

type Answer = Pick<Response, "status"> & { readonly location: string | null };

/** Follows a link again and again, each time over a new connection, so that every process is asked. */
export function follow(program: Program, code: string, onAnswer: (answer: Answer, askedMs: number) => void) {
  const following = { isDone: false, count: 0 };
  async function goOn(): Promise<void> {
    while (!following.isDone) {
      const askedMs = performance.now();
      const { status, headers } = await program.fetch(`/${code}`, { headers: { Connection: "close" } });
      following.count++;
      onAnswer({ status, location: headers.get("location") }, askedMs);
      await Bun.sleep(PAUSE_MS);
    }
  }
  const all = Promise.all(Array.from({ length: CONNECTIONS }, goOn));
  return {
    async untilEnough(): Promise<void> {
      const enough = following.count + ENOUGH;
      while (following.count < enough) await Bun.sleep(10);
    },
    async stop(): Promise<void> {
      following.isDone = true;
      await all;
    },
  };
}

/**
 * Makes changes under load until so many of them were applied by all processes in time. Each must have been applied in the end.
 * `isFormer`: as it was before the change. Returns the longest time that one took, in milliseconds.
 */
export async function applyInTime(
  program: Program,
  rounds: number,
  begin: (round: number) => Promise<Change>,
  isFormer: (answer: Answer, round: number) => boolean,
): Promise<number> {
  let longestMs = 0;
  for (let round = 0, late = 0; round - late < rounds; round++) {
    const { code, change } = await begin(round);
    let lastFormerMs = 0;
    const load = follow(program, code, (answer, askedMs) => {
      if (isFormer(answer, round)) lastFormerMs = Math.max(lastFormerMs, askedMs);
    });
    await load.untilEnough();
    await change();
    const answeredMs = performance.now();
    while (performance.now() < Math.max(answeredMs, lastFormerMs) + PROMISED_MS) {
      expect(lastFormerMs - answeredMs).toBeLessThan(NEVER_MS);
      await Bun.sleep(10);
    }
    await load.untilEnough();
    await load.stop();
    expect(lastFormerMs).toBeGreaterThan(0);
    longestMs = Math.max(longestMs, lastFormerMs - answeredMs);
    if (lastFormerMs - answeredMs >= PROMISED_MS) late++;
    expect(late).toBeLessThanOrEqual(MAX_LATE);
  }
  return longestMs;
}
