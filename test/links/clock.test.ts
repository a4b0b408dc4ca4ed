import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";

import { DAY_MS, HOUR_MS } from "../../src/links/time.ts";
import { temporaryFolder, untilLogged } from "../service.ts";
import { startWithClock, testWrongClock } from "./wrong-clock.ts";

const original_url = "https://example.com/";

testWrongClock("1");

test("a cached link ends on time, and time never goes back", async () => {
  using folder = temporaryFolder();
  const { program, pass, setWall } = await startWithClock(folder.path);
  await using _ = program;
  const status = async (code: string) => (await program.fetch(`/${code}`)).status;
  const made = await program.shorten({ original_url, custom_code: "day", expire_duration: "24h" });
  const { data } = (await made.json()) as { data: { expiration_date: string } };
  await program.shorten({ original_url, custom_code: "week", expire_duration: "1week" });
  expect(await status("day")).toBe(302);

  pass(DAY_MS - HOUR_MS);
  expect(await status("day")).toBe(302);
  pass(DAY_MS);
  expect(await status("day")).toBe(410);
  expect(await status("week")).toBe(302);
  setWall(-365 * DAY_MS, DAY_MS);
  expect(await status("day")).toBe(410);
  expect(await status("week")).toBe(302);
  const frozen = await program.shorten({ original_url, custom_code: "frozen", expire_duration: "24h" });
  const frozenEnd = ((await frozen.json()) as typeof made & { data: { expiration_date: string } }).data
    .expiration_date;
  expect(Date.parse(frozenEnd)).toBeGreaterThanOrEqual(Date.parse(data.expiration_date) + DAY_MS - 1000);

  pass(DAY_MS + 2 * DAY_MS);
  expect(await status("day")).toBe(404);
  // While the clock is wrong, no code is freed: "week" cannot be found for now, but it is not lost.
  setWall(365 * DAY_MS, 3 * DAY_MS);
  expect((await program.shorten({ original_url, custom_code: "week" })).status).toBe(409);
  pass(365 * DAY_MS);
  expect((await program.shorten({ original_url: "https://example.org/", custom_code: "day" })).status).toBe(
    201,
  );
  expect((await program.fetch("/day")).headers.get("location")).toBe("https://example.org/");
  using database = new Database(join(folder.path, "curt.db"), { readonly: true });
  expect(
    database.query("SELECT count(*) AS rows, max(ends_ms) AS ends FROM links WHERE code = 'day'").get(),
  ).toEqual({ rows: 1, ends: null });
});

test("links whose hold is over are purged automatically", async () => {
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
