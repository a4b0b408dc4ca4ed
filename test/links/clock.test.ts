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
    await untilLogged(program, "the clock is wrong");
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
