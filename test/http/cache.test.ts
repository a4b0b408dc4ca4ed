import { expect, test } from "bun:test";

import { createCache } from "../../src/http/redirect/cache.ts";

test("the cache is bounded and keeps the entries that are used", () => {
  const cache = createCache<number>(2000, () => 1);
  for (let nth = 0; nth < 100; nth++) cache.set(`hot${nth}`, nth);
  for (let nth = 0; nth < 100_000; nth++) {
    cache.set(`cold${nth}`, nth);
    expect(cache.get(`hot${nth % 100}`)).toBe(nth % 100);
  }
  const kept = Array.from({ length: 100_000 }, (_, nth) => cache.get(`cold${nth}`)).filter(
    (value) => value !== undefined,
  );
  expect(kept.length).toBeLessThanOrEqual(2000);
});

test("setting one key repeatedly does not push others out", () => {
  const cache = createCache<number>(2000, () => 1);
  for (let nth = 0; nth < 500; nth++) cache.set(`hot${nth}`, nth);
  for (let nth = 0; nth < 10_000; nth++) cache.set("same", nth);
  for (let nth = 0; nth < 500; nth++) expect(cache.get(`hot${nth}`)).toBe(nth);
});
