/** Far more than real headers need. The limits keep an attacker from filling the memory. */
const MAX_TEXTS = 1000;
const MAX_LENGTH = 512;

/**
 * Caches the results of `read`, because most requests repeat a few header values, and parsing is expensive. `tooLong` is the
 * result for texts that are too long to cache. Without it, those are read each time.
 */
export function memoize<T>(read: (text: string) => T, tooLong?: T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    if (tooLong !== undefined && text.length > MAX_LENGTH) return tooLong;
    const before = known.get(text);
    if (before !== undefined) return before;
    const result = read(text);
    if (known.size >= MAX_TEXTS) known.clear();
    if (text.length <= MAX_LENGTH) known.set(text, result);
    return result;
  };
}

/** Creates a value at its first use, which keeps expensive values out of the start. */
export function once<T>(create: () => T): () => T {
  let result: { readonly value: T } | undefined;
  return () => (result ??= { value: create() }).value;
}
