import { expect, test } from "bun:test";

import type { AgeBounds, VisitStore } from "../../src/visits/days/visit-store.ts";
import { ageVisits } from "../../src/visits/visits.ts";

const HOUR_MS = 3_600_000;
const DAY = 20_000;

/** A store with `due` rows to age, and the bounds of its calls. */
function storeWith(due: number) {
  const calls: AgeBounds[] = [];
  let remaining = due;
  const age: VisitStore["age"] = async (bounds, limit) => {
    calls.push(bounds);
    const aged = Math.min(remaining, limit);
    remaining -= aged;
    return aged;
  };
  return { store: { age } as VisitStore, calls };
}

const clockAt = (nowMs: number, trustworthy = () => true) => ({ nowMs: () => nowMs, trustworthy });

test("a day is closed an hour after its end, and deleted after the retention period", async () => {
  const early = storeWith(0);
  await ageVisits(early.store, clockAt(DAY * 24 * HOUR_MS + HOUR_MS / 2), 400);
  expect(early.calls).toEqual([{ closeBefore: DAY - 1, forgetBefore: DAY - 401 }]);
  const later = storeWith(0);
  await ageVisits(later.store, clockAt(DAY * 24 * HOUR_MS + 1.5 * HOUR_MS), 30);
  expect(later.calls).toEqual([{ closeBefore: DAY, forgetBefore: DAY - 30 }]);
});

test("ageing repeats batches until all rows are done, at most 100 times, and never with an untrusted clock", async () => {
  const some = storeWith(450);
  expect(await ageVisits(some.store, clockAt(DAY * 24 * HOUR_MS), 400)).toBe(450);
  expect(some.calls).toHaveLength(3);
  const endless = storeWith(Number.POSITIVE_INFINITY);
  await ageVisits(endless.store, clockAt(DAY * 24 * HOUR_MS), 400);
  expect(endless.calls).toHaveLength(100);
  const untrusted = storeWith(5);
  expect(
    await ageVisits(
      untrusted.store,
      clockAt(DAY * 24 * HOUR_MS, () => false),
      400,
    ),
  ).toBe(0);
  expect(untrusted.calls).toEqual([]);
});
