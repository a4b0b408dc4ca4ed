import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { LinkKey } from "../../src/links/code.ts";
import { DAY_MS, HOUR_MS } from "../../src/links/time.ts";
import { CAPACITY } from "../../src/visits/journal/segments.ts";
import { temporaryFolder } from "../support/service.ts";
import { CREATED, link, NOW, openRecorder, VISIT } from "./open-recorder.ts";
import { writeSegment } from "./segments.ts";
import { detailOf } from "./slices.ts";

test("200,000 visits of 100,000 links are all counted without a pause for timers", async () => {
  using folder = temporaryFolder();
  await using opened = await openRecorder(folder.path);
  const { journal, faults, recorder, segments } = opened;
  const links = Array.from({ length: 100_000 }, (_, nth) => link(`many${nth}`));
  for (const one of [...links, ...links]) recorder.record(one, VISIT, NOW);
  expect(recorder.takeLost()).toBeUndefined();
  expect(journal.figures()).toMatchObject({ visits: 200_000, segments: expect.any(Number) });
  expect(journal.figures().segments).toBeGreaterThan(0);
  expect(await opened.counted()).toEqual({ links: 100_000, visits: 200_000 });
  expect(faults).toEqual([]);
  expect(segments()).toEqual([]);
});

test("a segment file is reused once its visits are in the store", async () => {
  using folder = temporaryFolder();
  await using opened = await openRecorder(folder.path);
  const { journal, faults, recorder, segments } = opened;
  const repeated = link("repeated");
  const used = new Set<string>();
  for (let visits = 1; visits <= 10; visits++) {
    recorder.record(repeated, VISIT, NOW);
    while (journal.figures().visits > 0) await Bun.sleep(1);
    for (const name of segments()) used.add(name);
  }
  // The active one and two spares, and a fourth if the first visit came before they existed.
  expect(used.size).toBeLessThanOrEqual(4);
  expect(await opened.counted()).toEqual({ links: 1, visits: 10 });
  expect(faults).toEqual([]);
});

test("segments of a dead process are folded in order and never overwritten", async () => {
  using folder = temporaryFolder();
  const waiting = join(folder.path, "visits");
  mkdirSync(waiting);
  // A later segment may have a smaller number, because files are reused.
  for (const [number, sequence] of [
    [9, 1],
    [2, 2],
    [5, 3],
  ] as const) {
    const visits = [{ code: "left", createdMs: CREATED }];
    const contents = { folder: folder.path, source: [7, 7] as const, sequence, hour: NOW / HOUR_MS, visits };
    const path = await writeSegment(contents, true);
    renameSync(path, join(waiting, `0-${number}.visits`));
  }
  writeFileSync(join(waiting, "0-10.visits.new"), "incomplete");
  await using opened = await openRecorder(folder.path);
  const { journal, faults, recorder } = opened;
  for (let nth = 0; nth < 12; nth++) {
    recorder.record(link(`now${nth}`), VISIT, NOW);
    journal.next(NOW / HOUR_MS + nth);
  }
  expect(await opened.counted()).toEqual({ links: 13, visits: 15 });
  expect(faults).toEqual([]);
  expect(readdirSync(waiting).filter((name) => !name.includes("lock"))).toEqual(["store"]);
});

test("retries during an outage use at most four segments and lose no visit", async () => {
  using folder = temporaryFolder();
  let away = true;
  let attempts = 0;
  await using opened = await openRecorder(folder.path, () => {
    attempts++;
    return away;
  });
  const { recorder, segments } = opened;
  const hasTried = (times: number) => attempts >= times;
  for (let nth = 0; nth < 25; nth++) {
    recorder.record(link("patient"), VISIT, NOW);
    // The journal tries at each of its ticks.
    while (!hasTried(nth + 1)) await Bun.sleep(5);
  }
  expect(segments().length).toBeLessThanOrEqual(4);
  away = false;
  expect(await opened.counted()).toEqual({ links: 1, visits: 25 });
});

test("a damaged segment is set aside, and other visits are counted", async () => {
  using folder = temporaryFolder();
  const waiting = join(folder.path, "visits");
  mkdirSync(waiting);
  const poison = { folder: folder.path, hour: NOW / HOUR_MS, visits: [{ code: "", createdMs: CREATED }] };
  renameSync(await writeSegment(poison, true), join(waiting, "0-1.visits"));
  await using opened = await openRecorder(folder.path);
  opened.recorder.record(link("fine"), VISIT, NOW);
  expect(await opened.counted()).toEqual({ links: 1, visits: 1 });
  expect(opened.faults).toHaveLength(2);
  expect(readdirSync(waiting)).toContain("0-1.visits.damaged");
});

test("a temporarily unreadable segment is left to a later process, and other visits are counted", async () => {
  using folder = temporaryFolder();
  const waiting = join(folder.path, "visits");
  mkdirSync(waiting);
  const unreadable = join(waiting, "0-1.visits");
  // A link to itself: ELOOP.
  symlinkSync(unreadable, unreadable);
  {
    await using opened = await openRecorder(folder.path);
    opened.recorder.record(link("fine"), VISIT, NOW);
    expect(await opened.counted()).toEqual({ links: 1, visits: 1 });
    expect(opened.faults).toHaveLength(1);
  }
  rmSync(unreadable);
  const visits = [{ code: "late", createdMs: CREATED }];
  renameSync(await writeSegment({ folder: folder.path, hour: NOW / HOUR_MS, visits }, true), unreadable);
  await using opened = await openRecorder(folder.path);
  expect(await opened.counted()).toEqual({ links: 2, visits: 2 });
  expect(opened.faults).toEqual([]);
});

test("each visit keeps its details when a segment becomes full", async () => {
  using folder = temporaryFolder();
  await using opened = await openRecorder(folder.path);
  // Two more than fit into a segment.
  const visits = CAPACITY.details + 2;
  const one = link("one");
  for (let nth = 0; nth < visits; nth++) opened.recorder.record(one, VISIT, NOW);
  await opened.fold();
  const day = Math.floor(NOW / DAY_MS);
  const [row] = await opened.store.days("one" as LinkKey, CREATED, day, day);
  expect(row?.visits).toBe(visits);
  expect(detailOf(row)?.values).toMatchObject({ devices: [["desktop", visits]] });
  expect(opened.recorder.lost).toEqual({ visits: 0, details: 0 });
});

test("visits of two hours are counted separately", async () => {
  using folder = temporaryFolder();
  await using opened = await openRecorder(folder.path);
  const { store, recorder, fold } = opened;
  const hourly = link("hourly");
  for (const nowMs of [NOW, NOW + 1, NOW + HOUR_MS]) recorder.record(hourly, VISIT, nowMs);
  await fold();
  const days = await store.days("hourly" as LinkKey, CREATED, 0, NOW / HOUR_MS);
  const hour = (NOW / HOUR_MS) % 24;
  expect(detailOf(days[0])?.hours).toEqual({ [hour]: [2, 0], [hour + 1]: [1, 0] });
});

test("a client is looked up once per visit of a person, and never for a bot", async () => {
  using folder = temporaryFolder();
  await using opened = await openRecorder(folder.path);
  const { recorder } = opened;
  let lookedUp = 0;
  const client = () => ({ address: `192.0.2.${++lookedUp}`, country: "" });
  const clicked = link("looked-up");
  for (const agent of ["curl/8.5.0", "Googlebot/2.1"])
    recorder.record(clicked, { headers: new Headers({ "User-Agent": agent }), client }, NOW);
  expect(lookedUp).toBe(0);
  recorder.record(clicked, { ...VISIT, client }, NOW);
  expect(lookedUp).toBe(1);
});
