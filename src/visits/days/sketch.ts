/**
 * The `size` smallest hashes of visitors, to estimate their number (a bottom-k sketch: Bar-Yossef et al., 2002; Cohen
 * and Kaplan, 2007). Exact below `size`; above, the relative error is about 1/√size. The hashes are uint32, sorted,
 * without duplicates.
 */
export type Sketch = number[];

const HASHES = 2 ** 32;

export function addToSketch(sketch: Sketch, hash: number, size: number): void {
  let low = 0;
  let high = sketch.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sketch[middle] ?? 0) < hash) low = middle + 1;
    else high = middle;
  }
  if (low >= size || sketch[low] === hash) return;
  for (let at = Math.min(sketch.length, size - 1); at > low; at--) sketch[at] = sketch[at - 1] ?? 0;
  sketch[low] = hash;
}

/** Adds the visitors of another sketch. */
export function mergeSketches(sketch: Sketch, added: Sketch, size: number): void {
  for (const hash of added) addToSketch(sketch, hash, size);
}

export function estimate(sketch: Sketch, size: number): number {
  const largest = sketch.at(-1);
  if (largest === undefined || sketch.length < size) return sketch.length;
  return Math.round(((size - 1) * HASHES) / (largest + 1));
}
