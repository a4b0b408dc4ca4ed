import { expect, test } from "bun:test";

import type { Code } from "../../src/links/code.ts";
import { counterOf } from "../../src/visits/recorder.ts";
import { halfSipHash, createVisitors, type Visitors } from "../../src/visits/visitor-numbers.ts";

const DAY_MS = 86_400_000;
const DAY = 20_000;
const NOON = DAY * DAY_MS + DAY_MS / 2;

function visitorsWith(requests: [number, number][]) {
  return createVisitors({
    async salt(day, oldest) {
      requests.push([day, oldest]);
      return new Uint8Array(32).fill(day % 251);
    },
  });
}

/** Identifies a visitor in a process that hasn't seen the link before. */
function identify(
  visitors: Visitors,
  address: string,
  agentHash = 7,
  nowMs = NOON,
  code = "a",
  createdMs = 5,
) {
  return visitors.identify(counterOf({ code: code as Code, createdMs }), address, agentHash, nowMs);
}

test("all processes identify a visitor by address and user agent for one day", async () => {
  const [one, other] = [visitorsWith([]), visitorsWith([])];
  for (const visitors of [one, other]) await visitors.prepare(NOON);
  const visitor = identify(one, "192.0.2.1");
  expect(identify(one, "192.0.2.1", 7, NOON + 5)).toBe(visitor);
  expect(identify(other, "192.0.2.1")).toBe(visitor);
  expect(identify(one, "192.0.2.2")).not.toBe(visitor);
  expect(identify(one, "192.0.2.1", 8)).not.toBe(visitor);
  const link = counterOf({ code: "a" as Code, createdMs: 5 });
  expect(one.identify(link, "192.0.2.1", 7, NOON)).toBe(visitor);
  await one.prepare(NOON + DAY_MS);
  expect(one.identify(link, "192.0.2.1", 7, NOON + DAY_MS)).not.toBe(visitor);
});

test("a visitor has unrelated identities on different links", async () => {
  const visitors = visitorsWith([]);
  await visitors.prepare(NOON);
  const here = identify(visitors, "192.0.2.1");
  const elsewhere = [
    identify(visitors, "192.0.2.1", 7, NOON, "b"),
    // A later link with the same code.
    identify(visitors, "192.0.2.1", 7, NOON, "a", 6),
  ];
  for (const there of elsewhere) expect(there).not.toBe(here);
  // The difference between two visitors isn't the same either.
  const others = [identify(visitors, "192.0.2.9"), identify(visitors, "192.0.2.9", 7, NOON, "b")];
  const [difference, differenceElsewhere] = [here, elsewhere[0]].map(
    (one, nth) => ((one ?? 0) ^ (others[nth] ?? 0)) >>> 0,
  );
  expect(difference).not.toBe(differenceElsewhere);
});

test("the hash agrees with a vector of HalfSipHash-2-4's reference implementation", () => {
  // Key 00 01 … 07, message 00 01 … 0b.
  expect(halfSipHash(0x0302_0100, 0x0706_0504, 0x0302_0100, 0x0706_0504, 0x0b0a_0908)).toBe(0x2f87_f057);
});

test("each day's salt is requested once, before the day starts", async () => {
  const requests: [number, number][] = [];
  const visitors = visitorsWith(requests);
  await visitors.prepare(NOON);
  await visitors.prepare(NOON + 60_000);
  expect(requests).toEqual([[DAY, DAY]]);
  const late = (DAY + 1) * DAY_MS - 1_800_000;
  await visitors.prepare(late);
  await visitors.prepare((DAY + 1) * DAY_MS + 60_000);
  expect(requests).toEqual([
    [DAY, DAY],
    [DAY + 1, DAY],
  ]);
});

test("a visitor's identity stays the same if the salt arrives after their visit", async () => {
  const { promise: salt, resolve: answer } = Promise.withResolvers<Uint8Array>();
  const visitors = createVisitors({ salt: () => salt });
  const preparing = visitors.prepare(NOON);
  const visitor = identify(visitors, "192.0.2.1");
  answer(new Uint8Array(32));
  await preparing;
  expect(identify(visitors, "192.0.2.1")).toBe(visitor);
});

test("a process uses a salt of its own until the store provides one", () => {
  const [one, other] = [visitorsWith([]), visitorsWith([])];
  const visitor = identify(one, "192.0.2.1");
  expect(identify(one, "192.0.2.1")).toBe(visitor);
  expect(identify(other, "192.0.2.1")).not.toBe(visitor);
});
