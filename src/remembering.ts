/** In texts, and in characters of one: what browsers send fits many times over. */
const MAX_TEXTS = 1000;
const MAX_LENGTH = 512;

/** Remembers what was made of a text: a few header values come again and again, and reading them costs. */
export function remembering<T>(read: (text: string) => T): (text: string) => T {
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
