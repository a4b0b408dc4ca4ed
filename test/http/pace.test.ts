import { expect, test } from "bun:test";

import { createPace } from "../../src/api/get-link.ts";
import { startHere } from "../service.ts";

/** So many browsers watch one link for so long; says how often they asked in each second of the later half. */
function watch(
  watchers: number,
  seconds: number,
  alsoAsk: (pace: (code: string) => number) => void = () => {},
) {
  let nowMs = 0;
  const pace = createPace({ monotonicMs: () => nowMs });
  const due = Array.from({ length: watchers }, (_, nth) => (nth / watchers) * 2000);
  let asks = 0;
  for (; nowMs < seconds * 1000; nowMs += 100) {
    alsoAsk(pace);
    for (const [nth, atMs] of due.entries()) {
      if (atMs > nowMs) continue;
      due[nth] = nowMs + pace("watched") * 1000;
      if (nowMs >= seconds * 500) asks++;
    }
  }
  return asks / (seconds / 2);
}

test("few who watch a link see it every two seconds", () => {
  for (const watchers of [1, 10, 40]) expect(watch(watchers, 60)).toBeCloseTo(watchers / 2, 0);
});

test("the more watch a link, the less often each asks", () => {
  for (const watchers of [100, 300, 1000]) {
    const perSecond = watch(watchers, 300);
    expect(perSecond).toBeGreaterThan(5);
    expect(perSecond).toBeLessThan(40);
  }
});

test("links do not slow down each other", () => {
  const others = (pace: (code: string) => number) => {
    for (let nth = 0; nth < 100; nth++) expect(pace(`other${nth}`)).toBeLessThan(60);
  };
  expect(watch(10, 30, others)).toBeCloseTo(5, 0);
});

test("an answer says when to ask again", async () => {
  await using curt = await startHere();
  await curt.shorten({ original_url: "https://example.com/", custom_code: "watched" });
  const { headers } = await curt.fetch("/api/v1/links/watched");
  expect(headers.get("x-poll-interval")).toBe("2");
  expect(headers.get("access-control-expose-headers")).toContain("X-Poll-Interval");
});
