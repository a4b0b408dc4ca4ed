import { expect, test } from "bun:test";

import { memoize } from "../../src/lib/memoize.ts";

/** As many texts as a cache holds, and one more. */
const texts = Array.from({ length: 1001 }, (_, nth) => `text ${nth}`);

function countReads() {
  const reads: string[] = [];
  const read = memoize((text) => {
    reads.push(text);
    return text.length;
  });
  return { reads, read };
}

test("a memoized function reads each of 1,000 texts once", () => {
  const { reads, read } = countReads();
  for (const text of [...texts.slice(0, 1000), ...texts.slice(0, 1000)]) expect(read(text)).toBe(text.length);
  expect(reads).toEqual(texts.slice(0, 1000));
});

test("a memoized function forgets all texts at the 1,001st", () => {
  const { reads, read } = countReads();
  for (const text of [...texts, "text 0"]) expect(read(text)).toBe(text.length);
  expect(reads).toEqual([...texts, "text 0"]);
});
