import { expect, test } from "bun:test";

import { createPace } from "../../src/api/get-link.ts";
import { startService } from "../support/service.ts";

/** Lets browsers watch one link. Returns how often they polled per second in the later half of the time. */
function watch(
  watchers: number,
  seconds: number,
  pollOthers: (pace: (code: string) => number) => void = () => {},
) {
  let nowMs = 0;
  const pace = createPace({ monotonicMs: () => nowMs });
  const due = Array.from({ length: watchers }, (_, nth) => (nth / watchers) * 2000);
  let polls = 0;
  for (; nowMs < seconds * 1000; nowMs += 100) {
    pollOthers(pace);
    for (const [nth, atMs] of due.entries()) {
      if (atMs > nowMs) continue;
      due[nth] = nowMs + pace("watched") * 1000;
      if (nowMs >= seconds * 500) polls++;
    }
  }
  return polls / (seconds / 2);
}

test("up to 40 watchers of a link poll every two seconds", () => {
  for (const watchers of [1, 10, 40]) expect(watch(watchers, 60)).toBeCloseTo(watchers / 2, 0);
});

test("100 to 1,000 watchers of a link poll 5 to 40 times a second altogether", () => {
  for (const watchers of [100, 300, 1000]) {
    const perSecond = watch(watchers, 300);
    expect(perSecond).toBeGreaterThan(5);
    expect(perSecond).toBeLessThan(40);
  }
});

test("the watchers of a link aren't slowed down by those of other links", () => {
  const others = (pace: (code: string) => number) => {
    for (let nth = 0; nth < 100; nth++) expect(pace(`other${nth}`)).toBeLessThan(60);
  };
  expect(watch(10, 30, others)).toBeCloseTo(5, 0);
});

test("the polls of 1,000 links are counted, and the oldest count is dropped for another link", () => {
  let nowMs = 0;
  const pace = createPace({ monotonicMs: () => nowMs });
  for (let nth = 0; nth < 2000; nth++) pace("busy");
  nowMs = 5000;
  expect(pace("busy")).toBeGreaterThan(2);
  for (let nth = 1; nth < 1000; nth++) pace(`other${nth}`);
  expect(pace("busy")).toBeGreaterThan(2);
  pace("another");
  expect(pace("busy")).toBe(2);
});

test("a look-up returns its poll interval in a header that scripts of other origins can read", async () => {
  await using curt = await startService();
  await curt.shorten({ original_url: "https://example.com/", custom_code: "watched" });
  const { headers } = await curt.fetch("/api/v1/links/watched");
  expect(headers.get("x-poll-interval")).toBe("2");
  expect(headers.get("access-control-expose-headers")).toContain("X-Poll-Interval");
});
