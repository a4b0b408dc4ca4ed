import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";

import { runAlone } from "../../cli/run.ts";
import { sharePostgres } from "../../support/postgres.ts";
import { temporaryFolder } from "../../support/service.ts";

const postgres = await sharePostgres();

test("curt prove finds every confirmed link of each store, adds them up, and leaves nothing in the folder", async () => {
  using folder = temporaryFolder();
  const database = await postgres.url("prove");
  const { code, stdout, stderr } = await runAlone(["prove", "--in", folder.path, "--database", database]);
  const counts = [...stdout.matchAll(/^(?:(.+): )?([\d,]+) confirmed, ([\d,]+) found$/gm)];
  expect(counts.map(([, title]) => title)).toEqual([
    "one process",
    "two processes",
    "PostgreSQL, two processes",
    undefined,
  ]);
  const confirmed = counts.map(([, , text = ""]) => Number(text.replaceAll(",", "")));
  expect(
    counts.map(([, , , found]) => found),
    stdout,
  ).toEqual(counts.map(([, , text]) => text));
  expect(confirmed.slice(0, -1).reduce((sum, count) => sum + count)).toBe(confirmed.at(-1) ?? 0);
  expect(confirmed).not.toContain(0);
  // A test's folder may be in memory, which `curt prove` reports.
  expect([code, stderr]).toEqual(
    stdout.includes("only keeps them in memory")
      ? [1, "curt: a power cut can lose confirmed links on this disk\n"]
      : [0, ""],
  );
  expect(readdirSync(folder.path)).toEqual([]);
  expect((await runAlone(["prove", "--in", folder.path, "--database", database])).stderr).toBe(
    "curt: --database has a store already: give an empty database\n",
  );
});
