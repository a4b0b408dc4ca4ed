import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Code } from "../../src/links/code.ts";
import { HOUR_MS } from "../../src/links/time.ts";
import { counterOf } from "../../src/visits/recorder.ts";
import { temporaryFolder } from "../service.ts";
import { CREATED, NOW, openRecorder, VISIT } from "./open-recorder.ts";
import { writeSegment } from "./segments.ts";
import { detailOf } from "./slices.ts";

function sums(file: string) {
  using database = new Database(file, { readonly: true });
  return database.query("SELECT count(*) AS links, coalesce(sum(visits), 0) AS visits FROM visits").get();
}

test("visits of very many links at once are all counted, before any timer had its turn", async () => {
  using folder = temporaryFolder();
  const { file, store, journal, faults, recorder } = await openRecorder(folder.path);
  const links = Array.from({ length: 30_000 }, (_, nth) =>
    counterOf({ code: `many${nth}` as Code, createdMs: CREATED }),
  );
  for (const link of links) recorder.record(link, VISIT, NOW);
  for (const link of links) recorder.record(link, VISIT, NOW);
  expect(recorder.takeLost()).toBeUndefined();
  expect(journal.figures()).toMatchObject({ visits: 60_000, segments: expect.any(Number) });
  expect(journal.figures().segments).toBeGreaterThan(0);
  await journal.close();
  expect(sums(file)).toEqual({ links: 30_000, visits: 60_000 });
  expect(faults).toEqual([]);
  expect(readdirSync(join(folder.path, "visits")).filter((name) => name.endsWith(".visits"))).toEqual([]);
  await store.close();
});

test("a file is used again once its visits are in the store", async () => {
  using folder = temporaryFolder();
  const { file, store, journal, faults, recorder } = await openRecorder(folder.path);
  const link = counterOf({ code: "again" as Code, createdMs: CREATED });
  const used = new Set<string>();
  for (let visits = 1; visits <= 10; visits++) {
    recorder.record(link, VISIT, NOW);
    while (journal.figures().visits > 0) await Bun.sleep(1);
    for (const name of readdirSync(join(folder.path, "visits"))) if (name.endsWith(".visits")) used.add(name);
  }
  // Two, and another one if the first visit came before the spare one was made.
  expect(used.size).toBeLessThanOrEqual(3);
  await journal.close();
  expect(sums(file)).toEqual({ links: 1, visits: 10 });
  expect(faults).toEqual([]);
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
    for (let nth = 0; nth < 10_000; nth++) recorder.record(known, VISIT, NOW);
    recorded += 10_000;
    lost = recorder.takeLost();
  }
  expect(lost).toMatchObject({ visits: 0, details: expect.any(Number) });
  const waiting = join(folder.path, "visits");
  const bytes = readdirSync(waiting).reduce((sum, name) => sum + statSync(join(waiting, name)).size, 0);
  expect(bytes).toBeLessThanOrEqual(128 * 1024 * 1024);

  // The table of links of the last segment fills up as well.
  for (let nth = 0; nth < 20_000; nth++) {
    recorder.record(counterOf({ code: `new${nth}` as Code, createdMs: CREATED }), VISIT, NOW);
  }
  const lostLinks = recorder.takeLost();
  expect(lostLinks?.visits).toBeGreaterThan(0);
  recorder.record(known, VISIT, NOW);
  recorder.record(late, VISIT, NOW);
  expect(recorder.takeLost()).toEqual({ visits: 1, details: 1 });
  // In another hour there is no segment for it: it is lost, too, rather than told in the wrong hour.
  recorder.record(known, VISIT, NOW + HOUR_MS);
  expect(recorder.takeLost()).toEqual({ visits: 1, details: 0 });
  expect(recorder.lost.visits).toBe((lostLinks?.visits ?? 0) + 2);
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
    const written = { folder: folder.path, source: [7, 7] as const, sequence, hour: NOW / HOUR_MS, visits };
    const path = await writeSegment(written, true);
    renameSync(path, join(waiting, `0-${number}.visits`));
  }
  writeFileSync(join(waiting, "0-10.visits.new"), "half made");
  const { file, store, journal, faults, recorder } = await openRecorder(folder.path);
  for (let nth = 0; nth < 15; nth++) {
    recorder.record(link(`now${nth}`), VISIT, NOW);
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
    recorder.record(link("patient"), VISIT, NOW);
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
  recorder.record(link("fine"), VISIT, NOW);
  await journal.close();
  expect(sums(file)).toEqual({ links: 1, visits: 1 });
  expect(faults).toHaveLength(2);
  expect(readdirSync(waiting)).toContain("0-1.visits.damaged");
  await store.close();
});

test("segments that cannot be read for now are left to a later process, and others count", async () => {
  using folder = temporaryFolder();
  const waiting = join(folder.path, "visits");
  mkdirSync(waiting);
  const unreadable = join(waiting, "0-1.visits");
  // A link to itself: ELOOP.
  symlinkSync(unreadable, unreadable);
  {
    const { file, store, journal, faults, recorder } = await openRecorder(folder.path);
    recorder.record(link("fine"), VISIT, NOW);
    await journal.close();
    expect(sums(file)).toEqual({ links: 1, visits: 1 });
    expect(faults).toHaveLength(1);
    await store.close();
  }
  rmSync(unreadable);
  const visits = [{ code: "late", createdMs: CREATED }];
  renameSync(await writeSegment({ folder: folder.path, hour: NOW / HOUR_MS, visits }, true), unreadable);
  const { file, store, journal, faults } = await openRecorder(folder.path);
  await journal.close();
  expect(sums(file)).toEqual({ links: 2, visits: 2 });
  expect(faults).toEqual([]);
  await store.close();
});

test("visits of two hours are told apart", async () => {
  using folder = temporaryFolder();
  const { store, journal, recorder } = await openRecorder(folder.path);
  const hourly = link("hourly");
  for (const nowMs of [NOW, NOW + 1, NOW + HOUR_MS]) recorder.record(hourly, VISIT, nowMs);
  await journal.close();
  const days = await store.days("hourly" as Code, CREATED, 0, NOW / HOUR_MS);
  const hour = (NOW / HOUR_MS) % 24;
  expect(detailOf(days[0])?.hours).toEqual({ [hour]: [2, 0], [hour + 1]: [1, 0] });
  await store.close();
});

test("a client is looked up once for each person, and never for a program", async () => {
  using folder = temporaryFolder();
  const { store, journal, recorder } = await openRecorder(folder.path);
  let lookedUp = 0;
  const client = () => ({ address: `192.0.2.${++lookedUp}`, country: "" });
  const known = link("looked-up");
  for (const agent of ["curl/8.5.0", "Googlebot/2.1"])
    recorder.record(known, { headers: new Headers({ "User-Agent": agent }), client }, NOW);
  expect(lookedUp).toBe(0);
  recorder.record(known, { ...VISIT, client }, NOW);
  expect(lookedUp).toBe(1);
  await journal.close();
  await store.close();
});
