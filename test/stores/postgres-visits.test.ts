import { describe, expect, test } from "bun:test";

import type { LinkKey } from "../../src/links/code.ts";
import type { Database } from "../../src/store/postgres/connection/database.ts";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import type { Slice } from "../../src/visits/days/slice.ts";
import type { VisitStore } from "../../src/visits/days/visit-store.ts";
import { sharePostgres } from "../support/postgres.ts";
import { startProxy } from "../support/proxy.ts";
import { detailOf, slicesOf } from "../visits/slices.ts";
import { newLink } from "./links.ts";
import { MAX_TRIES, open, PATIENT, TRY_MS } from "./postgres-away.ts";
import { testVisitStore } from "./visits.ts";

const server = await sharePostgres();

const DAY = 20_000;
const CREATED = 5;
const CLOSE = { closeBefore: DAY + 1, forgetBefore: 0 };
const FORGET = { closeBefore: DAY + 1, forgetBefore: DAY + 1 };

async function openStore(name: string, port = server.port, onFault?: (error: unknown) => void) {
  const store = await openPostgresStore(await server.address(name, port), {
    ...PATIENT,
    ...(onFault && { onFault }),
  });
  return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() });
}

/** Opens the database for transactions that hold locks which others wait for. */
async function openTables(name: string) {
  return open(await server.address(name), { ...PATIENT, connections: 2 });
}

type Store = Awaited<ReturnType<typeof openStore>>;

/** Waits until `count` statements wait for a lock. */
async function untilWaiting({ run }: Pick<Database, "run">, count: number): Promise<void> {
  const locks = `
    SELECT count(*) AS waiting FROM pg_stat_activity
    WHERE wait_event_type = 'Lock' AND datname = current_database()`;
  for (let tries = 0; (await run<{ waiting: number }>(locks)).rows[0]?.waiting !== count; tries++) {
    expect(tries).toBeLessThan(MAX_TRIES);
    await Bun.sleep(TRY_MS);
  }
}

testVisitStore("PostgreSQL", (onFault) => openStore("visits", server.port, onFault));

describe("visits in PostgreSQL", () => {
  const sums = (store: VisitStore, code: string) => store.sums(code as LinkKey, CREATED);
  const visitsOf = (source: string, sequence: number, visits: { code: string; visitor?: number }[]) =>
    slicesOf({ source, sequence, hour: DAY * 24 + 5, visits }, 10);

  test("are added in few milliseconds of work, not counting the wait for a slow network", async () => {
    await using proxy = await startProxy(server.port);
    await using store = await openStore("slow", proxy.port);
    proxy.delay(50);
    for (const slice of visitsOf("a", 1, [{ code: "x" }, { code: "y" }]))
      // `add` returns milliseconds of work, not elapsed time.
      expect(await store.add(slice)).toBeLessThan(5);
    expect(await sums(store, "x")).toEqual({ visits: 1, bots: 0 });
  });

  test("count once if several processes add and age them simultaneously", async () => {
    const stores = [await openStore("races"), await openStore("races"), await openStore("races")];
    const [store] = stores;
    const expected = new Map<string, number>();
    const someLinks = (sequence: number) =>
      Array.from({ length: 40 }, (_, nth) => ({ code: `link${nth}`, visitor: nth })).filter(
        (_, nth) => (nth * sequence) % 3 > 0,
      );
    const count = (visits: { code: string }[]) => {
      for (const { code } of visits) expected.set(code, (expected.get(code) ?? 0) + 1);
      return visits;
    };
    const addAll = async (slices: readonly Slice[], to: VisitStore) => {
      for (const slice of slices) await to.add(slice);
    };
    const counting = ["a", "b", "c"].map(async (source) => {
      for (let sequence = 1; sequence <= 6; sequence++) {
        const slices = visitsOf(source, sequence, count(someLinks(sequence)));
        const adding = stores.map((one) => addAll(slices, one));
        await Promise.all([...adding, ...stores.map((one) => one.age(CLOSE, 7))]);
      }
    });
    await Promise.all(counting);
    if (store === undefined) throw new Error("no store");
    for (const [code, visits] of expected)
      expect([code, await sums(store, code)]).toEqual([code, { visits, bots: 0 }]);
    await using tables = await openTables("races");
    const { rows } = await tables.run<{ count: number }>("SELECT name, count FROM counters");
    const all = [...expected.values()].reduce((sum, visits) => sum + visits, 0);
    expect(rows).toEqual([{ name: "visits", count: all }] as never);
    for (const one of stores) await one.close();
  });

  test("are merged in bounded steps on a day with many sources, and count a shared visitor once", async () => {
    await using store = await openStore("parts");
    await using tables = await openTables("parts");
    const closedRows = "SELECT count(*) AS count FROM visits WHERE state > 0";
    const countClosed = async () => (await tables.run<{ count: number }>(closedRows)).rows[0]?.count ?? 0;
    for (const code of ["one", "other"])
      for (let nth = 0; nth < 25; nth++)
        for (const slice of visitsOf(`${code}${nth}`, 1, [{ code, visitor: 7 }])) await store.add(slice);
    const changes: number[] = [];
    for (let closed = 0, aged = 10; aged === 10;) {
      aged = await store.age(CLOSE, 10);
      const before = closed;
      closed = await countClosed();
      changes.push(closed - before);
    }
    expect(Math.max(...changes)).toBeLessThanOrEqual(11);
    expect(changes.reduce((sum, rows) => sum + rows, 0)).toBe(50);
    for (const code of ["one", "other"]) {
      const [day] = await store.days(code as LinkKey, CREATED, DAY, DAY);
      expect(day).toMatchObject({ visits: 25, bots: 0 });
      expect(detailOf(day)).toMatchObject({ visitors: 1 });
    }
  });

  test("are neither lost nor counted twice if a slice arrives during their merge", async () => {
    await using store = await openStore("merged");
    await using tables = await openTables("merged");
    const add = async (source: string, sequence: number, visitor: number) => {
      for (const slice of visitsOf(source, sequence, [{ code: "one", visitor }])) await store.add(slice);
    };
    await add("a", 1, 1);
    await add("b", 1, 2);
    // Ageing has locked the row of "a" and waits for that of "b" when "a" continues.
    const done = await tables.transaction(async (run) => {
      await run("SELECT source FROM visits WHERE source = 'b' FOR UPDATE");
      const ageing = store.age(CLOSE, 10);
      await untilWaiting(tables, 1);
      const adding = add("a", 2, 3);
      await untilWaiting(tables, 2);
      return { ageing, adding };
    });
    await Promise.all([done.ageing, done.adding]);
    expect(await sums(store, "one")).toEqual({ visits: 3, bots: 0 });
    await store.age(CLOSE, 10);
    const [day] = await store.days("one" as LinkKey, CREATED, DAY, DAY);
    expect(detailOf(day)).toMatchObject({ visitors: 3, hours: { 5: [3, 0] } });
  });

  test("are summed up while a purge skips their links instead of waiting", async () => {
    await using store = await openStore("purged");
    await using tables = await openTables("purged");
    const links = ["a", "b"].map((code) => newLink(code, { createdMs: CREATED, endsMs: 10 }));
    await store.insert(links);
    for (const slice of visitsOf("a", 1, links)) await store.add(slice);
    await store.age(CLOSE, 10);
    const ageing = await tables.transaction(async (run) => {
      await run(`INSERT INTO visits VALUES (${CREATED}, 0, 0, 0, 0, 1, 1, 'a', '')`);
      const running = store.age(FORGET, 10);
      await untilWaiting(tables, 1);
      expect(await store.purge(20, 10)).toBe(0);
      return [running];
    });
    expect(await Promise.all(ageing)).toEqual([2]);
    expect(await sums(store, "a")).toEqual({ visits: 1, bots: 0 });
    expect(await store.purge(20, 10)).toBe(2);
    expect(await sums(store, "a")).toEqual({ visits: 0, bots: 0 });
  });

  test("leave no sum for a link that is replaced while they age", async () => {
    await using store = await openStore("replaced");
    await using tables = await openTables("replaced");
    const old = newLink("one", { createdMs: CREATED, endsMs: 10 });
    await store.insert([old]);
    for (const slice of visitsOf("a", 1, [{ code: "one" }, { code: "other" }])) await store.add(slice);
    await store.age(CLOSE, 10);
    await tables.transaction(async (run) => {
      await run("UPDATE links SET created_ms = 20 WHERE code = 'one'");
      await store.age(FORGET, 10);
      expect(await sums(store, "one")).toEqual({ visits: 1, bots: 0 });
    });
    while ((await store.age(FORGET, 10)) > 0);
    expect(await sums(store, "one")).toEqual({ visits: 0, bots: 0 });
  });

  describe("of a link that is erased simultaneously", () => {
    const link = newLink("gone", { createdMs: CREATED });
    const [slice] = visitsOf("a", 1, [{ code: link.code }]);
    if (slice === undefined) throw new Error("no slice");

    /** Starts `first` and then `second` while `hold` blocks both, and waits for both. */
    async function race(
      name: string,
      hold: string,
      first: (store: Store) => Promise<unknown>,
      second: (store: Store) => Promise<unknown>,
      before: (store: Store) => Promise<unknown> = async () => {},
    ): Promise<void> {
      await using store = await openStore(name);
      await using tables = await openTables(name);
      await store.insert([link]);
      await before(store);
      const transaction = tables
        .transaction(async (run) => {
          await run(hold);
          const firstResult = first(store);
          await untilWaiting(tables, 1);
          const secondResult = second(store);
          // The second may finish without waiting.
          await Promise.race([secondResult, untilWaiting(tables, 2)]);
          // Rolls back the held rows.
          throw Object.assign(new Error("enough"), { done: [firstResult, secondResult] });
        })
        .catch((error: { done: Promise<unknown>[] }) => error.done);
      await Promise.all(await transaction);
      expect(await sums(store, link.code)).toEqual({ visits: 0, bots: 0 });
      await store.age(FORGET, 10);
      expect(await sums(store, link.code)).toEqual({ visits: 0, bots: 0 });
    }
    const add = (store: Store) => store.add(slice);
    const erase = (store: Store) => store.erase(link, { who: "api", atMs: 1 });

    test("are discarded if they arrive during the erasure", () =>
      race("erased1", "SELECT FROM links WHERE code = 'gone' FOR UPDATE", erase, add));

    test("are deleted if the erasure arrives while they are added", () =>
      race("erased2", `INSERT INTO counters VALUES (${DAY}, 'visits', 1)`, add, erase));

    test("are deleted if the erasure arrives while they are summed up", () =>
      race(
        "erased3",
        `INSERT INTO visits VALUES (${CREATED}, 0, 1, 0, 0, 1, 1, 'gone', '')`,
        (store) => store.age(FORGET, 10),
        erase,
        async (store) => {
          await store.add(slice);
          await store.age(CLOSE, 10);
        },
      ));
  });

  test("are remembered as counted for a month, and no row remains afterwards", async () => {
    await using store = await openStore("month");
    await using tables = await openTables("month");
    const slices = ["a", "b"].flatMap((source) => visitsOf(source, 1, [{ code: "one" }]));
    const rows = async () =>
      (await tables.run<{ rows: number }>("SELECT count(*) AS rows FROM visits")).rows[0]?.rows;
    const ageAndAdd = async (closeBefore: number, forgetBefore: number) => {
      while ((await store.age({ closeBefore, forgetBefore }, 100)) > 0);
      for (const slice of slices) await store.add(slice);
    };
    for (const slice of slices) await store.add(slice);
    await ageAndAdd(DAY + 30, 0);
    expect([await sums(store, "one"), await rows()]).toEqual([{ visits: 2, bots: 0 }, 2]);
    await ageAndAdd(DAY + 30, DAY + 22);
    expect([await sums(store, "one"), await rows()]).toEqual([{ visits: 0, bots: 0 }, 2]);
    while ((await store.age({ closeBefore: DAY + 31, forgetBefore: DAY + 23 }, 100)) > 0);
    expect(await rows()).toBe(0);
  });
});
