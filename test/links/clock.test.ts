import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";

import { DAY_MS } from "../../src/links/time.ts";
import { temporaryFolder, untilLogged } from "../service.ts";
import { startWithClock, testWrongClock } from "./wrong-clock.ts";

const original_url = "https://example.com/";

testWrongClock("1");

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
