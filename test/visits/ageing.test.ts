import { expect, test } from "bun:test";

import type { AgeBounds, VisitStore } from "../../src/visits/days/store.ts";
import { ageVisits } from "../../src/visits/visits.ts";

const HOUR_MS = 3_600_000;
const DAY = 20_000;

/** A store with so many days of links that are due, and what it was asked. */
function storeWith(due: number) {
  const asked: AgeBounds[] = [];
  let left = due;
  const age: VisitStore["age"] = async (bounds, limit) => {
    asked.push(bounds);
    const aged = Math.min(left, limit);
    left -= aged;
    return aged;
  };
  return { store: { age } as VisitStore, asked };
}

const clockAt = (nowMs: number, trustworthy = () => true) => ({ nowMs: () => nowMs, trustworthy });

test("a day closes an hour after its end, and goes later", async () => {
  const early = storeWith(0);
  await ageVisits(early.store, clockAt(DAY * 24 * HOUR_MS + HOUR_MS / 2), 400);
  expect(early.asked).toEqual([{ closeBefore: DAY - 1, forgetBefore: DAY - 401 }]);
  const later = storeWith(0);
  await ageVisits(later.store, clockAt(DAY * 24 * HOUR_MS + 1.5 * HOUR_MS), 30);
  expect(later.asked).toEqual([{ closeBefore: DAY, forgetBefore: DAY - 30 }]);
});

test("ageing goes on until all is done, within bounds, and not by a clock that cannot be trusted", async () => {
  const some = storeWith(450);
  expect(await ageVisits(some.store, clockAt(DAY * 24 * HOUR_MS), 400)).toBe(450);
  expect(some.asked).toHaveLength(3);
  const endless = storeWith(Number.POSITIVE_INFINITY);
  await ageVisits(endless.store, clockAt(DAY * 24 * HOUR_MS), 400);
  expect(endless.asked).toHaveLength(100);
  const wrong = storeWith(5);
  expect(
    await ageVisits(
      wrong.store,
      clockAt(DAY * 24 * HOUR_MS, () => false),
      400,
    ),
  ).toBe(0);
  expect(wrong.asked).toEqual([]);
});
