import { expect, test } from "bun:test";

import type { LinkCursor } from "../../src/moderation/search.ts";
import { openDatabase } from "../../src/store/postgres/connection/database.ts";
import { createSearch } from "../../src/store/postgres/search.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { sharePostgres } from "../postgres.ts";
import { PATIENT } from "./postgres-away.ts";
import { checkSearches } from "./search-cases.ts";
import { to } from "./search.ts";

const server = await sharePostgres();

/** `ROUNDS=4 npm test -- test/stores/postgres-search.test.ts` tries more stores. */
const ROUNDS = Number(process.env["ROUNDS"] ?? 1);

test("a search finds exactly what a plain filter over all links does, newest first", async () => {
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

test("a request looks at a bounded number of links, and says how far it got", async () => {
  const address = await server.address("bounded");
  const store = await openPostgresStore(address, PATIENT);
  const { createdMs } = to("x", "https://x.example/");
  // As an import makes them: many of one millisecond.
  const links = Array.from({ length: 500 }, (_, at) =>
    to(`a${at}`, `https://a${at}.example/`, { createdMs: createdMs + Math.floor(at / 250) }),
  );
  await store.insert(links);
  await store.figures(createdMs);
  const database = openDatabase(address, PATIENT);
  const { search } = createSearch(database, 100);
  const shares: number[] = [];
  const found: string[] = [];
  let cursor: LinkCursor | undefined;
  do {
    const page = await search({ host: "a3.example" }, { cursor, limit: 5 });
    shares.push(page.searched);
    found.push(...page.links.map(({ code }) => code));
    ({ cursor } = page);
  } while (cursor !== undefined);
  expect([found, shares]).toEqual([["a3"], [0.2, 0.4, 0.6, 0.8, 1, 1]]);
  await database.close();
  await store.close();
});
