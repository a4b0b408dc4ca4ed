import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { copyFileSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { StoreUnusable } from "../../src/links/link-store.ts";
import { identify } from "../../src/store/sqlite/file/file-identity.ts";
import { checkFile, openSecondWriter, openWriter } from "../../src/store/sqlite/file/file.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { ROOT, startProgram, temporaryFolder, PROGRAM } from "../support/service.ts";
import { newLink } from "./links.ts";

const HEADER_BYTES = 32;
const FRAME_BYTES = 24 + 4096;
const original_url = "https://example.com/";

/** Another program that wants to write. */
const OTHER_WRITER = `
  const { Database } = require("bun:sqlite");
  const database = new Database(process.argv[1]);
  try {
    database.run("BEGIN IMMEDIATE");
  } catch (error) {
    console.log(error.code);
  }`;

const frameAt = (nth: number) => HEADER_BYTES + nth * FRAME_BYTES;

/** Numbers of the frames that end a transaction of the newest generation, in order. */
function commitFrames(wal: Buffer): number[] {
  const salts = wal.subarray(16, 24);
  const frames = Array.from(
    { length: Math.floor((wal.length - HEADER_BYTES) / FRAME_BYTES) },
    (_, nth) => nth,
  );
  const ends = frames.findIndex((nth) => !wal.subarray(frameAt(nth) + 8, frameAt(nth) + 16).equals(salts));
  return frames
    .slice(0, ends < 0 ? frames.length : ends)
    .filter((nth) => wal.readUInt32BE(frameAt(nth) + 4) !== 0);
}

/** The file and its log as a power cut leaves them after `transactions` of one link each. */
async function writeLog(path: string, transactions: number): Promise<{ file: Buffer; wal: Buffer }> {
  const store = await openSqliteStore(path);
  for (let nth = 0; nth < transactions; nth++) await store.insert([newLink(`link${nth}`)]);
  const files = { file: readFileSync(path), wal: readFileSync(`${path}-wal`) };
  await store.close();
  return files;
}

function damage(wal: Buffer, at: number, bytes = 64): Buffer {
  const damaged = Buffer.from(wal);
  for (let nth = at; nth < at + bytes; nth++) damaged[nth] = (damaged[nth] ?? 0) ^ 0xa5;
  return damaged;
}

/** The codes that a start finds, or "refused" if it throws without changing the files. */
function start(path: string, { file, wal }: { file: Buffer; wal: Buffer }): string[] | "refused" {
  writeFileSync(path, file);
  writeFileSync(`${path}-wal`, wal);
  try {
    using database = openWriter(path);
    const rows = database.query<{ code: string }, []>("SELECT code FROM links ORDER BY rowid").all();
    return rows.map(({ code }) => code);
  } catch (error) {
    expect(error).toBeInstanceOf(StoreUnusable);
    expect((error as Error).message).toContain("-wal is damaged");
    expect(() => checkFile(path)).toThrow("-wal is damaged");
    expect(readFileSync(path).equals(file)).toBeTrue();
    expect(readFileSync(`${path}-wal`).equals(wal)).toBeTrue();
    return "refused";
  }
}

describe("the SQLite log (-wal)", () => {
  const LINKS = 12;
  const codes = Array.from({ length: LINKS }, (_, nth) => `link${nth}`);

  test("is refused with a damaged page, unless that page belongs to the last transaction", async () => {
    using folder = temporaryFolder();
    const { file, wal } = await writeLog(join(folder.path, "source.db"), LINKS);
    const commits = commitFrames(wal);
    const lastSynced = commits.at(-2) ?? 0;
    expect(commits.length).toBeGreaterThanOrEqual(LINKS);
    for (let frame = 0; frame <= (commits.at(-1) ?? 0); frame++) {
      const damaged = damage(wal, frameAt(frame) + 24 + 1000);
      const path = join(folder.path, `${frame}.db`);
      expect(start(path, { file, wal: damaged })).toEqual(
        frame <= lastSynced ? "refused" : codes.slice(0, -1),
      );
    }
  });

  test("is refused with a damaged header of the log or of a frame", async () => {
    using folder = temporaryFolder();
    const { file, wal } = await writeLog(join(folder.path, "source.db"), LINKS);
    const commits = commitFrames(wal);
    const offsets = [0, ...Array.from({ length: commits.at(-2) ?? 0 }, (_, nth) => frameAt(nth))];
    for (const offset of offsets)
      expect(start(join(folder.path, `${offset}.db`), { file, wal: damage(wal, offset, 24) })).toBe(
        "refused",
      );
  });

  test("is accepted without a torn last transaction, and if it is empty", async () => {
    using folder = temporaryFolder();
    const { file, wal } = await writeLog(join(folder.path, "source.db"), LINKS);
    const [before = 0, last = 0] = commitFrames(wal).slice(-2);
    const torn = [
      wal.subarray(0, frameAt(before + 1)),
      wal.subarray(0, frameAt(before + 1) + 100),
      wal.subarray(0, frameAt(last) + 4000),
      damage(wal, frameAt(before + 1), FRAME_BYTES),
      damage(wal, frameAt(last), FRAME_BYTES),
      damage(wal, frameAt(before + 1), (last - before) * FRAME_BYTES),
    ];
    for (const [nth, one] of torn.entries())
      expect(start(join(folder.path, `${nth}.db`), { file, wal: one })).toEqual(codes.slice(0, -1));
    expect(start(join(folder.path, "whole.db"), { file, wal })).toEqual(codes);
    expect(start(join(folder.path, "empty.db"), { file, wal: Buffer.alloc(0) })).toEqual([]);
  });

  test("is accepted after it restarted over older frames, without a torn last transaction, but not with an earlier damage", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "source.db");
    const store = await openSqliteStore(path);
    for (const code of codes) await store.insert([newLink(code)]);
    {
      using database = new Database(path);
      database.run("PRAGMA wal_checkpoint(RESTART)");
    }
    await store.insert([newLink("newer")]);
    await store.insert([newLink("newest")]);
    const [file, wal] = [readFileSync(path), readFileSync(`${path}-wal`)];
    await store.close();
    const commits = commitFrames(wal);
    expect(commits).toHaveLength(2);
    expect(wal.length).toBeGreaterThan(frameAt((commits[1] ?? 0) + 4));
    expect(start(join(folder.path, "whole.db"), { file, wal })).toEqual([...codes, "newer", "newest"]);
    const torn = damage(wal, frameAt(commits[1] ?? 0) + 100);
    expect(start(join(folder.path, "torn.db"), { file, wal: torn })).toEqual([...codes, "newer"]);
    const damaged = damage(wal, frameAt(commits[0] ?? 0) + 100);
    expect(start(join(folder.path, "damaged.db"), { file, wal: damaged })).toBe("refused");
  });

  test("is accepted with leftover frames of a rolled-back transaction", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "source.db");
    const database = openWriter(path);
    const insert = database.prepare("INSERT INTO links (code, original_url, created_ms) VALUES (?, ?, 1)");
    insert.run("link0", "x");
    // Pages that no longer fit into memory go to the log before the commit.
    database.run("PRAGMA cache_size = 10");
    database.run("BEGIN IMMEDIATE");
    for (let nth = 0; nth < 500; nth++) insert.run(`rolled-back${nth}`, "x".repeat(1000));
    database.run("ROLLBACK");
    const spilled = statSync(`${path}-wal`).size;
    insert.run("link1", "x");
    const [file, wal] = [readFileSync(path), readFileSync(`${path}-wal`)];
    insert.finalize();
    database.close();
    expect(wal.length).toBe(spilled);
    expect(spilled).toBeGreaterThan(frameAt((commitFrames(wal).at(-1) ?? 0) + 10));
    expect(start(join(folder.path, "start.db"), { file, wal })).toEqual(["link0", "link1"]);
  });

  test("is never reported as damaged while a process writes to it", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "curt.db");
    const store = await openSqliteStore(path);
    const progress = { isDone: false };
    const writing = (async () => {
      for (let batch = 0; batch < 60; batch++)
        await store.insert(Array.from({ length: 100 }, (_, nth) => newLink(`link-${batch}-${nth}`)));
      progress.isDone = true;
    })();
    let checks = 0;
    for (; !progress.isDone || checks < 10; checks++) {
      expect(checkFile(path)).toMatchObject({ damage: [] });
      await Bun.sleep(0);
    }
    await writing;
    await store.close();
  });

  test("stays locked by a transaction while the writer of the same process closes", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "curt.db");
    const writer = openWriter(path);
    using sender = openSecondWriter(path, identify(path));
    sender.run("BEGIN IMMEDIATE");
    writer.close();
    const program = Bun.spawn([process.execPath, "-e", OTHER_WRITER, path]);
    expect(await program.stdout.text()).toBe("SQLITE_BUSY\n");
  });

  test("is emptied by a running service while nobody writes", async () => {
    using folder = temporaryFolder();
    await using program = await startProgram({}, { folder: folder.path, roundMs: 100 });
    const logBytes = () => statSync(`${program.file}-wal`).size;
    for (const custom_code of ["one", "two"]) {
      await program.shorten({ original_url, custom_code });
      for (let patience = 2400; logBytes() > 0 && patience > 0; patience--) await Bun.sleep(25);
      expect(logBytes()).toBe(0);
      expect((await program.fetch(`/${custom_code}`)).status).toBe(302);
    }
  });
});

test("`serve` and `check` refuse a damaged log, and every link redirects after its repair", async () => {
  using folder = temporaryFolder();
  const codes = Array.from({ length: 10 }, (_, nth) => `link${nth}`);
  {
    await using program = await startProgram({ PROCESSES: "2" }, { folder: folder.path });
    for (const custom_code of codes) await program.shorten({ original_url, custom_code });
    // A copy is what a power cut leaves.
    for (const part of ["", "-wal"]) copyFileSync(program.file + part, join(folder.path, `cut.db${part}`));
  }
  const path = join(folder.path, "cut.db");
  const whole = readFileSync(`${path}-wal`);
  const [, second = 0] = commitFrames(whole);
  writeFileSync(`${path}-wal`, damage(whole, frameAt(second) + 500));
  const settings = { PROCESSES: "2", DATABASE_URL: `sqlite:${path}` };
  for (const command of ["serve", "check"]) {
    const child = Bun.spawn([process.execPath, PROGRAM, command], {
      cwd: ROOT,
      env: { ...process.env, PORT: "0", BASE_URL: "https://curt.example", ...settings },
      stdout: "ignore",
      stderr: "pipe",
      timeout: 100_000,
    });
    expect(await child.exited).toBe(1);
    expect(await child.stderr.text()).toMatch(/-wal is damaged.*First copy .*cut\.db-shm elsewhere\./);
  }
  writeFileSync(`${path}-wal`, whole);
  await using program = await startProgram(settings, { folder: folder.path });
  for (const code of codes) expect((await program.fetch(`/${code}`)).status).toBe(302);
});
