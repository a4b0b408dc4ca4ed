import { afterAll, expect, test } from "bun:test";

import * as fc from "fast-check";

import type { Link } from "../../src/links/link.ts";
import { openDatabase } from "../../src/store/postgres/database.ts";
import { createSearch } from "../../src/store/postgres/search.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { startPostgres } from "../postgres.ts";
import { createMemoryStores } from "./memory.ts";
import { PATIENT } from "./postgres-away.ts";
import { play, queries, rounds, withoutRepeats } from "./search-cases.ts";
import { findAll, to } from "./search.ts";

const server = await startPostgres();
afterAll(() => server[Symbol.asyncDispose]());

test("a search finds exactly what a plain filter over all links does, in the same order", async () => {
  let nth = 0;
  await fc.assert(
    fc.asyncProperty(rounds, queries, fc.integer({ min: 5, max: 60 }), async (all, asks, limit) => {
      const address = await server.address(`search${nth++}`);
      const store = await openPostgresStore(address, PATIENT);
      const plain = createMemoryStores()();
      // The second link of a code in one insert would count as newer than all the others.
      for (const each of [store, plain])
        for (const [round, one] of all.entries()) await play(each, withoutRepeats(one), round);
      const database = openDatabase(address, PATIENT);
      // As if it had taken weeks: the index of sites has parts.
      await database.run(
        "UPDATE links SET place = last - (last - place) * 1000000 FROM (SELECT max(place) AS last FROM links)",
      );
      const cramped = createSearch(database, { looked: 50, first: 7, longest: 13 });
      const unsorted = createSearch(database, { looked: 50, first: 7, longest: 13, sorted: 5 });
      for (const asked of asks) {
        const expected = await findAll(plain, asked, 10_000);
        expect(await findAll(store, asked, limit)).toEqual(expected);
        expect(await findAll(cramped, asked, limit)).toEqual(expected);
        expect(byCode(await findAll(unsorted, asked, limit))).toEqual(byCode(expected));
      }
      await database.close();
      await store.close();
    }),
    { numRuns: 4, endOnFailure: true },
  );
});

test("a request looks at a bounded number of links, and tells how far it got", async () => {
  const address = await server.address("bounded");
  const store = await openPostgresStore(address, PATIENT);
  const NOW = to("x", "https://x.example/").createdMs;
  const links = Array.from({ length: 500 }, (_, at) =>
    to(`a${at}`, `https://a${at}.example/`, { createdMs: NOW + at }),
  );
  await store.insert(links);
  const database = openDatabase(address, PATIENT);
  const { search } = createSearch(database, { looked: 100, first: 50, longest: 50 });
  const first = await search({ text: "no such link" }, { limit: 5, nowMs: NOW });
  expect(first).toMatchObject({ links: [], lookedBackToMs: NOW + 400 });
  const next = await search({ text: "no such link" }, { cursor: first.cursor, limit: 5, nowMs: NOW });
  expect(next).toMatchObject({ links: [], lookedBackToMs: NOW + 300 });
  // The index of sites spares the way there.
  const { links: found } = await search({ host: "a3.example" }, { limit: 1, nowMs: NOW });
  expect(found.map(({ code }) => code as string)).toEqual(["a3"]);
  await database.close();
  await store.close();
});

test("what was made since a copy is found", async () => {
  const address = await server.address("copied");
  const store = await openPostgresStore(address, PATIENT);
  const site = "https://since.example/";
  const before = to("before", "https://before.example/");
  await store.insert([before]);
  const database = openDatabase(address, PATIENT);
  // As copies number the links.
  await database.run("UPDATE links SET place = 1");
  const since = Array.from({ length: 3 }, (_, at) => to(`since${at}`, site));
  for (const link of since) await store.insert([link]);
  for (const [host, codes] of [
    ["since.example", ["since2", "since1", "since0"]],
    ["before.example", ["before"]],
    ["never.example", []],
  ] as const)
    expect((await findAll(store, { host }, 2)).map(({ code }) => code as string)).toEqual([...codes]);
  await database.close();
  await store.close();
});

function byCode(links: readonly Link[]): Link[] {
  return links.toSorted((a, b) => (a.code < b.code ? -1 : 1));
}
