import { describe, expect, test } from "bun:test";

import type { LinkKey } from "../../src/links/code.ts";
import type { LinkStore, NewLink } from "../../src/links/link-store.ts";
import { NEVER_MS } from "../../src/links/time.ts";
import { type Database, openDatabase } from "../../src/store/postgres/connection/database.ts";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { sharePostgres } from "../support/postgres.ts";
import { startProxy } from "../support/proxy.ts";
import { newLink } from "./links.ts";
import { PATIENT } from "./postgres-away.ts";

const NOW = newLink("x").createdMs;

const server = await sharePostgres();

type Store = Awaited<ReturnType<typeof openPostgresStore>>;

/** Opens `handles` stores on one database, as several machines have them, and the database itself. */
async function openStores(name: string, handles: number) {
  const address = await server.address(name);
  const stores: Store[] = [];
  for (let nth = 0; nth < handles; nth++)
    stores.push(await openPostgresStore(address, { ...PATIENT, connections: 4, sizeKnownMs: 20 }));
  const database = openDatabase(address, PATIENT);
  return {
    stores: stores as [Store, ...Store[]],
    database,
    async [Symbol.asyncDispose]() {
      for (const store of stores) await store.close();
      await database.close();
    },
  };
}

const count = (outcomes: readonly (readonly boolean[])[]) => outcomes.flat().filter(Boolean).length;

describe("creates over several machines", () => {
  test("simultaneous batches with the same codes in different orders create each link once", async () => {
    await using opened = await openStores("orders", 3);
    const [store] = opened.stores;
    for (let round = 0; round < 20; round++) {
      const codes = Array.from({ length: 60 }, (_, nth) => newLink(`${round}-${nth}`));
      const orders = [codes, codes.toReversed(), [...codes.slice(30), ...codes.slice(0, 30)]];
      const outcomes = await Promise.all(
        orders.map((links, nth) => (opened.stores[nth] ?? store).insert(links)),
      );
      expect(count(outcomes)).toBe(60);
    }
  });

  test("a batch reuses the codes of its own ended links, in order", async () => {
    await using opened = await openStores("over", 1);
    const [store] = opened.stores;
    const over = (nth: number) =>
      newLink("over", { createdMs: NOW + nth, endsMs: NOW, freeIfEndedByMs: NOW });
    const last = newLink("over", { createdMs: NOW + 2, freeIfEndedByMs: NOW });
    const areInserted = await store.insert([over(0), over(1), last, over(3), newLink("other")]);
    expect(areInserted).toEqual([true, true, true, false, true]);
    expect(await store.find("over" as LinkKey)).toMatchObject({ createdMs: NOW + 2 });
    while ((await store.size()) !== 2) await Bun.sleep(10);
  });

  test("a batch reports its own links as created after a lost response, and keeps others' links", async () => {
    await using opened = await openStores("cut", 1);
    await using proxy = await startProxy(server.port);
    const store = await openPostgresStore(await server.address("cut", proxy.port), PATIENT);
    const others = [
      newLink("others", { originalUrl: "https://others.example/" }),
      newLink("others2", { terms: { maxVisits: 5 } }),
    ];
    await store.insert(others);
    const links = [
      ...others.map(({ code }) => newLink(code)),
      ...Array.from({ length: 20 }, (_, nth) =>
        newLink(`cut${nth}`, nth === 7 ? { terms: { maxVisits: 7 } } : {}),
      ),
    ];
    proxy.delay(100);
    const inserting = store.insert(links);
    const [elsewhere] = opened.stores;
    // The server has committed, and its response is on the way.
    while ((await elsewhere.find("cut0" as LinkKey)) === undefined) await Bun.sleep(1);
    proxy.delay(0);
    proxy.reset();
    expect(await inserting).toEqual(links.map((_, nth) => nth >= others.length));
    for (const { code } of links) expect(await elsewhere.find(code)).toMatchObject({ code });
    for (const other of others)
      expect(await elsewhere.find(other.code)).toMatchObject({
        originalUrl: other.originalUrl,
        terms: other.terms,
      });
    expect(await elsewhere.find("cut7" as LinkKey)).toMatchObject({ terms: { maxVisits: 7 } });
    await store.close();
  });
});

test("the size of a store in PostgreSQL doesn't count purged links", async () => {
  const address = await server.address("purged");
  const store = await openPostgresStore(address, PATIENT);
  const ends = Array.from({ length: 10 }, (_, nth) => (nth < 4 ? NOW : NEVER_MS));
  await store.insert(ends.map((endsMs, nth) => newLink(`link${nth}`, { endsMs })));
  expect(await store.purge(NOW, 100)).toBe(4);
  // Writes the count, which the purge doesn't wait for.
  await store.close();
  const reopened = await openPostgresStore(address, PATIENT);
  expect(await reopened.size()).toBe(6);
  await reopened.close();
});

describe("changes in PostgreSQL", () => {
  const withdraw = (store: LinkStore, code: string) =>
    store.update({ code: code as LinkKey, createdMs: NOW }, { type: "withdraw", atMs: NOW + 1 });
  const createLinks = (store: LinkStore, ...codes: string[]) =>
    store.insert(codes.map((code): NewLink => newLink(code)));

  /** Changes a link in a transaction; the result commits it. */
  async function changeSlowly({ transaction }: Database, code: string) {
    const { promise: mayCommit, resolve: commit } = Promise.withResolvers<void>();
    const { promise: isChanged, resolve: onChanged } = Promise.withResolvers<void>();
    const committed = transaction(async (run) => {
      await run("INSERT INTO changes (code) VALUES ($1)", [code]);
      onChanged();
      await mayCommit;
    });
    await isChanged;
    return () => {
      commit();
      return committed;
    };
  }

  test("are reported once each, even around a transaction that commits late", async () => {
    await using opened = await openStores("late", 2);
    const [store, other = store] = opened.stores;
    await createLinks(store, "a", "b", "c", "late");
    let { position } = await other.changes();
    const reported: string[][] = [];
    const read = async () => {
      const changes = await other.changes(position);
      expect(changes.isComplete).toBe(true);
      reported.push([...changes.keys]);
      ({ position } = changes);
    };
    await withdraw(store, "a");
    const commit = await changeSlowly(opened.database, "late");
    await withdraw(store, "b");
    await read();
    await read();
    await withdraw(store, "c");
    await read();
    await commit();
    await read();
    await read();
    expect(reported).toEqual([["a", "b"], [], ["c"], ["late"], []]);
  });

  test("are reported as incomplete only if deleted ones were unread", async () => {
    await using opened = await openStores("old", 1);
    const [store] = opened.stores;
    await createLinks(store, "a", "b", "c");
    const { position: start } = await store.changes();
    await withdraw(store, "a");
    const { position: middle } = await store.changes(start);
    await opened.database.run("UPDATE changes SET made_at = made_at - interval '2 hours'");
    await withdraw(store, "b");
    await store.purge(0, 1);
    expect(await store.changes(start)).toMatchObject({ keys: [], isComplete: false });
    expect(await store.changes(middle)).toMatchObject({ keys: ["b"], isComplete: true });
    const { rows } = await opened.database.run<{ code: string }>("SELECT code FROM changes");
    expect(rows).toEqual([{ code: "b" }]);
  });

  test("are reported even if a restarted server reuses transaction numbers", async () => {
    await using opened = await openStores("again", 1);
    const [store] = opened.stores;
    await createLinks(store, "a", "b");
    await withdraw(store, "a");
    const { position } = await store.changes();
    // Many transactions had started that left no trace.
    const ahead = position.replace(/^\d+:\d+:\S*/, "9000000:9000000:") as typeof position;
    await withdraw(store, "b");
    expect(await store.changes(ahead)).toMatchObject({ keys: ["b"], isComplete: true });
  });

  test("are reported as incomplete after a failover lost a published one, so that readers clear their caches", async () => {
    await using opened = await openStores("lost", 1);
    const [store] = opened.stores;
    await createLinks(store, "a", "b");
    await withdraw(store, "a");
    const { position } = await store.changes();
    expect(await store.changes(position)).toMatchObject({ keys: [], isComplete: true });
    await opened.database.run("DELETE FROM changes");
    expect(await store.changes(position)).toMatchObject({ keys: [], isComplete: false });
    await withdraw(store, "b");
    const { position: next, isComplete } = await store.changes(position);
    expect(isComplete).toBe(false);
    expect(await store.changes(next)).toMatchObject({ keys: [], isComplete: true });
  });
});

test("each of 3,000 simultaneous look-ups in PostgreSQL returns its own link", async () => {
  await using opened = await openStores("look-ups", 1);
  const [store] = opened.stores;
  await store.insert(Array.from({ length: 100 }, (_, nth) => newLink(`l${nth}`)));
  const codes = Array.from({ length: 3000 }, (_, nth) => `l${nth % 150}` as LinkKey);
  const links = await Promise.all(codes.map((code) => store.find(code)));
  expect(links.map((link) => link?.code)).toEqual(
    codes.map((code) => (Number(code.slice(1)) < 100 ? code : undefined)),
  );
});
