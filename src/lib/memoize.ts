/** Real headers need far fewer entries and characters. The limits keep an attacker from filling the memory. */
const MAX_TEXTS = 1000;
const MAX_LENGTH = 512;

/**
 * Remembers the results of `read`. Most requests repeat a few header values, and parsing those is expensive. If `tooLong`
 * is given, it is the result for every text that is too long to be remembered, which is not read at all.
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

/** Makes a value when it is first needed. For what takes time or memory that a start can do without. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
