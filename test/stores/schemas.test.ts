// Stores of earlier schemas, which today's code must migrate without losing anything. `npm run keep-schema` creates them.
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { LinkKey } from "../../src/links/code.ts";
import { checkStore } from "../../src/store/open.ts";
import { type Kept, PASSWORD } from "../schemas/fill.ts";
import { sharePostgres } from "../support/postgres.ts";
import { type LocalService, openStoreOf, startService, temporaryFolder } from "../support/service.ts";

const FOLDER = join(import.meta.dir, "../schemas");
const HOUR_MS = 3_600_000;
const ADMIN_TOKEN = "a".repeat(32);
const AS_OPERATOR = { headers: { Authorization: `Bearer ${ADMIN_TOKEN}` } };

const namesOf = (engine: string) =>
  readdirSync(FOLDER)
    .filter((name) => name.startsWith(engine) && name.endsWith(".sql"))
    .map((name) => name.replace(".sql", ""))
    .toSorted();
const statements = (name: string) => readFileSync(join(FOLDER, `${name}.sql`), "utf8");
const keptIn = (name: string) => JSON.parse(readFileSync(join(FOLDER, `${name}.json`), "utf8")) as Kept;
const versionsOf = (engine: string) => namesOf(engine).map((name) => Number(name.slice(-3)));
const schemaOf = (engine: string) =>
  readdirSync(join(import.meta.dir, "../../src/store", engine, "migrations")).length;

describe("the kept SQLite stores", () => {
  test("include one of the newest version", () => expect(versionsOf("sqlite")).toContain(schemaOf("sqlite")));

  for (const name of namesOf("sqlite"))
    test(`${name} keeps its links, visits, keys and decisions`, async () => {
      using folder = temporaryFolder();
      {
        using database = new Database(join(folder.path, "curt.db"), { create: true });
        database.run("PRAGMA journal_mode = WAL");
        database.run(statements(name));
      }
      await checkAll(keptIn(name), {}, folder.path);
    });
});

const server = await sharePostgres();

describe("the kept PostgreSQL stores", () => {
  test("include one of the newest version", () =>
    expect(versionsOf("postgres")).toContain(schemaOf("postgres")));

  for (const name of namesOf("postgres"))
    test(`${name} keeps its links, visits, keys and decisions`, async () => {
      using folder = temporaryFolder();
      const DATABASE_URL = await server.url(name);
      await server.query(statements(name), name);
      await checkAll(keptIn(name), { DATABASE_URL, DATA_DIR: folder.path }, folder.path);
    });
});

/** Starts twice: the first start changes the schema. */
async function checkAll(kept: Kept, settings: Record<string, string>, folder: string): Promise<void> {
  const options = { folder, startMs: kept.madeMs + HOUR_MS };
  const all = { BASE_URL: "https://go.example.com", ADMIN_TOKEN, EDITS: "24h", ...settings };
  {
    await using service = await startService(all, options);
    await checkVisits(service, kept, 0);
    await checkLinks(service, kept);
    await checkKeys(service, kept);
    expect(
      (await service.shorten({ original_url: "https://example.com/new", custom_code: "new" })).status,
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
  expect(await checkStore(service.database)).toEqual({ links: kept.links.length + 1, damage: [] });
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
    ((await (await service.fetch(`/api/v1/admin/${path}`, AS_OPERATOR)).json()) as { data: object }).data;
  expect(await dataOf("cases")).toMatchObject({ cases: reportedCodes.map((code) => ({ code })) });
  expect(await dataOf("hosts")).toMatchObject({ hosts: blockedHosts.map((host) => ({ host })) });
  const { entries } = (await dataOf("journal")) as { entries: object[] };
  // A link was disabled, a host blocked, and a link deleted.
  expect(entries).toHaveLength(3);
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
  expect((await service.shorten(body, { "Idempotency-Key": idempotencyKey })).status).toBe(201);
}
