import { expect, test } from "bun:test";

import type { LinkKey } from "../../src/links/code.ts";
import { StoreUnavailable } from "../../src/links/link-store.ts";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { migrate } from "../../src/store/postgres/schema.ts";
import type { Slice } from "../../src/visits/days/slice.ts";
import { sharePostgres } from "../support/postgres.ts";
import { type Proxy, startProxy } from "../support/proxy.ts";
import { slicesOf } from "../visits/slices.ts";
import { newLink, NOW } from "./links.ts";
import { open, PATIENT, untilBack } from "./postgres-away.ts";
import { destination, edit, visit } from "./updates.ts";

/** Each way. A transaction has five round trips. */
const DELAY_MS = 40;
const MAX_TRIES = 10_000;

const server = await sharePostgres();

/** Opens a store whose connections the test can cut, and another one on the same database. */
async function openBoth(name: string) {
  const direct = await openPostgresStore(await server.address(name), PATIENT);
  const proxy = await startProxy(server.port);
  const store = await openPostgresStore(await server.address(name, proxy.port), PATIENT);
  return {
    direct,
    store,
    proxy,
    async [Symbol.asyncDispose]() {
      await store.close();
      await direct.close();
      await proxy[Symbol.asyncDispose]();
    },
  };
}

/** Runs a change that commits, but whose response is lost. */
async function cutOff<T>(
  { proxy }: { proxy: Proxy },
  change: () => Promise<T>,
  isDone: () => Promise<boolean>,
): Promise<PromiseSettledResult<T>> {
  proxy.delay(DELAY_MS);
  const outcome = Promise.allSettled([change()]);
  for (let tries = 0; !(await isDone()); tries++) {
    if (tries > MAX_TRIES) throw new Error("the change was never committed");
    await Bun.sleep(1);
  }
  proxy.delay(0);
  proxy.reset();
  return (await outcome)[0];
}

const UNAVAILABLE = { status: "rejected", reason: expect.any(StoreUnavailable) } as const;

test("a visit fails after a lost response and isn't counted again", async () => {
  await using both = await openBoth("visit");
  const { store, direct } = both;
  const link = newLink("visited", { terms: { maxVisits: 2 } });
  await store.insert([link]);
  const outcome = await cutOff(
    both,
    async () => store.update(link, visit),
    async () => (await direct.find(link.code))?.terms?.visits === 1,
  );
  expect(outcome).toEqual(UNAVAILABLE);
  expect(await direct.update(link, visit)).toMatchObject({ link: { terms: { visits: 2 } }, isChanged: true });
  expect(await store.update(link, visit)).toMatchObject({ isChanged: false });
});

test("an edit fails after a lost response and can be repeated", async () => {
  await using both = await openBoth("edit");
  const { store, direct } = both;
  const link = newLink("edited");
  await store.insert([link]);
  const change = edit({ destination: destination("https://new.example/"), maxVisits: 9 });
  const outcome = await cutOff(
    both,
    async () => store.update(link, change),
    async () => (await direct.find(link.code))?.terms !== undefined,
  );
  expect(outcome).toEqual(UNAVAILABLE);
  expect(await store.update(link, change)).toMatchObject({
    link: { target: "https://new.example/", terms: { maxVisits: 9, formerHost: "example.com" } },
    isChanged: false,
  });
});

test("a request with a key retries after a lost response and returns its first result", async () => {
  await using both = await openBoth("request");
  const { store, direct } = both;
  await store.insert([newLink("others")]);
  const links = ["others", "mine"].map((code, nth) => ({ ...newLink(code), nth }));
  const request = { key: "key", body: "body", sentMs: NOW };
  const created = { nth: 1, code: "mine", createdMs: NOW, endsMs: newLink("mine").endsMs };
  const outcome = await cutOff(
    both,
    async () => store.insertOnce(links, request),
    async () => (await direct.find("mine" as LinkKey)) !== undefined,
  );
  expect(outcome).toEqual({ status: "fulfilled", value: [false, created] } as never);
  expect(await direct.recall(request)).toEqual([created] as never);
});

test("counted visits and a report take effect once if they are repeated after a lost response", async () => {
  await using both = await openBoth("repeated");
  const { store, direct } = both;
  const link = newLink("repeated");
  await store.insert([link]);
  const { code, createdMs } = link;
  const [slice] = slicesOf({ hour: 480_005, visits: [{ code, createdMs }] });
  const report = { code, createdMs, reporter: "a", reason: "spam", note: "a note", day: 1, atMs: 1 } as const;
  const caseOf = () => direct.caseOf(link);
  const visits = async () => (await direct.sums(code, createdMs)).visits;
  for (const [change, isDone] of [
    [async () => store.add(slice as Slice), async () => (await visits()) === 1],
    [
      async () => store.report({ ...report, works: true, targetSinceMs: 0 }),
      async () => (await caseOf()) !== undefined,
    ],
  ] as const) {
    await cutOff<unknown>(both, change, isDone);
    await untilBack<unknown>(change);
  }
  expect(await visits()).toBe(1);
  expect(await caseOf()).toMatchObject({ reports: 1, notes: { length: 1 } });
});

test("1,000 simultaneous visits of a link share fewer than 20 transactions", async () => {
  const address = await server.address("shared");
  await using database = open(address, PATIENT);
  const store = await openPostgresStore(address, PATIENT);
  const link = newLink("shared", { terms: { maxVisits: 600 } });
  await store.insert([link]);
  const transactions = async () => {
    const { rows } = await database.run<{ next: string }>(
      "SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS next",
    );
    return Number(rows[0]?.next);
  };
  const before = await transactions();
  const all = await Promise.all(Array.from({ length: 1000 }, () => store.update(link, visit)));
  expect(all.filter(({ isChanged }) => isChanged)).toHaveLength(600);
  expect((await transactions()) - before).toBeLessThan(20);
  await store.close();
});

test("two simultaneous starts migrate a database once, and an older version refuses it", async () => {
  await using database = open(await server.address("schemas"), PATIENT);
  const first = "CREATE TABLE once (one integer); INSERT INTO once VALUES (1)";
  await Promise.all([migrate(database, [first]), migrate(database, [first])]);
  const both = [first, "ALTER TABLE once ADD COLUMN two integer DEFAULT 2"];
  await Promise.all([migrate(database, both), migrate(database, both)]);
  expect((await database.run<object>("SELECT * FROM once")).rows).toEqual([{ one: 1, two: 2 }]);
  expect(await migrate(database, [first]).catch(String)).toContain("has schema 2, created by a newer Curt");
});
