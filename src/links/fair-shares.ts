/**
 * Hands out `places` to work that names its sharers, such as a client. A sharer gets at most `share` places, or without that no
 * more than it leaves free: a first one gets half of all, a second one a quarter, and there is always one for somebody else.
 * Returns a function that gives the place back, or undefined if there is none.
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
