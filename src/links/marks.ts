/** NFC combines at most this many marks with a character. Every other mark remains a code point. */
const MAX_COMPOSED_MARKS = 3;
const MARK = /^\p{M}$/u;

/**
 * Whether so many marks make a text longer than `max` code points, however they compose. Normalising long runs of marks takes
 * quadratic time, so check this first.
 */
export function hasMoreMarks(text: string, max: number): boolean {
  if (!/\p{M}/u.test(text)) return false;
  let run = 0;
  let remaining = 0;
  for (const character of text) {
    run = isSorted(character) ? run + 1 : 0;
    if (run > MAX_COMPOSED_MARKS) remaining++;
    if (remaining === max) return true;
  }
  return false;
}

/** Has marks only. Unicode has about 2,500. */
const sorted = new Map<string, boolean>();

/** Whether normalising can move a mark past others (its combining class is not 0). U+0345 has the highest class. */
function isSorted(character: string): boolean {
  if (!MARK.test(character)) return false;
  const known = sorted.get(character);
  if (known !== undefined) return known;
  const isMoved = character === "\u0345" || !`\u0345${character}`.normalize("NFD").startsWith("\u0345");
  sorted.set(character, isMoved);
  return isMoved;
}
