// A killed service leaves visits in its journal. Another store that is started with its DATA_DIR must not get them.
import { afterEach, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { readConfig } from "../../src/config/config.ts";
import { describeStore } from "../../src/config/database-url.ts";
import type { LinkKey } from "../../src/links/code.ts";
import { journalState } from "../../src/visits/journal/journal-state.ts";
import { runCommand as run } from "../cli/commands.ts";
import { sharePostgres } from "../support/postgres.ts";
import { BASE_URL, openStoreOf, type Settings, temporaryFolder } from "../support/service.ts";
import { visit } from "../visits/visits.ts";
import { killStarted, refused, startSeveral } from "./processes.ts";

const VISITS = 40;
const CODE = "shared";
const PROCESSES = "2";

afterEach(killStarted);

/** The names and contents of the files that have visits or say whose they are. */
function filesIn(journal: string) {
  const names = readdirSync(journal).filter((name) => !name.endsWith(".lock"));
  return names.toSorted().map((name) => [name, Bun.hash(readFileSync(join(journal, name)))]);
}

/** Kills a service that has visits in its journal. Returns how many it answered. */
async function killWithVisits(settings: Settings, journal: string): Promise<number> {
  let visits = 0;
  do {
    const live = await startSeveral({ PROCESSES, ...settings });
    if (visits === 0) await live.shorten({ original_url: "https://example.com/", custom_code: CODE });
    await Promise.all(Array.from({ length: VISITS }, () => visit(live, CODE)));
    killStarted();
    await live.exited;
    visits += VISITS;
    // A round may have added all of them in the moment before.
  } while (journalState(journal) !== "waiting");
  return visits;
}

async function visitsAfterStart(settings: Settings): Promise<number | undefined> {
  const live = await startSeveral({ PROCESSES, ...settings });
  live.kill("SIGTERM");
  await live.exited;
  await using store = await openStoreOf(live);
  const link = await store.find(CODE as LinkKey);
  return link && (await store.sums(link.code, link.createdMs)).visits;
}

test("the visits of a killed service go to its SQLite file, not to one of the same name", async () => {
  using folder = temporaryFolder();
  const at = (name: string) => join(folder.path, name, "curt.db");
  const DATA_DIR = join(folder.path, "data");
  const journal = join(DATA_DIR, "curt.db-visits");
  const settingsOf = (name: string) => ({ DATA_DIR, DATABASE_URL: `sqlite:${at(name)}` });
  const visits = await killWithVisits(settingsOf("live"), journal);
  const before = filesIn(journal);
  for (const processes of ["1", PROCESSES])
    expect(
      await refused({ ...settingsOf("trial"), PORT: "0", BASE_URL, PROCESSES: processes }),
    ).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        `${journal} is the journal of ${at("live")}, and its visits must not get into ${at("trial")}. Set DATA_DIR to another folder.`,
      ),
    });
  expect(await run(["check"], { ...settingsOf("trial"), PORT: "1" })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`${journal} is the journal of ${at("live")}`),
  });
  expect(await run(["check"], { ...settingsOf("live"), PORT: "1" })).toMatchObject({ code: 0, stderr: "" });
  expect(filesIn(journal)).toEqual(before);
  expect(await visitsAfterStart(settingsOf("live"))).toBe(visits);
});

test("the visits of a killed service go to its PostgreSQL database, not to one that replaced it", async () => {
  using folder = temporaryFolder();
  const server = await sharePostgres();
  const settings = { DATA_DIR: folder.path, DATABASE_URL: await server.url("live") };
  const { database, journalFolder: journal } = readConfig(settings);
  const visits = await killWithVisits(settings, journal);
  const before = filesIn(journal);
  const [{ id } = {}] = await server.query("SELECT id FROM store", "live");
  await server.query("UPDATE store SET id = 'another'", "live");
  for (const processes of ["1", PROCESSES])
    expect(await refused({ ...settings, PORT: "0", BASE_URL, PROCESSES: processes })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        `${journal} has visits of another store, which was at ${describeStore(database)}, and they must not get into ${describeStore(database)}.`,
      ),
    });
  expect(filesIn(journal)).toEqual(before);
  expect(await run(["check"], settings)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`${journal} has visits of another store`),
  });
  await server.query(`UPDATE store SET id = '${String(id)}'`, "live");
  expect(await visitsAfterStart(settings)).toBe(visits);
});

test("the visits of a killed service go to its PostgreSQL database, not to a copy of it", async () => {
  using folder = temporaryFolder();
  const server = await sharePostgres();
  const settings = { DATA_DIR: folder.path, DATABASE_URL: await server.url("original") };
  const { journalFolder: journal } = readConfig(settings);
  const visits = await killWithVisits(settings, journal);
  const before = filesIn(journal);
  // A copy on another server has the same name at another address.
  const name = new URL(settings.DATABASE_URL).pathname.slice(1);
  await server.query(`ALTER DATABASE "${name}" RENAME TO "${name}_kept"`);
  await server.query(`CREATE DATABASE "${name}" TEMPLATE "${name}_kept"`);
  const copied = { ...settings, DATABASE_URL: settings.DATABASE_URL.replace("127.0.0.1", "localhost") };
  const refusal = {
    code: 1,
    stderr: expect.stringContaining(
      `they must not get into ${describeStore(readConfig(copied).database)}, a copy.`,
    ),
  };
  expect(await run(["check"], copied)).toMatchObject(refusal);
  expect(await refused({ ...copied, PORT: "0", BASE_URL, PROCESSES })).toMatchObject(refusal);
  expect(filesIn(journal)).toEqual(before);
  await server.query(`DROP DATABASE "${name}"`);
  await server.query(`ALTER DATABASE "${name}_kept" RENAME TO "${name}"`);
  expect(await visitsAfterStart(settings)).toBe(visits);
});
