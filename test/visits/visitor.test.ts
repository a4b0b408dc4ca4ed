import { expect, test } from "bun:test";

import { createVisitors } from "../../src/visits/visitor.ts";

const DAY_MS = 86_400_000;
const DAY = 20_000;
const NOON = DAY * DAY_MS + DAY_MS / 2;

function visitorsWith(asked: [number, number][]) {
  return createVisitors({
    store: {
      async salt(day, oldest) {
        asked.push([day, oldest]);
        return new Uint8Array(32).fill(day % 251);
      },
    },
    fillRandom: (bytes) => void crypto.getRandomValues(bytes),
  });
}

test("visitors are told apart by address and by agent, for one day, by all processes alike", async () => {
  const [one, other] = [visitorsWith([]), visitorsWith([])];
  for (const visitors of [one, other]) await visitors.prepare(NOON);
  const hash = one.hash("192.0.2.1", 7, NOON);
  expect(one.hash("192.0.2.1", 7, NOON + 5)).toBe(hash);
  expect(other.hash("192.0.2.1", 7, NOON)).toBe(hash);
  expect(one.hash("192.0.2.2", 7, NOON)).not.toBe(hash);
  expect(one.hash("192.0.2.1", 8, NOON)).not.toBe(hash);
  await one.prepare(NOON + DAY_MS);
  expect(one.hash("192.0.2.1", 7, NOON + DAY_MS)).not.toBe(hash);
});

test("tomorrow's salt is there before tomorrow, and yesterday's is forgotten", async () => {
  const asked: [number, number][] = [];
  const visitors = visitorsWith(asked);
  await visitors.prepare(NOON);
  await visitors.prepare(NOON + 60_000);
  expect(asked).toEqual([[DAY, DAY]]);
  const late = (DAY + 1) * DAY_MS - 1_800_000;
  await visitors.prepare(late);
  await visitors.prepare((DAY + 1) * DAY_MS + 60_000);
  expect(asked).toEqual([
    [DAY, DAY],
    [DAY + 1, DAY],
  ]);
});

test("without the store a process has a salt of its own", () => {
  const [one, other] = [visitorsWith([]), visitorsWith([])];
  const hash = one.hash("192.0.2.1", 7, NOON);
  expect(one.hash("192.0.2.1", 7, NOON)).toBe(hash);
  expect(other.hash("192.0.2.1", 7, NOON)).not.toBe(hash);
});
