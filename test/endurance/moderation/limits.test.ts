import { expect, test } from "bun:test";

import { createRateLimits } from "../../../src/moderation/rate-limits.ts";

const CREATES = [
  { count: 30, ms: 60_000 },
  { count: 300, ms: 3_600_000 },
];

test("the memory of limits doesn't grow with the number of clients", () => {
  const address = (nth: number) => `2001:db8:${(nth >> 16).toString(16)}:${(nth & 0xffff).toString(16)}`;
  const windows = { limitCreate: CREATES, limitUnknown: CREATES, limitView: CREATES };
  const options = { ...windows, limitReport: CREATES, limitPasswords: CREATES };
  const limits = createRateLimits({ ...options, clock: { monotonicMs: () => 0 }, seed: 1n });
  function takeFrom(first: number): number {
    for (const limit of Object.values(limits))
      for (let nth = first; nth < first + 300_000; nth++) limit?.take(address(nth));
    Bun.gc(true);
    return process.memoryUsage().rss;
  }
  // The first clients fill the tables, and let the allocator take what it keeps.
  const beforeBytes = takeFrom(0);
  expect(takeFrom(300_000) - beforeBytes).toBeLessThan(64 * 1024 * 1024);
});
