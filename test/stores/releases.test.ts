// What earlier releases wrote, which today's code must open without losing anything. `npm run keep-release` writes it.
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { LinkKey } from "../../src/links/code.ts";
import { checkStore } from "../../src/store/open.ts";
import { MIGRATIONS as ofPostgres } from "../../src/store/postgres/schema.ts";
import { MIGRATIONS as ofSqlite } from "../../src/store/sqlite/file/schema.ts";
import { runCommand } from "../cli/commands.ts";
import { AS_CREATOR, AS_OPERATOR, CREATOR, type Kept, OPERATOR, PASSWORD, TOKENS } from "../releases/fill.ts";
import { sharePostgres } from "../support/postgres.ts";
import { type LocalService, openStoreOf, startService, temporaryFolder } from "../support/service.ts";

const FOLDER = join(import.meta.dir, "../releases");
const RELEASES = readdirSync(FOLDER).filter((name) => /^\d/.test(name));
const HOUR_MS = 3_600_000;

const pathIn = (release: string, file: string) => join(FOLDER, release, file);
const textOf = (release: string, file: string) => readFileSync(pathIn(release, file), "utf8");
const keptIn = (release: string, engine: string) => JSON.parse(textOf(release, `${engine}.json`)) as Kept;

test("the newest kept stores have the current schema", () => {
  const newest = RELEASES.toSorted(Bun.semver.order).at(-1) ?? "";
  expect(textOf(newest, "sqlite.sql")).toContain(`PRAGMA user_version = ${ofSqlite.length};`);
  expect(textOf(newest, "postgres.sql")).toContain(
    `INSERT INTO curt (version) VALUES ('${ofPostgres.length}');`,
  );
});

const server = await sharePostgres();

for (const release of RELEASES)
  describe(`of ${release}`, () => {
    test("a SQLite store keeps its links, visits, keys and decisions", async () => {
      using folder = temporaryFolder();
      {
        using database = new Database(join(folder.path, "curt.db"), { create: true });
        database.run("PRAGMA journal_mode = WAL");
        database.run(textOf(release, "sqlite.sql"));
      }
      await checkAll(keptIn(release, "sqlite"), {}, folder.path);
    });

    test("a PostgreSQL store keeps its links, visits, keys and decisions", async () => {
      using folder = temporaryFolder();
      const DATABASE_URL = await server.url(release);
      await server.query(textOf(release, "postgres.sql"), release);
      await checkAll(keptIn(release, "postgres"), { DATABASE_URL, DATA_DIR: folder.path }, folder.path);
    });

    test("a backup has its links, visits, keys and decisions once it is restored", async () => {
      using folder = temporaryFolder();
      const file = join(folder.path, "backup.db");
      writeFileSync(file, Bun.gunzipSync(readFileSync(pathIn(release, "backup.db.gz"))));
      await runInto(folder.path, "restore", file);
      await checkAll(keptIn(release, "sqlite"), {}, folder.path);
    });

    test("an export has its links, visits, keys and decisions once it is imported", async () => {
      using folder = temporaryFolder();
      await runInto(folder.path, "import", "--new", pathIn(release, "export.ndjson"));
      await checkAll(keptIn(release, "sqlite"), {}, folder.path);
    });
  });

async function runInto(folder: string, ...command: string[]): Promise<void> {
  const done = await runCommand(command, { DATABASE_URL: `sqlite:${join(folder, "curt.db")}` });
  expect(done).toMatchObject({ code: 0 });
}

/** Starts twice: the first start changes the schema. */
async function checkAll(kept: Kept, settings: Record<string, string>, folder: string): Promise<void> {
  const options = { folder, startMs: kept.madeMs + HOUR_MS };
  const all = { BASE_URL: "https://go.example.com", ...TOKENS, EDITS: "24h", ...settings };
  {
    await using service = await startService(all, options);
    await checkVisits(service, kept, 0);
    await checkLinks(service, kept);
    await checkKeys(service, kept);
    expect(
      (await service.shorten({ original_url: "https://example.com/new", custom_code: "new" }, AS_CREATOR))
        .status,
    ).toBe(201);
  }
  await using service = await startService(all, options);
  await checkVisits(service, kept, 1);
  await checkLinks(service, kept);
  await checkDecisions(service, kept);
  const asOne = { headers: { Authorization: `Basic ${btoa(`:${PASSWORD}`)}` } };
  for (const { code } of kept.links.filter(({ status }) => status === 401))
    expect((await service.fetch(pathOf(code), asOne)).status).toBe(302);
  expect((await service.fetch("/new")).status).toBe(302);
  expect(await checkStore(service.database)).toEqual({
    links: kept.links.length + 1,
    damage: [],
    unsendable: [],
  });
}

const pathOf = (code: string) => `/${encodeURIComponent(code)}`;

async function checkLinks(service: LocalService, { links }: Kept): Promise<void> {
  for (const { code, url, status } of links) {
    const answer = await service.fetch(pathOf(code));
    const location = status === 302 ? new URL(url).href : null;
    expect([code, answer.status, answer.headers.get("location")]).toEqual([code, status, location]);
  }
}

/** The kept visits, and those of these checks, which count as bots. */
async function checkVisits(service: LocalService, { links }: Kept, rounds: number): Promise<void> {
  await using store = await openStoreOf(service);
  for (const { code, status, visits, bots } of links) {
    const link = await store.find(code as LinkKey);
    if (link === undefined) throw new Error(`${code} is gone`);
    const sums = await store.sums(link.code, link.createdMs);
    expect([code, sums]).toEqual([code, { visits, bots: bots + (status === 302 ? rounds : 0) }]);
  }
}

async function checkDecisions(service: LocalService, { reportedCodes, blockedHosts }: Kept): Promise<void> {
  const dataOf = async (path: string) =>
    (
      (await (await service.fetch(`/api/v1/admin/${path}`, { headers: AS_OPERATOR })).json()) as {
        data: object;
      }
    ).data;
  expect(await dataOf("cases")).toMatchObject({ cases: reportedCodes.map((code) => ({ code })) });
  expect(await dataOf("hosts")).toMatchObject({ hosts: blockedHosts.map((host) => ({ host })) });
  const { entries } = (await dataOf("journal")) as {
    entries: { id: number; links: number | null; undoable: boolean }[];
  };
  expect(entries).toMatchObject([
    { action: "erase", by: OPERATOR, undoable: false },
    { action: "block-host", by: OPERATOR },
    { action: "disable", by: OPERATOR },
  ]);
  // The first ones stored no values.
  for (const { id, links, undoable } of entries) {
    expect([id, undoable]).toEqual([id, links !== null && id < 3]);
    if (undoable) continue;
    const undo = `/api/v1/admin/decisions/${id}/undo`;
    const refusal = await service.fetch(undo, { method: "POST", headers: AS_OPERATOR });
    expect([refusal.status, refusal.headers.get("curt-reason")]).toEqual([409, "decision.final"]);
  }
  expect(await dataOf("links/plain")).toMatchObject({ created_by: CREATOR });
}

async function checkKeys(service: LocalService, { links, idempotencyKey }: Kept): Promise<void> {
  const change = (code: string, key: string) =>
    service.fetch(`/api/v1/links/${code}`, {
      method: "PATCH",
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      body: JSON.stringify({ max_visits: 9 }),
    });
  for (const { code, key, status } of links) {
    if (key === undefined || status !== 302) continue;
    expect([code, (await change(code, `${key}x`)).status]).toEqual([code, 403]);
    expect([code, (await change(code, key)).status]).toEqual([code, 200]);
  }
  const body = { original_url: "https://example.com/again", custom_code: "again" };
  expect((await service.shorten(body, { ...AS_CREATOR, "Idempotency-Key": idempotencyKey })).status).toBe(
    201,
  );
}
