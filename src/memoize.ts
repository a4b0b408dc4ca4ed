/** In texts, and in characters of one: what browsers send fits many times over. */
const MAX_TEXTS = 1000;
const MAX_LENGTH = 512;

/**
 * Reads each text once: a few header values come again and again, and reading them costs. Where `tooLong` is given, it
 * stands for every text that is too long to be kept, which is not read at all.
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
