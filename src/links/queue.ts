export interface QueueLimits {
  /** How many are served at the same time. */
  readonly atOnce: number;
  /** How many may wait for that. */
  readonly waiting: number;
}

/** Does a costly work for some at a time, in the order in which they came. Undefined if too many wait already. */
export function createQueue({ atOnce, waiting: maxWaiting }: QueueLimits) {
  const waiting: (() => void)[] = [];
  let served = 0;

  return async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    if (served < atOnce) served++;
    else if (waiting.length >= maxWaiting) return undefined;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The place is left to the next one, so that nobody else takes it first.
      const next = waiting.shift();
      if (next === undefined) served--;
      else next();
    }
  };
}
