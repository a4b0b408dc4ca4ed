export interface QueueLimits {
  /** How many are served at the same time. */
  readonly atOnce: number;
  /** How many may wait for that. */
  readonly waiting: number;
  /** How many places each sharer may have, served or waiting. */
  readonly share?: number;
}

/**
 * Runs expensive work for some at a time, in the order in which they came. Undefined if too many wait already, or if one of
 * the `sharers` of the work has its share of the places.
 */
export function createQueue({ atOnce, waiting: maxWaiting, share = Number.POSITIVE_INFINITY }: QueueLimits) {
  const waiting: (() => void)[] = [];
  const places = new Map<string, number>();
  let served = 0;

  function addPlaces(sharers: readonly string[], added: 1 | -1): void {
    for (const sharer of sharers) {
      const count = (places.get(sharer) ?? 0) + added;
      if (count === 0) places.delete(sharer);
      else places.set(sharer, count);
    }
  }

  return async <T>(work: () => Promise<T>, sharers: readonly string[] = []): Promise<T | undefined> => {
    if (sharers.some((sharer) => (places.get(sharer) ?? 0) >= share)) return undefined;
    if (served >= atOnce && waiting.length >= maxWaiting) return undefined;
    addPlaces(sharers, 1);
    if (served < atOnce) served++;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      addPlaces(sharers, -1);
      // The place is left to the next one, so that nobody else takes it first.
      const next = waiting.shift();
      if (next === undefined) served--;
      else next();
    }
  };
}
