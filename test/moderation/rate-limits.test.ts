import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import * as fc from "fast-check";

import { createRateLimit, type Window } from "../../src/moderation/cell-rate.ts";
import { createClientLimit, createRateLimits } from "../../src/moderation/rate-limits.ts";
import { ROOT } from "../support/service.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const CREATES: readonly Window[] = [
  { count: 30, ms: MINUTE_MS },
  { count: 1000, ms: DAY_MS },
];

/** A limit at a time that the test sets. */
function limitOf(windows: readonly Window[], seed = 1n) {
  let nowMs = 0;
  const limit = createRateLimit(windows, { clock: { monotonicMs: () => nowMs }, seed });
  return { ...limit, advance: (ms: number) => void (nowMs += ms) };
}

test("the tables of rate limits take as much memory as docs/protecting.md says", () => {
  const mebibytes = (
    windowsOf: (key: "limitCreate" | "other") => readonly Window[],
    hasOperators: boolean,
  ) => {
    const other = windowsOf("other");
    const limits = createRateLimits({
      limitCreate: windowsOf("limitCreate"),
      limitUnknown: other,
      limitView: other,
      limitReport: other,
      limitPasswords: other,
      hasOperators,
      clock: { monotonicMs: () => 0 },
      seed: 1n,
    });
    const bytes = Object.values(limits).reduce((sum, limit) => sum + (limit?.bytes ?? 0), 0);
    return Math.ceil(bytes / 2 ** 20);
  };
  const usual = (key: string) => (key === "limitCreate" ? CREATES : CREATES.slice(0, 1));
  const most = () => [...CREATES, ...CREATES];
  const text = readFileSync(join(ROOT, "docs/protecting.md"), "utf8");
  expect(text).toContain(
    `They take ${mebibytes(usual, false)} MiB per process with the public limits, ${mebibytes(usual, true)} MiB with ` +
      `\`ADMIN_TOKEN\`, and at most ${mebibytes(most, true)} MiB with four windows each.`,
  );
});

const times = (count: number) => Array.from({ length: count }, (_, nth) => nth);

describe("a limit", () => {
  test("allows `count` uses immediately, then one after each wait, to the second", () => {
    const limit = limitOf([{ count: 10, ms: 3_600_000 }]);
    expect(times(12).map(() => limit.take("a"))).toEqual([...times(10).map(() => 0), 360, 360]);
    for (const _ of times(5)) {
      const seconds = limit.wait("a");
      limit.advance((seconds - 1) * 1000);
      expect(limit.take("a")).toBe(1);
      limit.advance(1000);
      expect(limit.take("a")).toBe(0);
    }
  });

  test("reports the remaining uses of each window, and the seconds until the next", () => {
    const limit = limitOf(CREATES);
    expect(limit.allowances("a").map(({ left, seconds }) => [left, seconds])).toEqual([
      [30, 0],
      [1000, 0],
    ]);
    limit.take("a");
    limit.take("a");
    limit.advance(500);
    expect(limit.allowances("a").map(({ left, seconds }) => [left, seconds])).toEqual([
      [28, 2],
      [998, 86],
    ]);
  });

  test("counts several uses together, all or none", () => {
    const limit = limitOf(CREATES);
    expect(limit.most).toBe(30);
    expect(limit.take("a", 20)).toBe(0);
    expect(limit.wait("a", 11)).toBe(2);
    expect(limit.take("a", 30)).toBe(40);
    expect(limit.take("a", 10)).toBe(0);
    expect(limit.take("a")).toBe(2);
    limit.giveBack("a", 12);
    expect(limit.take("a", 13)).toBe(2);
    expect(limit.take("a", 12)).toBe(0);
    expect(limit.take("a")).toBe(2);
  });

  test("behaves like a leaky bucket", () => {
    const step = fc.record({
      client: fc.constantFrom("", "192.0.2.1", "2001:db8:0:1"),
      action: fc.constantFrom("take", "take", "take", "giveBack"),
      passedMs: fc.oneof(fc.constant(0), fc.nat(5000), fc.double({ min: 0, max: 100, noNaN: true })),
    });
    const window = fc.record({
      count: fc.integer({ min: 1, max: 7 }),
      ms: fc.integer({ min: 1000, max: 9000 }),
    });
    const windows = fc.array(window, { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(
        windows,
        fc.array(step, { maxLength: 120 }),
        fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
        check,
      ),
    );

    function check(
      limits: readonly Window[],
      steps: readonly { client: string; action: string; passedMs: number }[],
      seed: bigint,
    ) {
      const limit = limitOf(limits, seed);
      let exactMs = 0;
      let beforeMs = 0;
      // For each client and window, in uses times the window's milliseconds.
      const levels = new Map<string, number[]>();
      for (const { client, action, passedMs } of steps) {
        limit.advance(passedMs);
        exactMs += passedMs;
        const passed = Math.floor(exactMs) - beforeMs;
        beforeMs += passed;
        for (const level of levels.values())
          for (const [nth, { count }] of limits.entries())
            level[nth] = Math.max(0, (level[nth] ?? 0) - passed * count);
        const level = levels.get(client) ?? limits.map(() => 0);
        levels.set(client, level);
        const isFree = limits.every(({ count, ms }, nth) => (level[nth] ?? 0) + ms <= count * ms);
        if (action === "giveBack") {
          limit.giveBack(client);
          for (const [nth, { ms }] of limits.entries()) level[nth] = Math.max(0, (level[nth] ?? 0) - ms);
        } else {
          expect(limit.take(client) === 0).toBe(isFree);
          if (isFree) for (const [nth, { ms }] of limits.entries()) level[nth] = (level[nth] ?? 0) + ms;
        }
        expect(limit.allowances(client).map(({ left }) => left)).toEqual(
          limits.map(({ count, ms }, nth) => count - Math.ceil((level[nth] ?? 0) / ms)),
        );
      }
    }
  });
});

describe("a limit of clients", () => {
  function openLimit() {
    const limit = createClientLimit([{ count: 2, ms: MINUTE_MS }], {
      clock: { monotonicMs: () => 0 },
      seed: 1n,
    });
    const client = (nth: number) => `2001:db8:0:${nth.toString(16)}`;
    return { limit, client };
  }

  test("reports the remaining uses of a network's /48 if these are fewer", () => {
    const { limit, client } = openLimit();
    for (const nth of times(31)) limit.take(client(nth));
    const remaining = (of: string) => limit.allowances(of).map((allowance) => allowance.left);
    expect([
      remaining(client(0)),
      remaining(client(99)),
      remaining("192.0.2.1"),
      remaining("2001:db8:1:0"),
    ]).toEqual([[1], [1], [2], [2]]);
    limit.take(client(99));
    expect([remaining(client(0)), remaining(client(100))]).toEqual([[0], [0]]);
    expect(limit.allowances(client(100))).toEqual([{ count: 2, ms: MINUTE_MS, left: 0, seconds: 2 }]);
  });

  test("counts nothing for a network while its /48 has to wait", () => {
    const { limit, client } = openLimit();
    for (const nth of times(32)) limit.take(client(nth));
    expect(limit.take(client(99))).toBe(2);
    for (const nth of times(32)) limit.giveBack(client(nth));
    expect(times(3).map(() => limit.take(client(99)) === 0)).toEqual([true, true, false]);
  });

  test("charges a client for completed uses, even beyond the limit", () => {
    const { limit } = openLimit();
    limit.charge("a", 5);
    expect(limit.wait("a")).toBe(120);
    expect(limit.allowances("a")).toEqual([{ count: 2, ms: MINUTE_MS, left: 0, seconds: 30 }]);
  });
});

describe("an attacker with many addresses", () => {
  const address = (nth: number) => `2001:db8:${(nth >> 16).toString(16)}:${(nth & 0xffff).toString(16)}`;

  test("blocks no other client, and doesn't free one that is over its limit", () => {
    const limit = limitOf(CREATES);
    for (const _ of times(30)) limit.take("over");
    let refused = 0;
    for (let nth = 0; nth < 1_000_000; nth++) if (limit.take(address(nth)) !== 0) refused++;
    expect(refused).toBe(0);
    expect(limit.take("over")).toBe(2);
    expect(limit.take("somebody else")).toBe(0);
  });
});

test("the limit for scans bars a client after ten times the limit of unknown codes", () => {
  const none: readonly Window[] = [];
  const { unknown, scan } = createRateLimits({
    limitCreate: none,
    limitPasswords: none,
    limitView: none,
    limitReport: none,
    limitUnknown: [{ count: 60, ms: MINUTE_MS }],
    clock: { monotonicMs: () => 0 },
    seed: 1n,
  });
  let lookUps = 0;
  while (scan?.wait("a") === 0 && lookUps < 1000) {
    lookUps++;
    scan.take("a");
    unknown?.take("a");
  }
  expect(lookUps).toBe(600);
  expect([unknown?.wait("a"), scan?.wait("a")]).toEqual([1, 1]);
});
