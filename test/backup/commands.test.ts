import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import {
  copyFileSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";

import { restore } from "../../src/cli/backup.ts";
import { readConfig } from "../../src/config/config.ts";
import { writeHeader } from "../../src/transfer/export-line.ts";
import { runCommand as run } from "../cli/commands.ts";
import { runInTerminal } from "../cli/run.ts";
import { testOnLinux } from "../support/linux.ts";
import { callApi, type ManagedLink, createManagedLink } from "../support/managed-links.ts";
import { startProgram, startService, temporaryFolder } from "../support/service.ts";
import { writeSegment } from "../visits/segments.ts";
import { visit } from "../visits/visits.ts";
import {
  addLinks,
  createLargeStore,
  resultOf,
  runWithRoom,
  SEVERAL_STEPS,
  startWithRoom,
  stopHalfway,
} from "./interruptions.ts";

/** Lists a folder without the logs and the journal of an open store. */
function filesIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => !/-(wal|shm|visits)$/.test(name))
    .toSorted();
}

describe("curt backup", () => {
  test("copies the store of a running service into one private file, which restores links, visits and manage keys elsewhere", async () => {
    using folder = temporaryFolder();
    using elsewhere = temporaryFolder();
    const file = join(folder.path, "backups/today.db");
    const restored = join(elsewhere.path, "new/curt.db");
    let link: ManagedLink | undefined;
    {
      await using curt = await startProgram({}, { folder: folder.path });
      link = await createManagedLink(curt);
      for (let nth = 0; nth < 7; nth++) await visit(curt, link.code);
      expect(await run(["backup", file], { DATABASE_URL: curt.databaseUrl })).toEqual({
        code: 0,
        stdout: `${file} has 1 link, was checked, and is on disk\n`,
        stderr: "",
      });
    }
    expect(readdirSync(join(folder.path, "backups"))).toEqual(["today.db"]);
    // Other users may not read the secret.
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const to = `sqlite:${restored}`;
    expect(await run(["restore", file, "--to", to])).toEqual({
      code: 0,
      stdout: `${restored} has 1 link of ${file}, and was checked\n`,
      stderr: "",
    });
    expect(await run(["check"], { DATABASE_URL: to })).toMatchObject({ code: 0, stderr: "" });
    await using curt = await startProgram({ DATABASE_URL: to }, { folder: elsewhere.path });
    expect((await callApi(curt, "GET", link.path)).data).toMatchObject({ visits: 7 });
    expect(await callApi(curt, "DELETE", link.path, link)).toMatchObject({ status: 200 });
  });

  test("refuses a missing store, an existing file and an empty name, and escapes control characters of a name", async () => {
    using folder = temporaryFolder();
    const [path, file] = [join(folder.path, "curt.db"), join(folder.path, "file")];
    const settings = { DATABASE_URL: `sqlite:${path}` };
    const refused = await run(["backup", file], settings);
    expect(refused).toEqual({
      code: 1,
      stdout: "",
      stderr: `curt: there is no store at ${path}. Set DATABASE_URL or DATA_DIR and the other settings as for the server.\n`,
    });
    await createLargeStore(path, 10);
    writeFileSync(file, "mine");
    expect(await run(["backup", file], settings)).toEqual({
      code: 1,
      stdout: "",
      stderr: `curt: ${file} already exists, and is never overwritten. Name another file.\n`,
    });
    expect(readFileSync(file, "utf8")).toBe("mine");
    expect((await run(["backup", ""], settings)).stderr).toBe("curt: The name of the file is empty.\n");
    const odd = join(folder.path, "a\n\u001b[31m");
    expect((await run(["backup", odd], settings)).stdout).toStartWith(
      `${folder.path}/a\\u000a\\u001b[31m has 10 links`,
    );
    rmSync(odd);
    expect(filesIn(folder.path)).toEqual(["curt.db", "file"]);
  });

  test("refuses a store with a planted trigger, and names the store", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "curt.db");
    await createLargeStore(path, 10);
    const store = new Database(path);
    store.run("CREATE TRIGGER planted AFTER INSERT ON links BEGIN SELECT 1; END");
    store.close();
    expect(await run(["backup", join(folder.path, "file")], { DATABASE_URL: `sqlite:${path}` })).toEqual({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining(`curt: ${path} has parts that Curt did not create: trigger planted.`),
    });
  });

  test("refuses a damaged store and leaves no file", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "curt.db");
    await createLargeStore(path, 5000);
    damage(path);
    const refused = await run(["backup", join(folder.path, "file")], { DATABASE_URL: `sqlite:${path}` });
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain("damaged");
    expect(filesIn(folder.path)).toEqual(["curt.db"]);
  });

  testOnLinux("reports a full disk and leaves no file", async () => {
    using folder = temporaryFolder();
    const [path, file] = [join(folder.path, "curt.db"), join(folder.path, "file")];
    await createLargeStore(path, SEVERAL_STEPS);
    for (const [room, what] of [
      [
        1_000_000,
        `${file} could not be created: disk I/O error. It needs as much space as the store.*free space`,
      ],
      [0, `${path} cannot be opened: the disk is full. Make room`],
    ] as const) {
      expect(await runWithRoom(room, ["backup", file], { DATABASE_URL: `sqlite:${path}` })).toEqual({
        code: 1,
        stdout: "",
        stderr: expect.stringMatching(new RegExp(`^curt: ${what}.*\\n$`)),
      });
      expect(filesIn(folder.path)).toEqual(["curt.db"]);
    }
  });

  testOnLinux("keeps a complete backup if the disk of the store is full", async () => {
    using folder = temporaryFolder();
    using beside = temporaryFolder();
    const [path, file] = [join(folder.path, "curt.db"), join(folder.path, "file")];
    await createLargeStore(path, SEVERAL_STEPS);
    const halfway = stopHalfway(beside.path);
    const { size } = statSync(path);
    const args = ["backup", file];
    const child = startWithRoom(size + 8192, args, { DATABASE_URL: `sqlite:${path}` }, halfway.options);
    await halfway.untilStopped();
    using store = new Database(path);
    addLinks(store, 1_000_000, 5000);
    child.kill("SIGCONT");
    expect(await resultOf(child)).toMatchObject({ code: 0, stderr: "" });
    expect(await run(["check"], { DATABASE_URL: `sqlite:${file}` })).toMatchObject({ code: 0 });
  });

  test("follows no symbolic links in place of its files", async () => {
    using folder = temporaryFolder();
    using elsewhere = temporaryFolder();
    const [path, file] = [join(folder.path, "curt.db"), join(folder.path, "file")];
    await createLargeStore(path, 10);
    const lock = join(`${path}-visits`, "backup.lock");
    mkdirSync(`${path}-visits`);
    mkdirSync(join(elsewhere.path, "early"));
    symlinkSync(elsewhere.path, `${file}.part-visits`);
    symlinkSync(join(elsewhere.path, "new"), lock);
    const backUp = () => run(["backup", file], { DATABASE_URL: `sqlite:${path}` });
    expect(await backUp()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`${lock} cannot be locked`),
    });
    rmSync(lock);
    expect(await backUp()).toMatchObject({ code: 0, stderr: "" });
    expect(readdirSync(elsewhere.path)).toEqual(["early"]);
  });

  test("and restore accept only SQLite, and name the commands for PostgreSQL", async () => {
    const settings = { DATABASE_URL: "postgres://curt@localhost/curt" };
    const backup = await run(["backup", "file"], settings);
    expect(backup).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/pg_dump.+pg_basebackup.+docs\/postgresql\.md/),
    });
    const restored = await run(["restore", "file"], settings);
    expect(restored).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("DATABASE_URL=sqlite:file curt export - | DATABASE_URL=postgres://"),
    });
    expect(await run(["restore", "file", "--to", "elsewhere"])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^curt: --to must be sqlite: .+, not elsewhere\n$/),
    });
  });
});

describe("curt restore", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  const at = (name: string) => join(folder.path, name);
  beforeAll(async () => {
    folder = temporaryFolder();
    await createLargeStore(at("curt.db"), 5000);
    const backup = await run(["backup", at("backup")], { DATABASE_URL: `sqlite:${at("curt.db")}` });
    expect(backup).toMatchObject({ code: 0 });
  });
  afterAll(() => folder[Symbol.dispose]());
  /** Each restore must leave only these files. */
  afterEach(() => expect(filesIn(folder.path)).toEqual(["backup", "curt.db"]));

  function refusalOf(from: string): Promise<string> {
    const args = { positionals: [from], options: { to: `sqlite:${at("to")}` } };
    return restore(readConfig({}), args).then(String, (error: Error) => error.message);
  }

  test("never overwrites a store", async () => {
    const before = readFileSync(at("curt.db"));
    expect(await run(["restore", at("backup")], { DATABASE_URL: `sqlite:${at("curt.db")}` })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        `There is a store at ${at("curt.db")}, and it is never overwritten. Move it away`,
      ),
    });
    expect(readFileSync(at("curt.db")).equals(before)).toBe(true);
  });

  test.each([
    ["a log of the new store", "to-wal", "is never overwritten"],
    ["a rollback journal of the new store", "to-journal", "is never overwritten"],
    ["a log of the backup", "backup-wal", "so it is not a finished backup"],
  ])("refuses to start beside %s", async (_, name, refusal) => {
    writeFileSync(at(name), "x");
    expect(await refusalOf(at("backup"))).toContain(refusal);
    rmSync(at(name));
  });

  test("refuses to start beside visits of the new store", async () => {
    mkdirSync(at("to-visits"));
    await writeSegment({ folder: at("to-visits"), hour: 1, visits: [{ code: "one" }] }, true);
    expect(await refusalOf(at("backup"))).toContain("Move that folder away");
    rmSync(at("to-visits"), { recursive: true });
  });

  test("refuses to start on the journal of a store elsewhere, or of a running Curt", async () => {
    const DATA_DIR = at("shared");
    const copy = { DATA_DIR, DATABASE_URL: `sqlite:${at("copy/curt.db")}` };
    const restored = () => run(["restore", at("backup")], copy);
    const refused = (text: string) => ({ code: 1, stderr: expect.stringContaining(text) });
    const advice = "set DATA_DIR to another folder";
    {
      await using _ = await startService({ DATA_DIR, DATABASE_URL: `sqlite:${at("running/curt.db")}` });
      const journal = `${DATA_DIR}/curt.db-visits`;
      expect(await restored()).toMatchObject(
        refused(
          `${journal} is the journal of ${realpathSync(at("running/curt.db"))}. To restore to ${at("copy/curt.db")} beside it, ${advice}.`,
        ),
      );
      // As an earlier version created it.
      rmSync(join(journal, "store"));
      expect(await restored()).toMatchObject(
        refused(`A running Curt uses ${journal}. Stop it, or ${advice}`),
      );
    }
    rmSync(DATA_DIR, { recursive: true });
    rmSync(at("running"), { recursive: true });
  });

  const withForeignId = (backup: Buffer) => Buffer.from(backup).fill(0, 68, 72);
  test.each<[what: string, content: (backup: Buffer) => Uint8Array | string, refusal: string]>([
    [
      "a text",
      () => "no store ".repeat(1000),
      "other is not a SQLite file, so it is not a backup. Name a file that curt backup created.",
    ],
    ["an empty file", () => "", "other is empty. Take another backup."],
    [
      "a compressed backup",
      (backup) => Bun.gzipSync(Uint8Array.from(backup)),
      "other is compressed. Unpack it, and restore what comes out.",
    ],
    [
      "an export",
      () => writeHeader("match"),
      "other is an export, not a backup. Import it with curt import FOLDER/other.",
    ],
    [
      "a database of another program",
      withForeignId,
      "other belongs to another program. Name a file that curt backup created.",
    ],
    [
      "a cut backup",
      (backup) => backup.subarray(0, 9000),
      "other is cut off: it has 9000 of SIZE bytes. Copy it again,",
    ],
    [
      "a backup with a planted trigger",
      withTrigger,
      "other has parts that Curt did not create: trigger planted.",
    ],
  ])("refuses %s", async (_, content, refusal) => {
    const backup = readFileSync(at("backup"));
    writeFileSync(at("other"), content(backup));
    const expected = refusal.replace("FOLDER", folder.path).replace("SIZE", String(backup.length));
    expect(await refusalOf(at("other"))).toStartWith(at(expected));
    rmSync(at("other"));
  });

  test("refuses a missing file and a folder", async () => {
    expect(await refusalOf(at("missing"))).toBe(`${at("missing")} does not exist.`);
    expect(await refusalOf(folder.path)).toBe(`${folder.path} is a folder. Name one of the backups in it.`);
  });

  test.each<[string, (path: string) => void]>([
    ["one changed bit of a code, which SQLite can read,", flipBit],
    ["pages that SQLite can't read", damage],
  ])("reports %s as damage and leaves no store", async (_, spoil) => {
    copyFileSync(at("backup"), at("damaged"));
    spoil(at("damaged"));
    const refused = await run(["restore", at("damaged"), "--to", `sqlite:${at("to")}`]);
    expect(refused).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("is damaged") });
    rmSync(at("damaged"));
  });

  test("warns that a plain copy of a store may miss the newest links, and names the command that backs up its log", async () => {
    using copies = temporaryFolder();
    const here = (name: string) => join(copies.path, name);
    await createLargeStore(here("curt.db"), 10);
    const copied = await run(["restore", here("curt.db"), "--to", `sqlite:${here("to")}`]);
    expect(copied).toMatchObject({
      code: 0,
      stderr: `${here("curt.db")} was not created by curt backup. If it was copied while Curt ran, the newest links and visits are missing.\n`,
    });
    using database = new Database(here("curt.db"));
    database.run("UPDATE links SET created_ms = 1");
    for (const log of ["", "-wal"]) copyFileSync(here(`curt.db${log}`), here(`copy.db${log}`));
    const { stderr } = await run(["restore", here("copy.db"), "--to", `sqlite:${here("to2")}`]);
    const [, settings = "", file = ""] =
      /Back it up with DATABASE_URL=(\S+) curt backup (\S+), and restore that\.\n$/.exec(stderr) ?? [];
    expect(await run(["backup", here(file)], { DATABASE_URL: settings })).toMatchObject({ code: 0 });
    const restored = await run(["restore", here(file), "--to", `sqlite:${here("to2")}`]);
    expect(restored).toMatchObject({ code: 0, stderr: "" });
    using copy = new Database(here("to2"));
    expect(copy.query("SELECT count(*) AS links FROM links WHERE created_ms = 1").get()).toEqual({
      links: 10,
    });
  });

  test("refuses a backup of a newer schema", async () => {
    using newer = temporaryFolder();
    const [file, to] = [join(newer.path, "file"), `sqlite:${newer.path}/to`];
    await createLargeStore(file, 10);
    {
      using database = new Database(file);
      database.run("PRAGMA user_version = 1000");
    }
    expect((await run(["restore", file, "--to", to])).stderr).toContain("created by a newer Curt");
  });
});

function withTrigger(backup: Buffer): Buffer {
  using folder = temporaryFolder();
  const path = join(folder.path, "planted");
  writeFileSync(path, backup);
  using planted = new Database(path);
  planted.run("CREATE TRIGGER planted AFTER INSERT ON links BEGIN DELETE FROM hosts; END");
  planted.close();
  return readFileSync(path);
}

/** Changes a code, and leaves the file well-formed. */
function flipBit(path: string): void {
  const bytes = readFileSync(path);
  const at = bytes.indexOf("made4321");
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

/** Overwrites pages in the middle of a file. */
function damage(path: string): void {
  const file = openSync(path, "r+");
  const { size } = statSync(path);
  writeSync(file, new Uint8Array(64 * 1024).fill(0x5a), 0, 64 * 1024, Math.floor(size / 2 / 4096) * 4096);
}

test("curt backup shows its progress in a terminal", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "curt.db");
  // The copy is slowed down, so it takes long enough to be shown.
  await createLargeStore(path, 100_000);
  const { code, shown } = await runInTerminal(["backup", join(folder.path, "file")], {
    DATABASE_URL: `sqlite:${path}`,
    PORT: "3000",
  });
  expect(code).toBe(0);
  expect(shown).toMatch(/copied \d+ of \d+ MB, \d+ MB\/s, \d+ s left/);
  expect(shown).toContain("checking");
  expect(shown).toEndWith("100,000 links, was checked, and is on disk\n");
});
