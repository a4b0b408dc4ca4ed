import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, readSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

import { checkFile } from "../../../src/store/sqlite/file/file.ts";
import { Head, HEAD_WORDS } from "../../../src/visits/journal/segment-layout.ts";
import { testOnLinux } from "../../support/linux.ts";
import { roundsOf } from "../../support/preloads.ts";
import { BASE_URL, startProgram, temporaryFolder } from "../../support/service.ts";
import { untilCounted, visit } from "../../visits/visits.ts";
import { createDisk } from "./disk.ts";
import type { SystemCall } from "./syscalls.ts";
import { type Run, traceProgram } from "./trace-program.ts";

const CROWD = 500;
const BACKUP_LOGGED = "a backup was created";

/** The code in a 201; undefined for any other call. */
function confirmedCode(call: SystemCall): string | undefined {
  if (call.call !== "answer" || !call.head.startsWith("HTTP/1.1 201 ")) return undefined;
  const [, location = ""] = /^Location: (.*)\r$/im.exec(call.head) ?? [];
  return location.slice(`${BASE_URL}/`.length, -1);
}

function isLogSync(call: SystemCall): boolean {
  return call.call === "sync" && call.file.endsWith("-wal");
}

/** Code to address of the links that SQLite finds in the store. */
function linksIn(path: string): Map<string, string> {
  using database = new Database(path);
  if (database.query("SELECT 1 FROM sqlite_schema WHERE name = 'links'").get() === null) return new Map();
  const rows = database.query<unknown, []>("SELECT code, original_url FROM links").values();
  return new Map(rows as [string, string][]);
}

/** Codes whose link would be lost if the power failed in the moment that their 201 was sent. */
function lostCodes({ calls, created, file }: Run): string[] {
  const disk = createDisk();
  const lost: string[] = [];
  let links: Map<string, string> | undefined;
  function linksAfterPowerCut(): Map<string, string> {
    using after = temporaryFolder();
    disk.cutPower(file, after.path);
    return linksIn(join(after.path, basename(file)));
  }
  for (const call of calls) {
    disk.take(call);
    if (call.call === "sync") links = undefined;
    const code = confirmedCode(call);
    if (code === undefined) continue;
    links ??= linksAfterPowerCut();
    if (links.get(code) !== created.get(code)) lost.push(code);
  }
  return lost;
}

/** The trace has every 201 once; without them, no loss would prove nothing. */
function expectAllSeen({ calls, created }: Run): void {
  const seen = calls.map(confirmedCode).filter((code) => code !== undefined);
  expect(seen.toSorted()).toEqual([...created.keys()].toSorted());
}

testOnLinux("each link is on disk before its 201 is sent, also across a checkpoint", async () => {
  using folder = temporaryFolder();
  const run = await traceProgram(folder.path, async ({ create }) => {
    const long = "x".repeat(7500);
    for (let nth = 0; nth < 1100; nth++) await create(`single${nth}`, `https://example.org/${nth}?${long}`);
  });
  expectAllSeen(run);
  expect(lostCodes(run)).toEqual([]);
  const isConfirmed = (call: SystemCall) => confirmedCode(call) !== undefined;
  const between = run.calls.slice(run.calls.findIndex(isConfirmed), run.calls.findLastIndex(isConfirmed));
  // Otherwise there was no checkpoint, and this needs more links.
  expect(between.some((call) => call.call === "write" && call.file === run.file)).toBe(true);
});

testOnLinux(
  `${CROWD} simultaneous creates are on disk before their 201 is sent, and share syncs`,
  async () => {
    using folder = temporaryFolder();
    const run = await traceProgram(folder.path, async ({ create }) => {
      await Promise.all(Array.from({ length: CROWD }, (_, nth) => create(`crowd${nth}`)));
    });
    expectAllSeen(run);
    expect(lostCodes(run)).toEqual([]);
    expect(run.calls.filter(isLogSync).length).toBeLessThan(CROWD / 2);
  },
);

/** Faults of a program that isn't durable. */
const PLANTED: Readonly<Record<string, (calls: readonly SystemCall[]) => SystemCall[]>> = {
  "no sync of the log": (calls) => calls.filter((call) => !isLogSync(call)),
  "a sync that started before the last write": (calls) =>
    calls.map((call) => (call.call === "sync" ? { ...call, startedAt: call.startedAt - 1 } : call)),
  "an answer before its sync": (calls) => {
    const syncBefore = ({ at }: SystemCall) => calls.findLast((call) => isLogSync(call) && call.at < at);
    return calls
      .map((call) => (call.call === "answer" ? { ...call, at: (syncBefore(call)?.at ?? 0) - 0.5 } : call))
      .toSorted((one, other) => one.at - other.at);
  },
  "no sync of the folder": (calls) =>
    calls.filter((call) => call.call !== "sync" || call.file.includes("curt.db")),
};

testOnLinux("lostCodes finds the codes that planted faults lose", async () => {
  using folder = temporaryFolder();
  const run = await traceProgram(folder.path, async ({ create }) => {
    for (let nth = 0; nth < 5; nth++) await create(`planted${nth}`);
  });
  expectAllSeen(run);
  expect(lostCodes(run)).toEqual([]);
  for (const [fault, plant] of Object.entries(PLANTED)) {
    expect([fault, lostCodes({ ...run, calls: plant(run.calls) })]).toEqual([fault, [...run.created.keys()]]);
  }
});

const BACKED_UP = 20;

/** Checks what a power cut leaves of a backup at the moment when the log reports it. */
function backupAfterPowerCut(calls: readonly SystemCall[]): ReturnType<typeof checkFile> {
  const disk = createDisk();
  for (const call of calls) {
    disk.take(call);
    if (call.call !== "log" || !call.head.includes(BACKUP_LOGGED)) continue;
    const [, file = ""] = /"file":"([^"]*)"/.exec(call.head) ?? [];
    using after = temporaryFolder();
    disk.cutPower(file, after.path);
    return checkFile(join(after.path, basename(file)));
  }
  throw new Error("No backup was made");
}

testOnLinux("a backup is on disk, complete and under its name, before the log reports it", async () => {
  using folder = temporaryFolder();
  const backups = join(folder.path, "backups");
  {
    await using program = await startProgram({}, { folder: folder.path });
    for (let nth = 0; nth < BACKED_UP; nth++)
      await program.shorten({ original_url: `https://example.org/${nth}`, custom_code: `backup${nth}` });
  }
  const { calls } = await traceProgram(
    folder.path,
    async ({ program }) => {
      while (!program.logged.some((line) => line.includes(BACKUP_LOGGED))) await Bun.sleep(5);
    },
    { BACKUP_DIR: backups },
    ["--preload", roundsOf(200, folder.path)],
  );
  expect(backupAfterPowerCut(calls)).toEqual({ links: BACKED_UP, damage: [], unsendable: [] });
  const isOf = (call: SystemCall, path: RegExp) => call.call === "sync" && path.test(call.file);
  const without = (path: RegExp) => calls.filter((call) => !isOf(call, path));
  expect(backupAfterPowerCut(without(/backups$/))).toBeUndefined();
  expect(backupAfterPowerCut(without(/backups.*part/))).toBeUndefined();
});

/** Much longer than a segment waits for its sync, which is at most a minute. */
const MAX_POLLS = 1200;
const POLL_MS = 100;

/** Empty if the file is. The rest of a segment is megabytes. */
function headOf(path: string): Uint32Array {
  const bytes = new Uint8Array(4 * HEAD_WORDS);
  const descriptor = openSync(path, "r");
  const size = readSync(descriptor, bytes);
  closeSync(descriptor);
  return new Uint32Array(bytes.buffer, 0, Math.floor(size / 4));
}

function segmentsIn(journal: string): { path: string; head: Uint32Array }[] {
  return readdirSync(journal)
    .filter((name) => name.endsWith(".visits"))
    .map((name) => join(journal, name))
    .map((path) => ({ path, head: headOf(path) }));
}

/** Makes a segment look as if it came from an earlier boot. */
function changeBoot(path: string): void {
  const bytes = readFileSync(path);
  bytes.fill(0xab, 4 * Head.boot, 4 * (Head.boot + 2));
  writeFileSync(path, bytes);
}

testOnLinux("visits that have waited for the store for a minute survive a power cut", async () => {
  using folder = temporaryFolder();
  using after = temporaryFolder();
  const run = await traceProgram(folder.path, async ({ create, program }) => {
    await create("kept", "https://example.org/");
    using locking = new Database(program.file);
    locking.run("BEGIN IMMEDIATE");
    for (let nth = 0; nth < 5; nth++) await visit(program, "kept");
    const isSynced = () => segmentsIn(`${program.file}-visits`).some(({ head }) => head[Head.synced] === 1);
    for (let nth = 0; nth < MAX_POLLS && !isSynced(); nth++) await Bun.sleep(POLL_MS);
  });
  const disk = createDisk();
  for (const call of run.calls) disk.take(call);
  disk.cutPower(run.file, after.path);
  const journal = join(after.path, basename(`${run.file}-visits`));
  mkdirSync(journal);
  for (const { path } of segmentsIn(`${run.file}-visits`)) disk.cutPower(path, journal);
  // The others are empty, because the disk hasn't got writes through the memory map.
  for (const { path, head } of segmentsIn(journal)) if (head.length > 0) changeBoot(path);
  await using program = await startProgram({}, { folder: after.path });
  await untilCounted(program, "kept", 5);
});
