import { afterAll, describe, expect, test } from "bun:test";

import { Client } from "pg";

import { openPostgresStore } from "../src/store/postgres/store.ts";
import { startPostgres } from "./postgres.ts";
import { type Here, type Settings, startHere } from "./service.ts";
import { PATIENT } from "./stores/postgres-away.ts";

const server = await startPostgres(["max_connections=200"]);
afterAll(() => server[Symbol.asyncDispose]());

const PROXIED = { TRUSTED_PROXIES: "127.0.0.1", LIMIT_SHARED: "on" };
const MAX_TRIES = 1000;
/** For so long, what the store told is believed. */
const TOLD_MS = 10_001;
const times = (count: number) => Array.from({ length: count }, (_, nth) => nth);

async function settingsOf(name: string, limit: string): Promise<Settings> {
  return { ...PROXIED, DATABASE_URL: await server.url(name), LIMIT_CREATE: limit };
}

function create(curt: Here, address = "192.0.2.1", body: object = {}): Promise<Response> {
  return curt.shorten({ original_url: "https://example.com/", ...body }, { "X-Forwarded-For": address });
}

const statusOf = async (response: Promise<Response>) => (await response).status;

/** Not at midnight, when each client gets another name in the store. */
const NOON_MS = Date.UTC(2026, 0, 1, 12);
/** However busy this machine is, the store is waited for. */
const start = (settings: Settings, shareWaitMs = 60_000) =>
  startHere(settings, { startMs: NOON_MS, limits: { ...PATIENT, shareWaitMs } });

async function connected(name: string) {
  const client = new Client(await server.url(name));
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

/** Until the store has been asked for a salt: each process goes on alone for the moment that this takes. */
async function untilShared(instances: readonly Here[], address: string): Promise<void> {
  for (const curt of instances) expect(await statusOf(create(curt, address))).toBe(201);
}

describe("LIMIT_SHARED", () => {
  test("lets exactly 60 of 120 through, over three instances at once", async () => {
    const settings = await settingsOf("exact", "60/1d");
    await using one = await start(settings);
    await using two = await start(settings);
    await using three = await start(settings);
    const instances = [one, two, three] as const;
    await untilShared(instances, "192.0.2.99");
    // Fewer than one of them allows by itself.
    const statuses = await Promise.all(
      times(120).map((nth) => statusOf(create(instances[nth % 3] ?? one, "2001:db8::" + nth.toString(16)))),
    );
    expect(statuses.filter((status) => status === 201)).toHaveLength(60);
    expect(statuses.filter((status) => status === 429)).toHaveLength(60);
    expect(await statusOf(create(two, "2001:db8:0:1::1"))).toBe(201);
    await using client = await connected("exact");
    const { rows } = await client.query("SELECT shared_limits::text AS row FROM shared_limits");
    expect(rows).toHaveLength(3);
    expect(JSON.stringify(rows)).not.toMatch(/192\.0\.2|2001:|db8/);
  });

  test("counts each link of an array, and none of one that is too many", async () => {
    const settings = await settingsOf("many", "60/1d");
    await using one = await start(settings);
    await using two = await start(settings);
    await untilShared([one, two], "192.0.2.99");
    const many = (curt: Here, count: number, wrong = 0) =>
      curt.fetch("/api/v1/links/batch", {
        method: "POST",
        headers: { "X-Forwarded-For": "192.0.2.1" },
        body: JSON.stringify(
          times(count).map((nth) => ({ target: nth < wrong ? "ftp://x" : "https://example.com/" })),
        ),
      });
    expect(await statusOf(many(one, 35))).toBe(200);
    expect(await statusOf(many(two, 26))).toBe(429);
    // What fails is given back, before anything else that this process asks for.
    expect(await statusOf(many(two, 25, 20))).toBe(200);
    expect(await statusOf(many(two, 20))).toBe(200);
    expect(await statusOf(create(one))).toBe(429);
  });

  test("tells what is left in all of them, and when there is more", async () => {
    const settings = await settingsOf("told", "3/1d,9/2d");
    await using one = await start(settings);
    await using two = await start(settings);
    await create(one);
    const second = await create(two);
    expect(second.headers.get("ratelimit-policy")).toBe('"create";q=3;w=86400, "create-2";q=9;w=172800');
    expect(second.headers.get("ratelimit")).toMatch(/^"create";r=1;t=2\d{4}, "create-2";r=7;t=\d+$/);
    expect((await create(one)).headers.get("ratelimit")).toMatch(/^"create";r=0;/);
    const refused = await create(two);
    expect([refused.status, Number(refused.headers.get("retry-after"))]).toEqual([429, expect.any(Number)]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(28_000);
    expect(refused.headers.get("ratelimit")).toMatch(/^"create";r=0;t=2\d{4}$/);
  });

  test("does not count what makes no link", async () => {
    const settings = await settingsOf("failed", "3/1d");
    await using one = await start(settings);
    await using two = await start(settings);
    await create(one, "192.0.2.1", { custom_code: "taken" });
    // What was given back is on its way for a moment.
    async function until(status: number, curt: Here, body?: object): Promise<void> {
      for (let tries = 0; (await create(curt, "192.0.2.1", body)).status !== status; tries++) {
        expect(tries).toBeLessThan(MAX_TRIES);
        curt.advance(TOLD_MS);
      }
    }
    for (const nth of times(20)) await until(409, nth % 2 === 0 ? one : two, { custom_code: "taken" });
    await until(201, two);
    await until(201, one);
    expect(await statusOf(create(two))).toBe(429);
  });

  test("asks the store no more for a client that it knows to be over the limit, for some seconds", async () => {
    const settings = await settingsOf("known", "2/1d");
    await using one = await start(settings);
    await using two = await start(settings);
    await using client = await connected("known");
    for (const _ of times(2)) await create(one);
    expect(await statusOf(create(two))).toBe(429);
    // All of it is given back.
    await client.query("DELETE FROM shared_limits");
    for (const curt of [one, two]) expect(await statusOf(create(curt))).toBe(429);
    two.advance(TOLD_MS);
    const answer = await create(two);
    expect([answer.status, answer.headers.get("ratelimit")]).toEqual([201, expect.stringContaining("r=1;")]);
  });

  test("counts for each instance alone while the store does not answer", async () => {
    const settings = await settingsOf("slow", "4/1d");
    // What is asked for last is answered in this time even on a busy machine.
    const waitMs = 1500;
    await using one = await start(settings, waitMs);
    await using two = await start(settings, waitMs);
    await untilShared([one, two], "192.0.2.99");
    // They ask the store again, also if that took too long.
    for (const curt of [one, two]) curt.advance(1001);
    await using client = await connected("slow");
    await client.query("BEGIN");
    await client.query("LOCK TABLE shared_limits");
    expect(await statusOf(create(one, "192.0.2.3"))).toBe(201);
    // Nobody waits for the statement any more.
    const waits = async () => (await client.query("SELECT FROM pg_locks WHERE NOT granted")).rowCount;
    for (let tries = 0; (await waits()) === 0; tries++) expect(tries).toBeLessThan(MAX_TRIES);
    for (const curt of [one, two]) {
      const statuses = await Promise.all(times(9).map(() => statusOf(create(curt))));
      expect(statuses.filter((status) => status === 201)).toHaveLength(4);
      expect(statuses.filter((status) => status === 429)).toHaveLength(5);
    }
    await client.query("COMMIT");
    for (let tries = 4; ; tries++) {
      for (const curt of [one, two]) curt.advance(1001);
      const statuses = await Promise.all(
        times(8).map((nth) => statusOf(create(nth % 2 === 0 ? one : two, `192.0.2.${tries}`))),
      );
      if (statuses.filter((status) => status === 201).length === 4) break;
      expect(tries).toBeLessThan(90);
    }
  });

  test("counts by the time at which its turn comes, however long it waits for another process", async () => {
    const store = await openPostgresStore(await server.address("turns"), PATIENT);
    const counts = store.shareCounts?.([{ count: 60, ms: 86_400_000 }]);
    const someone = "a".repeat(32);
    expect(await counts?.take(someone, 10)).toMatchObject({ isCounted: true });
    await using other = await connected("turns");
    await other.query("BEGIN");
    await other.query("SELECT FROM shared_limits FOR UPDATE");
    const taken = counts?.take(someone, 30);
    const waits = async () => (await other.query("SELECT FROM pg_locks WHERE NOT granted")).rowCount;
    for (let tries = 0; (await waits()) === 0; tries++) expect(tries).toBeLessThan(MAX_TRIES);
    // Another process counts 20 more: it asked later, but it is its turn.
    const nowMs = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
    await other.query(`UPDATE shared_limits SET paid_off = ARRAY[(${nowMs}) * 60 + 30::bigint * 86400000]`);
    await other.query("COMMIT");
    expect(await taken).toMatchObject({ isCounted: true });
    expect(await counts?.take(someone, 1)).toMatchObject({ isCounted: false });
    await store.close();
  });

  test("forgets clients that have nothing counted any more", async () => {
    const store = await openPostgresStore(await server.address("forgotten"), PATIENT);
    const counts = store.shareCounts?.([{ count: 100, ms: 1000 }]);
    for (const nth of times(50)) await counts?.take(nth.toString(16).padStart(32, "0"), 1);
    const lasting = store.shareCounts?.([{ count: 1, ms: 86_400_000 }]);
    await lasting?.take("f".repeat(32), 1);
    await using client = await connected("forgotten");
    const rows = async () => (await client.query("SELECT FROM shared_limits")).rowCount;
    expect(await rows()).toBe(51);
    for (let tries = 0; (await rows()) !== 1; tries++) {
      await store.purge(0, 1);
      expect(tries).toBeLessThan(MAX_TRIES);
    }
    await store.close();
  });
});
