import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import {
  copyFileSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";

import { restore } from "../../src/cli/backup.ts";
import { readConfig } from "../../src/config/config.ts";
import { HEADER } from "../../src/transfer/export-line.ts";
import { runCommand as run } from "../cli/commands.ts";
import { runInTerminal } from "../cli/run.ts";
import { testOnLinux } from "../linux.ts";
import { ask, type Made, make } from "../managed.ts";
import { startProgram, temporaryFolder } from "../service.ts";
import { writeSegment } from "../visits/segments.ts";
import { visit } from "../visits/visits.ts";
import { makeLargeStore, runWithRoom, SEVERAL_STEPS } from "./run.ts";

/** Lists a folder without the locks and logs of a store that is open. */
function filesIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => !/-(wal|shm|visits)$/.test(name))
    .toSorted();
}

describe("curt backup", () => {
  test("makes one file of a store that is served, which makes the store again elsewhere", async () => {
    using folder = temporaryFolder();
    using elsewhere = temporaryFolder();
    const file = join(folder.path, "backups/today.db");
    const restored = join(elsewhere.path, "new/curt.db");
    let link: Made | undefined;
    {
      await using curt = await startProgram({}, { folder: folder.path });
      link = await make(curt);
      for (let nth = 0; nth < 7; nth++) await visit(curt, link.code);
      expect(await run(["backup", file], { DATABASE_URL: curt.databaseUrl })).toEqual({
        code: 0,
        stdout: `${file} has 1 link, was checked, and is on disk\n`,
        stderr: "",
      });
    }
    expect(readdirSync(join(folder.path, "backups"))).toEqual(["today.db"]);
    // Nobody else may read the secret.
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const to = `sqlite:${restored}`;
    expect(await run(["restore", file, "--to", to])).toEqual({
      code: 0,
      stdout: `${restored} has 1 link of ${file}, and was checked\n`,
      stderr: "",
    });
    expect(await run(["check"], { DATABASE_URL: to })).toMatchObject({ code: 0, stderr: "" });
    await using curt = await startProgram({ DATABASE_URL: to }, { folder: elsewhere.path });
    expect((await ask(curt, "GET", link.path)).data).toMatchObject({ visits: 7 });
    expect(await ask(curt, "DELETE", link.path, link)).toMatchObject({ status: 200 });
  });

  test("never overwrites a file, and says what is wrong with a store that cannot be copied", async () => {
    using folder = temporaryFolder();
    const [path, file] = [join(folder.path, "curt.db"), join(folder.path, "file")];
    const settings = { DATABASE_URL: `sqlite:${path}` };
    const refused = await run(["backup", file], settings);
    expect(refused).toEqual({
      code: 1,
      stdout: "",
      stderr: `curt: there is no store at ${path}. Set DATABASE_URL and the other settings as for the server.\n`,
    });
    await makeLargeStore(path, 10);
    writeFileSync(file, "mine");
    expect(await run(["backup", file], settings)).toEqual({
      code: 1,
      stdout: "",
      stderr: `curt: ${file} is there already, and is never overwritten. Name another file.\n`,
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

  test("of a damaged store leaves nothing", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "curt.db");
    await makeLargeStore(path, 5000);
    damage(path);
    const refused = await run(["backup", join(folder.path, "file")], { DATABASE_URL: `sqlite:${path}` });
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain("damaged");
    expect(filesIn(folder.path)).toEqual(["curt.db"]);
  });

  testOnLinux("without room on the disk says so and leaves nothing", async () => {
    using folder = temporaryFolder();
    const [path, file] = [join(folder.path, "curt.db"), join(folder.path, "file")];
    await makeLargeStore(path, SEVERAL_STEPS);
    for (const [room, what] of [
      [
        1_000_000,
        `${file} could not be made: disk I/O error. It takes as much room as the store.*free space`,
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

  test("and restore say how PostgreSQL does it", async () => {
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
  test("never overwrites a store, and leaves none of a backup that is damaged or unfinished", async () => {
    using folder = temporaryFolder();
    const [path, file] = [join(folder.path, "curt.db"), join(folder.path, "file")];
    await makeLargeStore(path, 5000);
    const settings = { DATABASE_URL: `sqlite:${path}` };
    expect(await run(["backup", file], settings)).toMatchObject({ code: 0 });
    const before = readFileSync(path);
    expect(await run(["restore", file], settings)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        `There is a store at ${path}, and it is never overwritten. Move it away`,
      ),
    });
    expect(readFileSync(path).equals(before)).toBe(true);

    const to = join(folder.path, "to");
    const options = { to: `sqlite:${to}` };
    const refusalOf = (from: string) =>
      restore(readConfig({}), { positionals: [from], options }).then(String, (error: Error) => error.message);
    expect(await refusalOf(join(folder.path, "missing"))).toBe(`${folder.path}/missing is not there.`);
    const whole = readFileSync(file);
    const foreign = Buffer.from(whole);
    foreign.writeUInt32BE(0, 68);
    const others: readonly (readonly [Uint8Array | string, string])[] = [
      [
        "no store ".repeat(1000),
        "is not a SQLite file, so it is no backup. Name a file that curt backup made.",
      ],
      ["", "is empty. Take another backup."],
      [Bun.gzipSync(whole), "is compressed. Unpack it, and restore what comes out."],
      [HEADER, `is an export, and no backup. Take it in with curt import ${folder.path}/other.`],
      [foreign, "is of another program. Name a file that curt backup made."],
      [whole.subarray(0, 9000), `is cut off: it has 9000 of ${whole.length} bytes. Copy it again,`],
    ];
    for (const [bytes, problem] of others) {
      writeFileSync(join(folder.path, "other"), bytes);
      expect(await refusalOf(join(folder.path, "other"))).toStartWith(`${folder.path}/other ${problem}`);
    }
    rmSync(join(folder.path, "other"));
    expect(await refusalOf(folder.path)).toBe(`${folder.path} is a folder. Name one of the backups in it.`);
    writeFileSync(`${to}-wal`, "x");
    expect(await refusalOf(file)).toContain("is never overwritten");
    Bun.spawnSync(["mv", `${to}-wal`, `${to}-journal`]);
    expect(await refusalOf(file)).toContain("is never overwritten");
    Bun.spawnSync(["rm", `${to}-journal`]);
    writeFileSync(`${file}-wal`, "x");
    expect(await refusalOf(file)).toContain("so it is no finished backup");
    Bun.spawnSync(["rm", `${file}-wal`]);
    mkdirSync(`${to}-visits`);
    await writeSegment({ folder: `${to}-visits`, hour: 1, visits: [] });
    expect(await refusalOf(file)).toContain("Move that folder away");
    Bun.spawnSync(["rm", "-r", `${to}-visits`]);
    writeFileSync(join(folder.path, "other"), whole);
    {
      using planted = new Database(join(folder.path, "other"));
      planted.run("CREATE TRIGGER planted AFTER INSERT ON links BEGIN DELETE FROM hosts; END");
    }
    expect(await refusalOf(join(folder.path, "other"))).toContain(
      "has what Curt did not make: trigger planted.",
    );
    rmSync(join(folder.path, "other"));
    // One bit of a code, so that SQLite can read everything; and pages that it cannot read.
    const oneBit = Buffer.from(whole);
    const at = oneBit.indexOf("made4321");
    oneBit[at] = (oneBit[at] ?? 0) ^ 1;
    for (const spoil of [() => writeFileSync(file, oneBit), () => damage(file)]) {
      spoil();
      const damaged = await run(["restore", file, "--to", options.to]);
      expect(damaged).toMatchObject({ code: 1, stdout: "" });
      expect(damaged.stderr).toContain("is damaged");
    }
    expect(filesIn(folder.path)).toEqual(["curt.db", "file"]);
  });

  test("of a plain copy of a store says what may be missing, and how to back up one with a log", async () => {
    using folder = temporaryFolder();
    const here = (name: string) => join(folder.path, name);
    await makeLargeStore(here("curt.db"), 10);
    const copied = await run(["restore", here("curt.db"), "--to", `sqlite:${here("to")}`]);
    expect(copied).toMatchObject({
      code: 0,
      stderr: `${here("curt.db")} was not made by curt backup. If it was copied while a store was open, the newest links and visits are missing.\n`,
    });
    using database = new Database(here("curt.db"));
    database.run("UPDATE links SET created_ms = 1");
    for (const log of ["", "-wal"]) copyFileSync(here(`curt.db${log}`), here(`copy.db${log}`));
    const { stderr } = await run(["restore", here("copy.db"), "--to", `sqlite:${here("to2")}`]);
    const [, settings = "", file = ""] =
      /Make one of it with DATABASE_URL=(\S+) curt backup (\S+), and restore that\.\n$/.exec(stderr) ?? [];
    expect(await run(["backup", here(file)], { DATABASE_URL: settings })).toMatchObject({ code: 0 });
    const restored = await run(["restore", here(file), "--to", `sqlite:${here("to2")}`]);
    expect(restored).toMatchObject({ code: 0, stderr: "" });
    using made = new Database(here("to2"));
    expect(made.query("SELECT count(*) AS links FROM links WHERE created_ms = 1").get()).toEqual({
      links: 10,
    });
  });

  test("refuses a backup of a newer schema", async () => {
    using folder = temporaryFolder();
    const [file, to] = [join(folder.path, "file"), `sqlite:${folder.path}/to`];
    await makeLargeStore(file, 10);
    {
      using database = new Database(file);
      database.run("PRAGMA user_version = 1000");
    }
    expect((await run(["restore", file, "--to", to])).stderr).toContain("made by a newer Curt");
  });
});

/** Overwrites pages in the middle of a file. */
function damage(path: string): void {
  const file = openSync(path, "r+");
  const { size } = statSync(path);
  writeSync(file, new Uint8Array(64 * 1024).fill(0x5a), 0, 64 * 1024, Math.floor(size / 2 / 4096) * 4096);
}

test("on a terminal, curt backup shows how far it is", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "curt.db");
  // The copy is slowed down, so it takes long enough to be shown.
  await makeLargeStore(path, 100_000);
  const { code, shown } = await runInTerminal(["backup", join(folder.path, "file")], {
    DATABASE_URL: `sqlite:${path}`,
    PORT: "3000",
  });
  expect(code).toBe(0);
  expect(shown).toMatch(/copied \d+ of \d+ MB, \d+ MB\/s, \d+ s left/);
  expect(shown).toContain("checking");
  expect(shown).toEndWith("100,000 links, was checked, and is on disk\n");
});
