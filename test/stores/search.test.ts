import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";

import * as fc from "fast-check";

import type { GuardStore } from "../../src/guard/store.ts";
import type { Link } from "../../src/links/link.ts";
import { prepareSearch } from "../../src/store/sqlite/search.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { temporaryFolder } from "../service.ts";
import { newLink } from "./links.ts";
import { createMemoryStores } from "./memory.ts";
import { play, queries, rounds } from "./search-cases.ts";
import { findAll, to } from "./search.ts";
import { destination, edit } from "./updates.ts";

const NOW = newLink("x").createdMs;
const DECISION = { who: "api", atMs: NOW } as const;

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

test("a search finds exactly what a plain filter over all links does, in the same order", async () => {
  let nth = 0;
  await fc.assert(
    fc.asyncProperty(rounds, queries, fc.integer({ min: 5, max: 60 }), async (all, asks, limit) => {
      const path = join(folder.path, `${nth++}.db`);
      const store = await openSqliteStore(path);
      const plain = createMemoryStores()();
      for (const each of [store, plain])
        for (const [round, one] of all.entries()) await play(each, one, round);
      using database = new Database(path, { readonly: true, strict: true });
      const cramped = prepareSearch(database, { looked: 50, walked: 13, told: 7 });
      const unsorted = prepareSearch(database, { looked: 50, sorted: 5 });
      for (const asked of asks) {
        const expected = await findAll(plain, asked, 10_000);
        expect(await findAll(store, asked, limit)).toEqual(expected);
        expect(await findAll(inTurn(cramped), asked, limit)).toEqual(expected);
        expect(byCode(await findAll(inTurn(unsorted), asked, limit))).toEqual(byCode(expected));
      }
      cramped.close();
      unsorted.close();
      await store.close();
    }),
    { numRuns: 10, endOnFailure: true },
  );
});

test("links are found that got the place of newer ones, which were deleted", async () => {
  const store = await openSqliteStore(join(folder.path, "places.db"));
  const links = Array.from({ length: 1100 }, (_, nth) =>
    to(`old${nth}`, `https://old${nth}.example/`, { endsMs: nth < 1000 ? NOW + 1 : NOW }),
  );
  await store.insert(links);
  while (await store.index());
  while ((await store.purge(NOW, 500)) > 0);
  await store.insert(
    Array.from({ length: 600 }, (_, nth) => to(`new${nth}`, `https://new${nth % 6}.example/`)),
  );
  for (let count = 0; count < 2; count++) {
    expect(await findAll(store, { host: "new1.example" })).toHaveLength(100);
    expect(await findAll(store, { host: "old999.example" })).toHaveLength(1);
    expect(await findAll(store, { host: "old1000.example" })).toEqual([]);
    while (await store.index());
  }
  await store.close();
});

test("a host's links are found in every part of the index, in pages, newest first", async () => {
  const store = await openSqliteStore(join(folder.path, "parts.db"));
  const links = Array.from({ length: 70_000 }, (_, nth) =>
    to(`a${nth}`, `https://${nth % 10_000 === 9 ? "rare" : `a${nth % 3}`}.example/`),
  );
  for (let at = 0; at < links.length; at += 10_000) await store.insert(links.slice(at, at + 10_000));
  while (await store.index());
  const rare = ["a60009", "a50009", "a40009", "a30009", "a20009", "a10009", "a9"];
  for (const limit of [1, 3, 50]) {
    const found = await findAll(store, { host: "rare.example" }, limit);
    expect(found.map(({ code }) => code as string)).toEqual(rare);
  }
  expect(await findAll(store, { host: "a1.example" }, 500)).toHaveLength(23_331);
  await store.close();
});

test("a file of an earlier version is searched at once, and indexed bit by bit", async () => {
  const path = join(folder.path, "earlier.db");
  const links = Array.from({ length: 3000 }, (_, nth) =>
    to(`a${nth}`, `https://a${nth % 100}.example/`, { createdMs: NOW - nth }),
  );
  {
    const earlier = await openSqliteStore(path);
    await earlier.insert(links);
    await earlier.close();
    using database = new Database(path, { readwrite: true });
    for (const table of ["sites", "blocks", "counters", "cases", "notes", "reporters", "copied"])
      database.run(`DROP TABLE ${table}`);
    for (const table of ["requests", "secrets"]) database.run(`DROP TABLE ${table}`);
    database.run("DROP INDEX links_by_disabled");
    database.run("ALTER TABLE links DROP COLUMN terms");
    database.run("DROP TABLE open_days");
    database.run("PRAGMA user_version = 6");
  }
  const store = await openSqliteStore(path);
  for (let blocks = 0; blocks < 5; blocks++) {
    expect(await findAll(store, { host: "a33.example" })).toHaveLength(30);
    expect(await findAll(store, { madeFromMs: NOW - 99 })).toHaveLength(100);
    expect(await store.index()).toBe(blocks < 4);
  }
  await store.close();
});

test("the index forgets what is purged, erased or changed, and stays right after VACUUM", async () => {
  const path = join(folder.path, "forgets.db");
  const store = await openSqliteStore(path);
  await store.insert(
    Array.from({ length: 1024 }, (_, nth) =>
      to(`a${nth}`, `https://a${nth % 100}.example/`, nth % 2 === 0 ? { endsMs: NOW } : {}),
    ),
  );
  while (await store.index());
  await store.erase(newLink("a7"), DECISION);
  // The last one is in a block that is not full.
  for (const code of ["a9", "a1023"])
    for (const host of ["first", "second"])
      await store.update(newLink(code), edit({ destination: destination(`https://${host}.example/`) }));
  while ((await store.purge(NOW, 500)) > 0);
  await store.close();
  {
    using database = new Database(path, { readwrite: true });
    // The first block has no link with the rowid 0.
    expect(database.query("SELECT count(*) AS sites FROM sites").get()).toEqual({ sites: 510 });
    database.run("VACUUM");
  }
  const again = await openSqliteStore(path);
  const expected = Array.from({ length: 10 }, (_, nth) => `a${933 - nth * 100}`);
  expect((await findAll(again, { host: "a33.example" })).map(({ code }) => code as string)).toEqual(expected);
  await again.close();
});

test(
  "a URL of thousands of equal characters does not hold up a search",
  async () => {
    const store = await openSqliteStore(join(folder.path, "equal.db"));
    await store.insert(
      Array.from({ length: 2000 }, (_, nth) => to(`a${nth}`, `https://a.example/${"a".repeat(8000)}`)),
    );
    const [none, all] = [await findAll(store, { text: `${"a".repeat(4000)}b` }), { text: "A".repeat(500) }];
    expect(none).toEqual([]);
    expect(await findAll(store, all)).toHaveLength(2000);
    await store.close();
  },
  // With LIKE, it takes minutes where this takes a second.
  60_000,
);

function inTurn({ search }: ReturnType<typeof prepareSearch>): Pick<GuardStore, "search"> {
  return { search: async (...asked) => search(...asked) };
}

function byCode(links: readonly Link[]): Link[] {
  return links.toSorted((a, b) => (a.code < b.code ? -1 : 1));
}
