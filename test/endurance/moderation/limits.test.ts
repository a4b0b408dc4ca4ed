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
  Bun.gc(true);
  const beforeBytes = process.memoryUsage().rss;
  const limits = createRateLimits({ ...options, clock: { monotonicMs: () => 0 }, seed: 1n });
  for (const limit of Object.values(limits))
    for (let nth = 0; nth < 300_000; nth++) limit?.take(address(nth));
  Bun.gc(true);
  expect(process.memoryUsage().rss - beforeBytes).toBeLessThan(64 * 1024 * 1024);
});
