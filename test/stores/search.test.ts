import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";

import { openReader } from "../../src/store/sqlite/file/file.ts";
import { createSearch } from "../../src/store/sqlite/link-search.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { temporaryFolder } from "../support/service.ts";
import { newLink } from "./links.ts";
import { checkSearches } from "./search-cases.ts";
import { findAll, searchInPages, to } from "./search.ts";

const NOW = newLink("x").createdMs;

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

/** `ROUNDS=10 npm test -- test/stores/search.test.ts` tries more stores. Two have a few thousand links in about 20 rounds. */
const ROUNDS = Number(process.env["ROUNDS"] ?? 2);

test("a search in SQLite finds the same links as a plain filter, in the same order", async () => {
  let nth = 0;
  await checkSearches(ROUNDS, async () => {
    const path = join(folder.path, `${nth++}.db`);
    const store = await openSqliteStore(path);
    const database = openReader(path);
    const { search } = createSearch(database, 13);
    return {
      store,
      cramped: { search: async (...query) => search(...query) },
      async close() {
        database.close();
        await store.close();
      },
    };
  });
});

test("one request searches a bounded number of links, reports its progress, and skips purged ones", async () => {
  const path = join(folder.path, "slices.db");
  const store = await openSqliteStore(path);
  const links = Array.from({ length: 1000 }, (_, nth) =>
    to(`a${nth}`, `https://a${nth}.example/`, { endsMs: nth > 100 && nth < 900 ? NOW : NOW + 1 }),
  );
  await store.insert(links);
  while ((await store.purge(NOW, 500)) > 0);
  using database = openReader(path);
  const { search } = createSearch(database, 100);
  const { codes, shares } = await searchInPages(search, { host: "a50.example" });
  expect(codes).toEqual(["a50"]);
  expect(shares.map((share) => Math.round(share * 10))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  await store.close();
});

test(
  "URLs of thousands of equal characters don't slow down a search",
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
