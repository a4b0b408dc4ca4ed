import { expect, test } from "bun:test";

import { openDatabase } from "../../src/store/postgres/connection/database.ts";
import { createSearch } from "../../src/store/postgres/link-search.ts";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { sharePostgres } from "../support/postgres.ts";
import { PATIENT } from "./postgres-away.ts";
import { checkSearches } from "./search-cases.ts";
import { searchInPages, to } from "./search.ts";

const server = await sharePostgres();

/** `ROUNDS=4 npm test -- test/stores/postgres-search.test.ts` tries more stores. */
const ROUNDS = Number(process.env["ROUNDS"] ?? 1);

test("a search in PostgreSQL finds the same links as a plain filter, newest first", async () => {
  let nth = 0;
  await checkSearches(ROUNDS, async () => {
    const address = await server.address(`search${nth++}`);
    const store = await openPostgresStore(address, PATIENT);
    const database = openDatabase(address, PATIENT);
    return {
      store,
      cramped: createSearch(database, 13),
      async close() {
        await database.close();
        await store.close();
      },
    };
  });
});

test("one request searches a bounded number of links and reports its progress", async () => {
  const address = await server.address("bounded");
  const store = await openPostgresStore(address, PATIENT);
  const { createdMs } = to("x", "https://x.example/");
  // An import creates many links of one millisecond.
  const links = Array.from({ length: 500 }, (_, at) =>
    to(`a${at}`, `https://a${at}.example/`, { createdMs: createdMs + Math.floor(at / 250) }),
  );
  await store.insert(links);
  await store.figures(createdMs);
  const database = openDatabase(address, PATIENT);
  const { search } = createSearch(database, 100);
  expect(await searchInPages(search, { host: "a3.example" })).toEqual({
    codes: ["a3"],
    shares: [0.2, 0.4, 0.6, 0.8, 1, 1],
  });
  await database.close();
  await store.close();
});
