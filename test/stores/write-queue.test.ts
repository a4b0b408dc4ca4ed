import { expect, test } from "bun:test";

import { createWriteQueue } from "../../src/store/sqlite/write-queue.ts";
import { StoreBusy, type TimedTask } from "../../src/store/sqlite/write-task.ts";
import { stopClock } from "../stopped-clock.ts";

test("a create that already waited for others waits for a lock only as long as is left", async () => {
  const turns: TimedTask[] = [];
  const { perform } = createWriteQueue({ perform: async (turn) => void turns.push(turn) });
  const askedAgoMs = [0, 4000, 60_000];
  for (const agoMs of askedAgoMs) await perform({ type: "insert", links: "[]" }, performance.now() - agoMs);
  const [fresh = 0, late = 0, tooLate] = turns.map(({ waitMs }) => waitMs);
  expect(fresh).toBeGreaterThan(1000);
  expect(late).toBeLessThanOrEqual(1000);
  expect(tooLate).toBe(0);
});

test("a create is not held up by a background task that waits for a lock", async () => {
  const turns: string[] = [];
  let isLocked = true;
  async function performOne({ type }: TimedTask): Promise<void> {
    turns.push(type);
    if (type === "purge" && isLocked) throw new StoreBusy("locked");
  }
  const { perform } = createWriteQueue({ perform: performOne }, 60_000);
  const purged = perform({ type: "purge", endedByMs: 1, limit: 1 });
  await perform({ type: "insert", links: "[]" });
  isLocked = false;
  await purged;
  expect(turns.filter((type) => type === "insert")).toHaveLength(1);
  expect(turns.slice(turns.indexOf("insert"))).toEqual(["insert", "purge"]);
});

test("a background task waits for a lock for longer than a create, but not forever", async () => {
  using clock = stopClock();
  const thread = {
    async perform() {
      clock.advance(1000);
      throw new StoreBusy("locked");
    },
  };
  const [createWaitMs, sinceMs] = [5000, performance.now()];
  const { perform } = createWriteQueue(thread, createWaitMs);
  const failed = await perform({ type: "purge", endedByMs: 1, limit: 1 }).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(StoreBusy);
  expect(performance.now() - sinceMs).toBeGreaterThan(1.5 * createWaitMs);
});
