import { expect, test } from "bun:test";

import * as fc from "fast-check";

import type { Link } from "../../src/links/link.ts";
import type { LinkCursor } from "../../src/moderation/search.ts";
import { openDatabase } from "../../src/store/postgres/connection/database.ts";
import { createSearch } from "../../src/store/postgres/search.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { sharePostgres } from "../postgres.ts";
import { createMemoryStores } from "./memory.ts";
import { PATIENT } from "./postgres-away.ts";
import { play, queries, rounds, withoutRepeats } from "./search-cases.ts";
import { findAll, to } from "./search.ts";

const server = await sharePostgres();

test("a search finds exactly what a plain filter over all links does, newest first", async () => {
  let nth = 0;
  await fc.assert(
    fc.asyncProperty(rounds, queries, fc.integer({ min: 5, max: 60 }), async (all, asks, limit) => {
      const address = await server.address(`search${nth++}`);
      const store = await openPostgresStore(address, PATIENT);
      const plain = createMemoryStores()();
      for (const each of [store, plain])
        for (const [round, one] of all.entries()) await play(each, withoutRepeats(one), round);
      const database = openDatabase(address, PATIENT);
      const cramped = createSearch(database, 13);
      for (const asked of asks) {
        const expected = (await findAll(plain, asked, 10_000)).toSorted(byTime);
        expect(await findAll(store, asked, limit)).toEqual(expected);
        expect(await findAll(cramped, asked, limit)).toEqual(expected);
      }
      await database.close();
      await store.close();
    }),
    { numRuns: 4, endOnFailure: true },
  );
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

/** Newest first. PostgreSQL compares codes by their bytes. */
function byTime(a: Link, b: Link): number {
  return b.createdMs - a.createdMs || Buffer.compare(Buffer.from(b.code), Buffer.from(a.code));
}
