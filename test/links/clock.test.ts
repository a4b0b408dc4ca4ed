import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";

import { createClock } from "../../src/links/clock.ts";
import { DAY_MS } from "../../src/links/time.ts";
import { temporaryFolder, untilLogged } from "../support/service.ts";
import { startWithClock, testWrongClock } from "./wrong-clock.ts";

const original_url = "https://example.com/";

testWrongClock("1");

test("visits and counters stay on their day if the clock jumps to another century", async () => {
  using folder = temporaryFolder();
  const today = Math.floor(Date.now() / DAY_MS);
  {
    const { program, setWall } = await startWithClock(folder.path);
    await using _ = program;
    await program.shorten({ original_url, custom_code: "far" });
    setWall(2_622_000 * DAY_MS, 0);
    await untilLogged(program, "the clock is more than a month ahead");
    for (const status of [201, 409])
      expect((await program.shorten({ original_url, custom_code: "jump" })).status).toBe(status);
    expect((await program.fetch("/far")).status).toBe(302);
  }
  using database = new Database(join(folder.path, "curt.db"), { readonly: true });
  for (const table of ["visits", "counters", "open_days"]) {
    const days = database.query<{ day: number }, []>(`SELECT DISTINCT day FROM ${table}`).all();
    expect(days.length, table).toBeGreaterThan(0);
    for (const { day } of days) expect([today, today + 1], table).toContain(day);
  }
});

test("a visit is counted at the time that the clock should show, if it is over a month ahead and can't be trusted", () => {
  const startMs = 20_000 * DAY_MS;
  const atClock = (believedUntilMs: number) => {
    let [wallMs, monotonicMs] = [startMs, 0];
    const clock = createClock(
      () => wallMs,
      () => monotonicMs,
      { believedUntilMs },
    );
    return (setMs: number, passedMs: number) => {
      [wallMs, monotonicMs] = [setMs, passedMs];
      clock.trustworthy();
      return clock.countedMs(clock.nowMs());
    };
  };
  const jumped = atClock(Infinity);
  expect(jumped(startMs + DAY_MS, DAY_MS)).toBe(startMs + DAY_MS);
  expect(jumped(startMs + 20 * DAY_MS, 2 * DAY_MS)).toBe(startMs + 20 * DAY_MS);
  expect(jumped(startMs + 400 * DAY_MS, 3 * DAY_MS)).toBe(startMs + 3 * DAY_MS);
  // A computer without a battery sets its clock late.
  expect(atClock(startMs + 400 * DAY_MS)(startMs + 400 * DAY_MS, 5)).toBe(startMs + 400 * DAY_MS);
  const startedAhead = atClock(startMs - 100 * DAY_MS);
  expect(startedAhead(startMs, 5)).toBe(startMs - 100 * DAY_MS);
  expect(atClock(0)(5, 5)).toBe(DAY_MS);
});

test("after a jump, the clock is trusted once it was steady for ten minutes, unless it is more than a month ahead", () => {
  const MINUTE_MS = 60_000;
  const startMs = 20_000 * DAY_MS;
  /** A clock that has been trusted for `upDays` and then shows a time that is `jumpMs` ahead of the right one. */
  function jumpedBy(jumpMs: number, upDays = 100) {
    let [wallMs, passedMs] = [startMs, 0];
    const changes: string[] = [];
    const clock = createClock(
      () => wallMs,
      () => passedMs,
      { believedUntilMs: startMs + 31 * DAY_MS, onChange: (trust) => changes.push(trust) },
    );
    /** Lets time pass, with the clock `aheadMs` ahead afterwards. */
    function isTrustedAfter(ms: number, aheadMs = jumpMs): boolean {
      passedMs += ms;
      wallMs = startMs + passedMs + aheadMs;
      return clock.trustworthy();
    }
    for (let day = 0; day < upDays; day++) expect(isTrustedAfter(DAY_MS, 0)).toBeTrue();
    return { isTrustedAfter, changes, nowAheadMs: () => clock.nowMs() - startMs - passedMs };
  }
  // A virtual machine has slept.
  const slept = jumpedBy(20 * DAY_MS);
  expect(slept.isTrustedAfter(0)).toBeFalse();
  expect(slept.isTrustedAfter(10 * MINUTE_MS - 1)).toBeFalse();
  expect(slept.isTrustedAfter(1)).toBeTrue();
  expect(slept.isTrustedAfter(DAY_MS)).toBeTrue();
  expect(slept.nowAheadMs()).toBe(20 * DAY_MS);
  expect(slept.changes).toEqual(["jumped", "trusted"]);
  // Each jump starts the ten minutes from scratch.
  const restless = jumpedBy(DAY_MS);
  for (const aheadMs of [DAY_MS, 2 * DAY_MS, 3 * DAY_MS])
    for (const ms of [0, 6 * MINUTE_MS]) expect(restless.isTrustedAfter(ms, aheadMs)).toBeFalse();
  expect(restless.isTrustedAfter(4 * MINUTE_MS, 3 * DAY_MS)).toBeTrue();
  // A clock that runs fast is never steady.
  const fast = jumpedBy(DAY_MS);
  for (let nth = 0; nth < 20; nth++)
    expect(fast.isTrustedAfter(MINUTE_MS, DAY_MS + nth * 2 * MINUTE_MS)).toBeFalse();
  const far = jumpedBy(32 * DAY_MS);
  for (let nth = 0; nth < 20; nth++) expect(far.isTrustedAfter(10 * MINUTE_MS)).toBeFalse();
  expect(far.isTrustedAfter(0, 0)).toBeTrue();
  expect(far.nowAheadMs()).toBe(0);
  expect(far.changes).toEqual(["too far ahead", "trusted"]);
  // A computer without a battery starts long ago and sets its clock later: the store knows the month.
  let wallMs = 0;
  let passedMs = 0;
  const late = createClock(
    () => wallMs,
    () => passedMs,
    { believedUntilMs: startMs },
  );
  [wallMs, passedMs] = [startMs, MINUTE_MS];
  expect(late.trustworthy()).toBeFalse();
  [wallMs, passedMs] = [startMs - 1, 11 * MINUTE_MS];
  expect(late.trustworthy()).toBeFalse();
  [wallMs, passedMs] = [startMs - DAY_MS, 12 * MINUTE_MS];
  expect(late.trustworthy()).toBeFalse();
  [wallMs, passedMs] = [startMs - DAY_MS + 10 * MINUTE_MS, 22 * MINUTE_MS];
  expect(late.trustworthy()).toBeTrue();
});

test("links are purged automatically when their hold ends", async () => {
  using folder = temporaryFolder();
  const { program, pass } = await startWithClock(folder.path);
  await using _ = program;
  await program.shorten({ original_url, custom_code: "gone", expire_duration: "24h" });
  await program.shorten({ original_url, custom_code: "held", expire_duration: "48h" });
  pass(3 * DAY_MS);
  await untilLogged(program, '"purged":1');
  using database = new Database(join(folder.path, "curt.db"), { readonly: true });
  expect(database.query("SELECT code FROM links").all()).toEqual([{ code: "held" }]);
});
