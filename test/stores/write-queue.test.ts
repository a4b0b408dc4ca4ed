import { expect, test } from "bun:test";

import { StoreBusy } from "../../src/store/sqlite/store-busy.ts";
import { createWriteQueue } from "../../src/store/sqlite/write-queue.ts";
import { stopClock } from "../support/stopped-clock.ts";

const NOTHING = undefined as never;

test("a create waits 5 s in all for its turn and for a lock; after that it tries once without waiting", async () => {
  const waitsMs: number[] = [];
  const { perform } = createWriteQueue({
    async perform(_type, _task, waitMs = 0) {
      waitsMs.push(waitMs);
      return NOTHING;
    },
  });
  const queuedAgoMs = [0, 4000, 60_000];
  for (const agoMs of queuedAgoMs) await perform("insert", { rows: "[]" }, performance.now() - agoMs);
  const [fresh = 0, late = 0, tooLate] = waitsMs;
  expect(fresh).toBeGreaterThan(1000);
  expect(late).toBeLessThanOrEqual(1000);
  expect(tooLate).toBe(0);
});

test("a create overtakes a background task that waits for a lock", async () => {
  const order: string[] = [];
  let isLocked = true;
  async function performOne(type: string): Promise<never> {
    order.push(type);
    if (type === "purge" && isLocked) throw new StoreBusy("locked");
    return NOTHING;
  }
  const { perform } = createWriteQueue({ perform: performOne }, 60_000);
  const purge = perform("purge", { endedByMs: 1, limit: 1 });
  await perform("insert", { rows: "[]" });
  isLocked = false;
  await purge;
  expect(order.filter((type) => type === "insert")).toHaveLength(1);
  expect(order.slice(order.indexOf("insert"))).toEqual(["insert", "purge"]);
});

test("a background task retries for longer than a create waits, then fails as busy", async () => {
  using clock = stopClock();
  const thread = {
    async perform() {
      clock.advance(1000);
      throw new StoreBusy("locked");
    },
  };
  const [createWaitMs, sinceMs] = [5000, performance.now()];
  const { perform } = createWriteQueue(thread, createWaitMs);
  const failed = await perform("purge", { endedByMs: 1, limit: 1 }).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(StoreBusy);
  expect(performance.now() - sinceMs).toBeGreaterThan(1.5 * createWaitMs);
});
