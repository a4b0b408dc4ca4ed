/** In texts, and in characters of one: what browsers send fits many times over. */
const MAX_TEXTS = 1000;
const MAX_LENGTH = 512;

/** Reads each text once: a few header values come again and again, and reading them costs. */
export function memoize<T>(read: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const result = read(text);
    if (known.size >= MAX_TEXTS) known.clear();
    if (text.length <= MAX_LENGTH) known.set(text, result);
    return result;
  };
}
