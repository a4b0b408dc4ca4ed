import { expect, test } from "bun:test";

import { peek } from "bun";

import type { Call } from "../../src/http/call.ts";
import { createLimiter } from "../../src/http/limits/limiter.ts";
import { createRefusalQueue } from "../../src/http/limits/refusal-queue.ts";
import { createRefusals } from "../../src/http/limits/refusals.ts";
import { createRateLimit } from "../../src/moderation/cell-rate.ts";
import { answerProblem } from "../../src/pages/problem/answer.ts";

const times = (count: number) => Array.from({ length: count }, (_, nth) => nth);

function queueAt() {
  let nowMs = 1_000_000;
  const next = createRefusalQueue({ monotonicMs: () => nowMs });
  return { next, advance: (ms: number) => void (nowMs += ms) };
}

test("the first hundred refusals don't wait, and then one leaves every 2 ms", () => {
  const { next } = queueAt();
  expect(times(100).map(next)).toEqual(times(100).map(() => 0));
  expect(times(300).map(next)).toEqual(times(300).map((nth) => 2 * (nth + 1)));
});

test("refusals don't wait again after a quiet moment", () => {
  const { next, advance } = queueAt();
  times(1000).forEach(next);
  advance(1800);
  expect(next()).toBe(2);
  advance(102);
  expect(times(51).map(next)).toEqual([...times(50).map(() => 0), 2]);
});

test("at most 4,000 refusals wait, for at most 8 s", () => {
  const { next, advance } = queueAt();
  times(100).forEach(next);
  const waits = times(10_000).map(next);
  expect(waits.filter((waitMs) => waitMs > 0)).toHaveLength(4000);
  expect(Math.max(...waits)).toBe(8000);
  advance(2);
  expect([next(), next()]).toEqual([8000, 0]);
});

test("a limiter holds back its refusals after the first hundred", () => {
  const clock = { monotonicMs: () => 0 };
  const unknown = createRateLimit([{ count: 1, ms: 3_600_000 }], { clock, seed: 1n });
  const counters = { count: () => {} };
  const limiter = createLimiter(
    { unknown },
    createRefusals({ unknown }, clock, counters),
    counters,
    answerProblem,
  );
  const call = { limits: [], client: () => ({ address: "192.0.2.1", country: "" }) } as unknown as Call;
  expect(limiter.unknown(call)).toBeUndefined();
  const refusals = times(102).map(() => limiter.unknown(call));
  const held = refusals.map((refusal) => peek.status(refusal as Promise<unknown>) === "pending");
  expect(held).toEqual(times(102).map((nth) => nth >= 100));
});
