import { expect, test } from "bun:test";

import type { Code } from "../../../src/links/code.ts";
import { StoreUnavailable } from "../../../src/links/store.ts";
import { openPostgresStore } from "../../../src/store/postgres/store.ts";
import type { Slice } from "../../../src/visits/visit-rows.ts";
import { sharePostgres } from "../../postgres.ts";
import { startProxy } from "../../proxy.ts";
import { newLink } from "../../stores/links.ts";
import { PATIENT } from "../../stores/postgres-away.ts";
import { slicesOf } from "../../visits/slices.ts";

const server = await sharePostgres();

const REPORTED = { reason: "spam", day: 1, atMs: 1, works: true, targetSinceMs: 0 } as const;

test("visits count once if connections break while they are added", async () => {
  await using proxy = await startProxy(server.port);
  const through = await openPostgresStore(await server.address("visits", proxy.port), PATIENT);
  const store = await openPostgresStore(await server.address("visits"), PATIENT);
  const visits = Array.from({ length: 60 }, (_, nth) => ({ code: `link${nth}` }));
  let failures = 0;
  const addAtLast = async (slice: Slice, breakAfterMs: number): Promise<void> => {
    for (let tries = 0; tries < 1000; tries++) {
      const adding = through.add(slice).catch((error: unknown) => error);
      if (tries === 0) {
        await Bun.sleep(breakAfterMs);
        proxy.reset();
      }
      const outcome = await adding;
      if (typeof outcome === "number") return;
      expect(outcome).toBeInstanceOf(StoreUnavailable);
      failures++;
      await Bun.sleep(10);
    }
  };
  for (let sequence = 1; sequence <= 5; sequence++)
    for (const [nth, slice] of slicesOf({ source: "a", sequence, hour: 480_005, visits }, 10).entries())
      await addAtLast(slice, nth);
  expect(failures).toBeGreaterThan(0);
  for (const { code } of visits)
    expect([code, await store.sums(code as Code, 5)]).toEqual([code, { visits: 5, bots: 0 }]);
  await Promise.all([through.close(), store.close()]);
});

test("decisions and reports happen once, however often their connections break", async () => {
  await using proxy = await startProxy(server.port);
  const store = await openPostgresStore(await server.address("guard", proxy.port), PATIENT);
  const links = Array.from({ length: 5 }, (_, nth) => newLink(`broken${nth}`));
  await surely(() => store.insert(links));
  // In the middle of a statement, most likely, but only after one was answered: however slow the machine is, some are.
  proxy.delay(2);
  let answersBefore = 0;
  const breaking = setInterval(() => {
    if (answers === answersBefore) return;
    answersBefore = answers;
    proxy.reset();
  }, 150);
  const by = { who: "page", atMs: 5 } as const;
  const reports = links.flatMap(({ code, createdMs }) =>
    Array.from({ length: 60 }, async (_, nth) => {
      await Bun.sleep(nth * 25);
      const report = {
        code,
        createdMs,
        reporter: String(nth % 30),
        threshold: 10,
        note: "a note",
        ...REPORTED,
      };
      await surely(() => store.report(report));
    }),
  );
  await Promise.all(reports);
  for (const reason of ["legal", "other"] as const)
    await surely(() => store.disable(links, { ...by, reason }));
  await surely(() => store.enable(links, by));
  clearInterval(breaking);
  expect(failures).toBeGreaterThan(0);
  for (const link of links) {
    expect(await surely(() => store.caseOf(link))).toMatchObject({ reports: 30, notes: { length: 20 } });
    const entries = await surely(() => store.journal({ code: link.code, limit: 100 }));
    expect(entries.map(({ action, who, reason }) => [action, who, reason])).toEqual([
      ["enable", "page", undefined],
      ["disable", "page", "other"],
      ["disable", "page", "legal"],
      ["disable", "reports", "spam"],
    ]);
  }
  await store.close();
});

/** How often the store answered, and how often it was unavailable. */
let answers = 0;
let failures = 0;

/** Asks again while the store is unavailable. */
async function surely<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 0; tries < 10_000; tries++) {
    try {
      const answer = await ask();
      answers++;
      return answer;
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      failures++;
      await Bun.sleep(5);
    }
  }
  throw new Error("The store stays unavailable");
}
