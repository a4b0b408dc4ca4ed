import { expect, test } from "bun:test";

import { createTurns, type Turn } from "../../src/store/sqlite/turns.ts";

test("a create that already waited for others waits for a lock only as long as is left", async () => {
  const turns: Turn[] = [];
  const { perform } = createTurns({ perform: async (turn) => void turns.push(turn) });
  const askedAgoMs = [0, 4000, 60_000];
  for (const agoMs of askedAgoMs) await perform({ type: "insert", links: "[]" }, performance.now() - agoMs);
  const [fresh = 0, late = 0, tooLate] = turns.map(({ waitMs }) => waitMs);
  expect(fresh).toBeGreaterThan(1000);
  expect(late).toBeLessThanOrEqual(1000);
  expect(tooLate).toBe(0);
});
