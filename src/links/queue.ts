export interface QueueOptions {
  /** How much work runs at the same time. */
  readonly atOnce: number;
  /** How much may wait. */
  readonly waiting: number;
  /** How many places each sharer may have, running or waiting. */
  readonly share?: number;
}

/**
 * Runs expensive work in the order of arrival. Resolves with undefined if too much waits already, or if one of the
 * `sharers` of the work has used its share.
 */
export function createQueue({ atOnce, waiting: maxWaiting, share = Number.POSITIVE_INFINITY }: QueueOptions) {
  const waiting: (() => void)[] = [];
  const places = new Map<string, number>();
  let running = 0;

  function addPlaces(sharers: readonly string[], added: 1 | -1): void {
    for (const sharer of sharers) {
      const count = (places.get(sharer) ?? 0) + added;
      if (count === 0) places.delete(sharer);
      else places.set(sharer, count);
    }
  }

  return async <T>(work: () => Promise<T>, sharers: readonly string[] = []): Promise<T | undefined> => {
    if (sharers.some((sharer) => (places.get(sharer) ?? 0) >= share)) return undefined;
    if (running >= atOnce && waiting.length >= maxWaiting) return undefined;
    addPlaces(sharers, 1);
    if (running < atOnce) running++;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      addPlaces(sharers, -1);
      // The next one gets the place directly, so that nobody else takes it first.
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}
