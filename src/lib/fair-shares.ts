/**
 * Hands out `places` to tasks that name their sharers, such as a client. A sharer gets at most `share` places. Without `share`,
 * it gets no more than it leaves free: the first one half, the second one a quarter, so a place remains for somebody else.
 * Returns a function that takes a place, and returns how to give it back, or undefined if there is none.
 */
export function createFairShares(places: number, share?: number) {
  const takenBy = new Map<string, number>();
  let free = places;

  function add(sharers: readonly string[], added: 1 | -1): void {
    free -= added;
    for (const sharer of sharers) {
      const taken = (takenBy.get(sharer) ?? 0) + added;
      if (taken === 0) takenBy.delete(sharer);
      else takenBy.set(sharer, taken);
    }
  }

  return (sharers: readonly string[]): (() => void) | undefined => {
    const most = share ?? free;
    if (free === 0 || sharers.some((sharer) => (takenBy.get(sharer) ?? 0) >= most)) return undefined;
    add(sharers, 1);
    return () => add(sharers, -1);
  };
}
