/**
 * A map with a maximum weight that drops entries that were not used recently.
 *
 * It has two generations. Entries that are used move to the young one. When that is full, the old generation is dropped
 * and the young one becomes the old one. This is cheaper than an exact LRU: most hits cost a single look-up.
 */
export function createCache<V>(maxWeight: number, weigh: (key: string, value: V) => number) {
  let young = new Map<string, V>();
  let old = new Map<string, V>();
  let youngWeight = 0;

  function set(key: string, value: V): void {
    const replaced = young.get(key);
    if (replaced !== undefined) youngWeight -= weigh(key, replaced);
    const weight = weigh(key, value);
    if (youngWeight + weight > maxWeight / 2) {
      old = young;
      young = new Map();
      youngWeight = 0;
    }
    young.set(key, value);
    youngWeight += weight;
  }

  return {
    get(key: string): V | undefined {
      const value = young.get(key);
      if (value !== undefined) return value;
      const aged = old.get(key);
      if (aged !== undefined) set(key, aged);
      return aged;
    },
    set,
    delete(key: string): void {
      const value = young.get(key);
      if (value !== undefined) youngWeight -= weigh(key, value);
      young.delete(key);
      old.delete(key);
    },
    clear(): void {
      young.clear();
      old.clear();
      youngWeight = 0;
    },
  };
}
