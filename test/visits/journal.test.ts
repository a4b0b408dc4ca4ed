import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Code } from "../../src/links/code.ts";
import { StoreUnavailable } from "../../src/links/store.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { openJournal } from "../../src/visits/journal.ts";
import { counterOf, createRecorder } from "../../src/visits/recorder.ts";
import { createVisitors } from "../../src/visits/visitor.ts";
import { temporaryFolder } from "../service.ts";
import { writeSegment } from "./segments.ts";
import { WINDOWS_CHROME } from "./visits.ts";

const HOUR_MS = 3_600_000;
const NOW = 490_000 * HOUR_MS;
const CREATED = NOW - HOUR_MS;
const HEADERS = new Headers({ "User-Agent": WINDOWS_CHROME });

/** A recorder over a journal over a store, and the sums that are in the store. */
async function openRecorder(folder: string, isAway = () => false) {
  const file = join(folder, "curt.db");
  const near = await openSqliteStore(file);
  const store = {
    ...near,
    fold: (path: string) => (isAway() ? Promise.reject(new StoreUnavailable("away")) : near.fold(path)),
  };
  const faults: unknown[] = [];
  const fillRandom = (bytes: Uint8Array) => void crypto.getRandomValues(bytes);
  const journal = await openJournal({
    folder: join(folder, "visits"),
    store,
    fillRandom,
    nowMs: () => performance.now(),
    hour: () => NOW / HOUR_MS,
    onFault: (error) => faults.push(error),
    onDropped: (path) => faults.push(path),
    tickMs: 10,
  });
  const visitors = createVisitors({ store, fillRandom });
  const clientOf = (address: string) => ({ address, country: "" });
  return { file, store, journal, faults, recorder: createRecorder({ journal, visitors, clientOf }) };
}

function sums(file: string) {
  using database = new Database(file, { readonly: true });
  return database.query("SELECT count(*) AS links, coalesce(sum(visits), 0) AS visits FROM visits").get();
}

test("visits of very many links at once are all counted, before any timer had its turn", async () => {
  using folder = temporaryFolder();
  const { file, store, journal, faults, recorder } = await openRecorder(folder.path);
  const links = Array.from({ length: 100_000 }, (_, nth) =>
    counterOf({ code: `many${nth}` as Code, createdMs: CREATED }),
  );
  for (const link of links) recorder.record(link, HEADERS, "127.0.0.1", NOW);
  for (const link of links) recorder.record(link, HEADERS, "127.0.0.1", NOW);
  expect(recorder.takeLost()).toBeUndefined();
  await journal.close();
  expect(sums(file)).toEqual({ links: 100_000, visits: 200_000 });
  expect(faults).toEqual([]);
  expect(readdirSync(join(folder.path, "visits")).filter((name) => name.endsWith(".visits"))).toEqual([]);
  await store.close();
});

test("when there is no more room, first details are lost, then visits of links that are new, and it is said", async () => {
  using folder = temporaryFolder();
  const { file, store, journal, recorder } = await openRecorder(folder.path);
  const [known, late] = ["known", "late"].map((code) =>
    counterOf({ code: code as Code, createdMs: CREATED }),
  );
  if (known === undefined || late === undefined) throw new Error();
  let recorded = 0;
  let lost: { visits: number; details: number } | undefined;
  while (lost === undefined && recorded < 20_000_000) {
    for (let nth = 0; nth < 10_000; nth++) recorder.record(known, HEADERS, "127.0.0.1", NOW);
    recorded += 10_000;
    lost = recorder.takeLost();
  }
  expect(lost).toMatchObject({ visits: 0, details: expect.any(Number) });
  const waiting = join(folder.path, "visits");
  const bytes = readdirSync(waiting).reduce((sum, name) => sum + statSync(join(waiting, name)).size, 0);
  expect(bytes).toBeLessThanOrEqual(128 * 1024 * 1024);

  // The table of links of the last segment fills up as well.
  for (let nth = 0; nth < 20_000; nth++) {
    recorder.record(counterOf({ code: `new${nth}` as Code, createdMs: CREATED }), HEADERS, "127.0.0.1", NOW);
  }
  const lostLinks = recorder.takeLost();
  expect(lostLinks?.visits).toBeGreaterThan(0);
  recorder.record(known, HEADERS, "127.0.0.1", NOW);
  recorder.record(late, HEADERS, "127.0.0.1", NOW);
  expect(recorder.takeLost()).toEqual({ visits: 1, details: 1 });
  await journal.close();
  expect(sums(file)).toMatchObject({ visits: recorded + 20_000 - (lostLinks?.visits ?? 0) + 1 });
  await store.close();
});

const link = (code: string) => counterOf({ code: code as Code, createdMs: CREATED });

test("what a dead process left is folded, in order, and nothing is made over it", async () => {
  using folder = temporaryFolder();
  const waiting = join(folder.path, "visits");
  mkdirSync(waiting);
  // The later one has the smaller number: files are used again.
  for (const [number, sequence] of [
    [9, 1],
    [2, 2],
    [5, 3],
  ] as const) {
    const visits = [{ code: "left", createdMs: CREATED }];
    const written = { folder: folder.path, journal: [7, 7] as const, sequence, hour: NOW / HOUR_MS, visits };
    const path = await writeSegment(written, true);
    renameSync(path, join(waiting, `0-${number}.visits`));
  }
  writeFileSync(join(waiting, "0-10.visits.new"), "half made");
  const { file, store, journal, faults, recorder } = await openRecorder(folder.path);
  for (let nth = 0; nth < 15; nth++) {
    recorder.record(link(`now${nth}`), HEADERS, "127.0.0.1", NOW);
    journal.next(NOW / HOUR_MS + nth);
  }
  await journal.close();
  expect(faults).toEqual([]);
  expect(sums(file)).toEqual({ links: 16, visits: 18 });
  expect(readdirSync(waiting).filter((name) => !name.includes("lock"))).toEqual([]);
  await store.close();
});

test("an outage takes no new segment each time it is tried, and loses nothing", async () => {
  using folder = temporaryFolder();
  let away = true;
  let asked = 0;
  const { file, store, journal, recorder } = await openRecorder(folder.path, () => {
    asked++;
    return away;
  });
  const wasAsked = (times: number) => asked >= times;
  for (let nth = 0; nth < 25; nth++) {
    recorder.record(link("patient"), HEADERS, "127.0.0.1", NOW);
    // The journal tries at each of its ticks.
    while (!wasAsked(nth + 1)) await Bun.sleep(5);
  }
  const segments = readdirSync(join(folder.path, "visits")).filter((name) => name.endsWith(".visits"));
  expect(segments.length).toBeLessThanOrEqual(3);
  away = false;
  await journal.close();
  expect(sums(file)).toEqual({ links: 1, visits: 25 });
  await store.close();
});

test("a segment that nobody can fold is put aside, and the others count", async () => {
  using folder = temporaryFolder();
  const waiting = join(folder.path, "visits");
  mkdirSync(waiting);
  const poison = { folder: folder.path, hour: NOW / HOUR_MS, visits: [{ code: "", createdMs: CREATED }] };
  renameSync(await writeSegment(poison, true), join(waiting, "0-1.visits"));
  const { file, store, journal, faults, recorder } = await openRecorder(folder.path);
  recorder.record(link("fine"), HEADERS, "127.0.0.1", NOW);
  await journal.close();
  expect(sums(file)).toEqual({ links: 1, visits: 1 });
  expect(faults).toHaveLength(2);
  expect(readdirSync(waiting)).toContain("0-1.visits.damaged");
  await store.close();
});

test("visits of two hours are told apart", async () => {
  using folder = temporaryFolder();
  const { store, journal, recorder } = await openRecorder(folder.path);
  const hourly = link("hourly");
  for (const nowMs of [NOW, NOW + 1, NOW + HOUR_MS]) recorder.record(hourly, HEADERS, "127.0.0.1", nowMs);
  await journal.close();
  const days = await store.days("hourly" as Code, CREATED, 0, NOW / HOUR_MS);
  const hour = (NOW / HOUR_MS) % 24;
  expect(days[0]?.detail.hours).toEqual({ [hour]: [2, 0], [hour + 1]: [1, 0] });
  await store.close();
});
