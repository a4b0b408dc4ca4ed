import { expect, test } from "bun:test";

import type { PostgresAddress } from "../../src/config/database-url.ts";
import type { Code } from "../../src/links/code.ts";
import type { Link } from "../../src/links/link.ts";
import { type LinkStore, StoreUnavailable } from "../../src/links/store.ts";
import { openDatabase } from "../../src/store/postgres/connection/database.ts";
import { migrate } from "../../src/store/postgres/schema.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { sharePostgres } from "../postgres.ts";
import { type Proxy, startProxy } from "../proxy.ts";
import { newLink, NOW } from "./links.ts";
import { PATIENT } from "./postgres-away.ts";
import { destination, edit, visit } from "./updates.ts";

/** Each way. A transaction has five round trips. */
const DELAY_MS = 40;
const MAX_TRIES = 10_000;

const server = await sharePostgres();

function openDisposable(address: PostgresAddress) {
  const database = openDatabase(address, PATIENT);
  return Object.assign(database, { [Symbol.asyncDispose]: () => database.close() });
}

/** A store whose connections break, and another one on the same database. */
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

/** Does something whose commit is made, but whose answer never comes. */
async function cutOff<T>(
  { direct, proxy }: { direct: LinkStore; proxy: Proxy },
  doing: () => Promise<T>,
  { code, isDone }: { code: string; isDone: (link: Link | undefined) => boolean },
): Promise<PromiseSettledResult<T>> {
  proxy.delay(DELAY_MS);
  const outcome = Promise.allSettled([doing()]);
  for (let tries = 0; !isDone(await direct.find(code as Code)); tries++) {
    if (tries > MAX_TRIES) throw new Error("It was never committed");
    await Bun.sleep(1);
  }
  proxy.delay(0);
  proxy.reset();
  return (await outcome)[0];
}

const hasVisits = (visits: number) => (link: Link | undefined) => link?.terms?.visits === visits;

test("a visit whose commit was not answered is not counted again, and its caller is told", async () => {
  await using both = await openBoth("visit");
  const { store, direct } = both;
  const link = newLink("visited", { terms: { maxVisits: 2 } });
  await store.insert([link]);
  const outcome = await cutOff(both, async () => store.update(link, visit), {
    code: "visited",
    isDone: hasVisits(1),
  });
  expect(outcome).toEqual({ status: "rejected", reason: expect.any(StoreUnavailable) });
  expect(await direct.update(link, visit)).toMatchObject({ link: { terms: { visits: 2 } }, isChanged: true });
  expect(await store.update(link, visit)).toMatchObject({ isChanged: false });
});

test("an edit whose commit was not answered may be repeated", async () => {
  await using both = await openBoth("edit");
  const { store } = both;
  const link = newLink("edited");
  await store.insert([link]);
  const change = edit({ destination: destination("https://new.example/"), maxVisits: 9 });
  const outcome = await cutOff(both, async () => store.update(link, change), {
    code: "edited",
    isDone: (found) => found?.terms !== undefined,
  });
  expect(outcome).toEqual({ status: "rejected", reason: expect.any(StoreUnavailable) });
  expect(await store.update(link, change)).toMatchObject({
    link: { target: "https://new.example/", terms: { maxVisits: 9, formerHost: "example.com" } },
    isChanged: false,
  });
});

test("a request whose commit was not answered is repeated, and tells what it made the first time", async () => {
  await using both = await openBoth("request");
  const { store, direct } = both;
  await store.insert([newLink("others")]);
  const links = ["others", "mine"].map((code, nth) => ({ ...newLink(code), nth }));
  const request = { key: "key", body: "body", sentMs: NOW };
  const made = { nth: 1, code: "mine", createdMs: NOW, endsMs: newLink("mine").endsMs };
  const outcome = await cutOff(both, async () => store.insertOnce(links, request), {
    code: "mine",
    isDone: (found) => found !== undefined,
  });
  expect(outcome).toEqual({ status: "fulfilled", value: [{ kind: "taken" }, made] } as never);
  expect(await direct.recall(request)).toEqual([made] as never);
});

test("1,000 visits of a link at the same moment share transactions", async () => {
  const address = await server.address("shared");
  await using database = openDisposable(address);
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

test("two starts bring a database to the newest schema once, and older versions refuse it", async () => {
  await using database = openDisposable(await server.address("schemas"));
  const first = "CREATE TABLE once (one integer); INSERT INTO once VALUES (1)";
  await Promise.all([migrate(database, [first]), migrate(database, [first])]);
  const both = [first, "ALTER TABLE once ADD COLUMN two integer DEFAULT 2"];
  await Promise.all([migrate(database, both), migrate(database, both)]);
  expect((await database.run<object>("SELECT * FROM once")).rows).toEqual([{ one: 1, two: 2 }]);
  expect(await migrate(database, [first]).catch(String)).toContain("has schema 2, made by a newer Curt");
});
