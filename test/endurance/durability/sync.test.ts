import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import {
  closeSync,
  copyFileSync,
  openSync,
  readFileSync,
  realpathSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";

import { sendUntilTaken } from "../../again.ts";
import { testOnLinux } from "../../linux.ts";
import { BASE_URL, startProgram, temporaryFolder, PROGRAM } from "../../service.ts";
import type { SystemCall } from "./syscalls.ts";

const TRACER = join(import.meta.dir, "syscalls.ts");
const CROWD = 500;

/** What the program did to its disk and its sockets, and what its clients were told. */
interface Run {
  readonly calls: readonly SystemCall[];
  /** Code to address of what was answered with 201. */
  readonly made: ReadonlyMap<string, string>;
  /** Path of the SQLite file. */
  readonly file: string;
}

type Create = (code: string, address?: string) => Promise<void>;

/** Has links made by the real program and writes down the system calls that decide whether they survive. */
async function traced(folder: string, createAll: (create: Create) => Promise<void>): Promise<Run> {
  const trace = join(folder, "trace.jsonl");
  const command = [process.execPath, TRACER, trace, process.execPath, PROGRAM, "serve"];
  const made = new Map<string, string>();
  let file: string;
  {
    await using program = await startProgram({}, { command, folder });
    file = realpathSync(program.file);
    program.expectFaults();
    await createAll(async (custom_code, original_url = `https://example.org/${custom_code}`) => {
      // It is traced, and so slow that some of a crowd may wait too long for their turn.
      const { status } = await sendUntilTaken(() => program.shorten({ original_url, custom_code }));
      expect(status).toBe(201);
      made.set(custom_code, original_url);
    });
  }
  const lines = readFileSync(trace, "utf8").split("\n");
  // The last one is cut off: empty, or not finished when the tracer was stopped.
  const calls = lines.slice(0, -1).map((line) => JSON.parse(line) as SystemCall);
  return { calls, made, file };
}

/** The code that a 201 gives; undefined for any other call. */
function answeredCode(call: SystemCall): string | undefined {
  if (call.call !== "answer" || !call.head.startsWith("HTTP/1.1 201 ")) return undefined;
  const [, location = ""] = /^Location: (.*)\r$/im.exec(call.head) ?? [];
  return location.slice(`${BASE_URL}/`.length, -1);
}

function isLogSync(call: SystemCall): boolean {
  return call.call === "sync" && call.file.endsWith("-wal");
}

type Change = SystemCall & { readonly call: "write" | "truncate" };

interface StoredFile {
  /** What is on the disk. */
  readonly path: string;
  unsynced: Change[];
}

/** In `folder`, the disk as a power cut leaves it at worst: what no finished sync covers did not happen. */
function createDisk(folder: string) {
  /** By path; what the program sees, and what is found after a power cut. */
  const seen = new Map<string, StoredFile>();
  const found = new Map<string, StoredFile>();
  let unsyncedNames: { at: number; path: string; file: StoredFile | undefined }[] = [];

  function create(at: number, path: string): void {
    if (seen.has(path)) return;
    const file = { path: join(folder, `file${at}`), unsynced: [] };
    writeFileSync(file.path, "");
    seen.set(path, file);
    unsyncedNames.push({ at, path, file });
  }

  function sync(path: string, began: number): void {
    const covered = ({ at }: { at: number }) => at < began;
    const names = unsyncedNames.filter((name) => covered(name) && dirname(name.path) === path);
    unsyncedNames = unsyncedNames.filter((name) => !names.includes(name));
    for (const name of names) {
      if (name.file === undefined) found.delete(name.path);
      else found.set(name.path, name.file);
    }
    const file = seen.get(path);
    if (file === undefined) return;
    for (const change of file.unsynced.filter(covered)) perform(file.path, change);
    file.unsynced = file.unsynced.filter((change) => !covered(change));
  }

  return {
    take(call: SystemCall): void {
      switch (call.call) {
        case "create":
          return create(call.at, call.file);
        case "remove":
          seen.delete(call.file);
          unsyncedNames.push({ at: call.at, path: call.file, file: undefined });
          return;
        case "write":
        case "truncate":
          seen.get(call.file)?.unsynced.push(call);
          return;
        case "sync":
          return sync(call.file, call.began);
        case "answer":
      }
    },
    /** Code to address of the links that SQLite finds in the file after a power cut. */
    linksAfterPowerCut(path: string): Map<string, string> {
      using after = temporaryFolder();
      for (const [name, file] of found) copyFileSync(file.path, join(after.path, basename(name)));
      using database = new Database(join(after.path, basename(path)));
      if (database.query("SELECT 1 FROM sqlite_schema WHERE name = 'links'").get() === null) return new Map();
      const rows = database.query<unknown, []>("SELECT code, original_url FROM links").values();
      return new Map(rows as [string, string][]);
    },
  };
}

function perform(path: string, change: Change): void {
  if (change.call === "truncate") return truncateSync(path, change.bytes);
  const descriptor = openSync(path, "r+");
  const data = Buffer.from(change.data, "base64");
  writeSync(descriptor, data, 0, data.length, change.offset);
  closeSync(descriptor);
}

/** Codes whose link would be gone had the power failed in the moment that their 201 was sent. */
function lostCodes({ calls, made, file }: Run): string[] {
  using folder = temporaryFolder();
  const disk = createDisk(folder.path);
  const lost: string[] = [];
  let links: Map<string, string> | undefined;
  for (const call of calls) {
    disk.take(call);
    if (call.call === "sync") links = undefined;
    const code = answeredCode(call);
    if (code === undefined) continue;
    links ??= disk.linksAfterPowerCut(file);
    if (links.get(code) !== made.get(code)) lost.push(code);
  }
  return lost;
}

/** Every answer was seen leaving, once; otherwise nothing lost would mean nothing. */
function expectAllSeen({ calls, made }: Run): void {
  const seen = calls.map(answeredCode).filter((code) => code !== undefined);
  expect(seen.toSorted()).toEqual([...made.keys()].toSorted());
}

testOnLinux("one by one, over a checkpoint: each link is synced to disk before its 201 is sent", async () => {
  using folder = temporaryFolder();
  const run = await traced(folder.path, async (create) => {
    const long = "x".repeat(1500);
    for (let nth = 0; nth < 400; nth++) await create(`single${nth}`, `https://example.org/${nth}?${long}`);
  });
  expectAllSeen(run);
  expect(lostCodes(run)).toEqual([]);
  const answered = (call: SystemCall) => answeredCode(call) !== undefined;
  const between = run.calls.slice(run.calls.findIndex(answered), run.calls.findLastIndex(answered));
  // Without it there was no checkpoint, and this needs more links.
  expect(between.some((call) => call.call === "write" && call.file === run.file)).toBe(true);
});

testOnLinux(
  `${CROWD} at once: each link is synced to disk before its 201 is sent, and they share their syncs`,
  async () => {
    using folder = temporaryFolder();
    const run = await traced(folder.path, async (create) => {
      await Promise.all(Array.from({ length: CROWD }, (_, nth) => create(`crowd${nth}`)));
    });
    expectAllSeen(run);
    expect(lostCodes(run)).toEqual([]);
    expect(run.calls.filter(isLogSync).length).toBeLessThan(CROWD / 2);
  },
);

/** What a program would do that does not keep the promise. */
const PLANTED: Readonly<Record<string, (calls: readonly SystemCall[]) => SystemCall[]>> = {
  "no sync of the log": (calls) => calls.filter((call) => !isLogSync(call)),
  "a sync that began before the last write": (calls) =>
    calls.map((call) => (call.call === "sync" ? { ...call, began: call.began - 1 } : call)),
  "an answer before its sync": (calls) =>
    calls
      .map((call) => (call.call === "answer" ? { ...call, at: call.at - 1.5 } : call))
      .toSorted((one, other) => one.at - other.at),
  "no sync of the folder": (calls) =>
    calls.filter((call) => call.call !== "sync" || call.file.includes("curt.db")),
};

testOnLinux("the proof finds what it looks for", async () => {
  using folder = temporaryFolder();
  const run = await traced(folder.path, async (create) => {
    for (let nth = 0; nth < 5; nth++) await create(`planted${nth}`);
  });
  expectAllSeen(run);
  expect(lostCodes(run)).toEqual([]);
  for (const [fault, plant] of Object.entries(PLANTED)) {
    expect([fault, lostCodes({ ...run, calls: plant(run.calls) })]).toEqual([fault, [...run.made.keys()]]);
  }
});
