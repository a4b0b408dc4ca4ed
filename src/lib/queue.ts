import { createFairShares } from "./fair-shares.ts";

export interface QueueOptions {
  /** How much work runs at the same time. */
  readonly atOnce: number;
  /** How much may wait. */
  readonly waiting: number;
  /** How many places each sharer may have, running or waiting. Default: no more than it leaves free. */
  readonly share?: number;
}

/**
 * Runs expensive work in the order of arrival. Resolves with undefined if too much waits already, or if one of the
 * `sharers` of the work has used its share.
 */
export function createQueue({ atOnce, waiting: maxWaiting, share }: QueueOptions) {
  const waiting: (() => void)[] = [];
  const enter = createFairShares(atOnce + maxWaiting, share);
  let running = 0;

  return async <T>(work: () => Promise<T>, sharers: readonly string[] = []): Promise<T | undefined> => {
    const leave = enter(sharers);
    if (leave === undefined) return undefined;
    if (running < atOnce) running++;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      leave();
      // The next one gets the place directly, so that nobody else takes it first.
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}

/** Returns a function that runs work of the same key one after the other, and other work immediately. */
export function createLines() {
  const last = new Map<string, Promise<unknown>>();

  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const before = last.get(key);
    const running = before === undefined ? work() : before.then(work, work);
    last.set(key, running);
    try {
      return await running;
    } finally {
      if (last.get(key) === running) last.delete(key);
    }
  };
}
