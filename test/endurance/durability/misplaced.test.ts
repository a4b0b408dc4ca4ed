import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";

import { StoreUnusable } from "../../../src/links/store.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";
import { type Program, startProgram, temporaryFolder } from "../../service.ts";
import { childrenOf, isRunning } from "../../signals.ts";
import { newLink } from "../../stores/links.ts";

const original_url = "https://example.com/";
const ALL = ["", "-wal", "-shm"];

function move(file: string, folder: string, parts = ALL): () => void {
  mkdirSync(folder, { recursive: true });
  const moves = parts.map((part) => [`${file}${part}`, join(folder, basename(file) + part)] as const);
  for (const [from, to] of moves) renameSync(from, to);
  return () => {
    for (const [from, to] of moves) renameSync(to, from);
  };
}

/** Statuses of so many requests, each over a connection of its own, so that every process gets some. */
async function statuses(ask: (nth: number) => Promise<Response>): Promise<Set<number>> {
  const answers = await Promise.all(Array.from({ length: 40 }, (_, nth) => ask(nth)));
  return new Set(answers.map(({ status }) => status));
}

function asks(program: Program) {
  const headers = { "Content-Type": "application/json", Connection: "close" };
  const get = (path: string) => () => program.fetch(path, { headers, keepalive: false });
  let made = 0;
  return {
    get: (path: string) => statuses(get(path)),
    create: () => statuses(() => program.shorten({ original_url, custom_code: `new-${++made}` }, headers)),
  };
}

async function until(what: string, isSo: () => boolean): Promise<void> {
  for (let patience = 2400; !isSo(); patience--) {
    if (patience === 0) throw new Error(`waited too long until ${what}`);
    await Bun.sleep(50);
  }
}

const linesThatSay = (program: Program, text: string) => program.logged.filter((line) => line.includes(text));
const children = (program: Program) =>
  linesThatSay(program, "listens on").flatMap(
    (line) => (JSON.parse(line) as { children?: number[] }).children ?? [],
  );

for (const processes of ["1", "2"]) {
  describe(`while PROCESSES=${processes} serve`, () => {
    for (const [what, parts] of [
      ["all its files", ALL],
      ["the file alone", [""]],
      ["the log alone", ["-wal"]],
    ] as const)
      test(`${what} moved away: nothing is made or denied until they are back`, async () => {
        using folder = temporaryFolder();
        await using program = await startProgram({ PROCESSES: processes }, { folder: folder.path });
        const { get, create } = asks(program);
        await program.shorten({ original_url, custom_code: "kept" });
        expect(await get("/kept")).toEqual(new Set([302]));
        program.expectFaults();
        const moveBack = move(program.file, join(folder.path, "away"), [...parts]);
        expect(await create()).toEqual(new Set([503]));
        expect(await get("/kept")).toEqual(new Set([302]));
        expect(await get("/unknown")).toEqual(new Set([503]));
        expect(await get("/api/v1/codes/free")).toEqual(new Set([503]));
        expect(await get("/readyz")).toEqual(new Set([503]));
        expect(await get("/livez")).toEqual(new Set([200]));
        await until("it is logged", () => linesThatSay(program, "moved, deleted or replaced").length > 0);
        // Of 160 faults. A line every five seconds tells how many came.
        expect(linesThatSay(program, '"level":"error"').length).toBeLessThan(30 * Number(processes));
        moveBack();
        expect(await create()).toEqual(new Set([201]));
        expect(await get("/unknown")).toEqual(new Set([404]));
        expect(await get("/readyz")).toEqual(new Set([200]));
      });

    test("its files deleted: answers no 201, makes no other, and ends in order", async () => {
      await using program = await startProgram({ PROCESSES: processes });
      const { get, create } = asks(program);
      await program.shorten({ original_url, custom_code: "kept" });
      program.expectFaults();
      for (const part of ALL) rmSync(program.file + part);
      expect(await create()).toEqual(new Set([503]));
      expect(await get("/kept")).toEqual(new Set([302]));
      program.kill("SIGTERM");
      await program.exited;
      expect(existsSync(program.file)).toBeFalse();
    });

    test("a backup in the file's place: nothing goes into it until a restart", async () => {
      using folder = temporaryFolder();
      await using program = await startProgram({ PROCESSES: processes }, { folder: folder.path });
      const { get, create } = asks(program);
      const backup = join(folder.path, "backup.db");
      await program.shorten({ original_url, custom_code: "backed-up" });
      {
        using database = new Database(program.file);
        database.run("VACUUM INTO ?", [backup]);
      }
      await program.shorten({ original_url, custom_code: "kept" });
      program.expectFaults();
      renameSync(backup, program.file);
      expect(await create()).toEqual(new Set([503]));
      expect(await get("/kept")).toEqual(new Set([302]));
      program.kill("SIGTERM");
      await program.exited;
      using database = new Database(program.file, { readonly: true });
      expect(database.query("SELECT code FROM links").all()).toEqual([{ code: "backed-up" }]);
    });
  });
}

describe("a process that takes a dead one's place", () => {
  for (const [what, change] of Object.entries({
    "no file": (file: string) => move(file, `${file}-away`),
    "no log and no shared memory": (file: string) => move(file, `${file}-away`, ["-wal", "-shm"]),
    "a copy of the file": (file: string) => {
      const moveBack = move(file, `${file}-away`);
      for (const part of ALL) copyFileSync(join(`${file}-away`, basename(file) + part), file + part);
      return moveBack;
    },
  }))
    test(`makes no store where it finds ${what}, and serves once the files are back`, async () => {
      await using program = await startProgram({ PROCESSES: "2" });
      const { get, create } = asks(program);
      await program.shorten({ original_url, custom_code: "kept" });
      program.expectFaults();
      const moveBack = change(program.file);
      const [victim = 0] = children(program);
      process.kill(victim, "SIGKILL");
      // Its own end, and that of one that was to take its place.
      await until("others have tried", () => linesThatSay(program, "a process ended").length >= 2);
      expect(await get("/kept")).toEqual(new Set([302]));
      expect(await get("/unknown")).toEqual(new Set([503]));
      expect(await create()).toEqual(new Set([503]));
      moveBack();
      await until("its place is taken", () => linesThatSay(program, "took its place").length > 0);
      expect(await create()).toEqual(new Set([201]));
      expect(await get("/kept")).toEqual(new Set([302]));
    });

  test("may find the log gone where all others ended in order", async () => {
    await using program = await startProgram({ PROCESSES: "2" });
    const { get } = asks(program);
    await program.shorten({ original_url, custom_code: "kept" });
    for (const pid of children(program)) process.kill(pid, "SIGTERM");
    await until("both places are taken", () => linesThatSay(program, "took its place").length === 2);
    expect(await get("/kept")).toEqual(new Set([302]));
  });

  test("may start when all others have stopped: that is no failure", async () => {
    await using program = await startProgram({ PROCESSES: "2" });
    await program.shorten({ original_url, custom_code: "kept" });
    const [victim = 0, other = 0] = children(program);
    process.kill(victim, "SIGKILL");
    const replacing = () => childrenOf(program.pid).find((pid) => pid !== victim && pid !== other);
    await until("another starts in its place", () => replacing() !== undefined);
    const starting = replacing() ?? 0;
    process.kill(starting, "SIGSTOP");
    program.kill("SIGTERM");
    await until("the other has closed the store", () => !isRunning(other));
    process.kill(starting, "SIGCONT");
    expect(await program.exited).toBe(0);
  });
});

describe("a store", () => {
  test("that closes leaves another store's log alone", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "curt.db");
    const store = await openSqliteStore(path);
    await store.insert([newLink("old")]);
    move(path, join(folder.path, "away"));
    const other = await openSqliteStore(path);
    await other.insert([newLink("new")]);
    await store.close();
    expect(existsSync(`${path}-wal`)).toBeTrue();
    expect(await other.insert([newLink("newer")])).toMatchObject([{ code: "newer" }]);
    await other.close();
  });

  test("of which only the log is left is not begun anew", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "curt.db");
    const copy = join(folder.path, "copy.db");
    const store = await openSqliteStore(path);
    await store.insert([newLink("kept")]);
    copyFileSync(`${path}-wal`, `${copy}-wal`);
    const refusal = await openSqliteStore(copy).catch((reason: unknown) => reason);
    expect(refusal).toBeInstanceOf(StoreUnusable);
    expect((refusal as Error).message).toContain(`${copy}-wal holds links of it`);
    expect(existsSync(copy)).toBeFalse();
    copyFileSync(path, copy);
    await store.close();
    const saved = await openSqliteStore(copy);
    expect(await saved.find(newLink("kept").code)).toMatchObject({ code: "kept" });
    await saved.close();
  });

  test("whose log was deleted while another process may use it is not opened", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "curt.db");
    const store = await openSqliteStore(path);
    await store.insert([newLink("kept")]);
    const moveBack = move(path, join(folder.path, "away"), ["-wal"]);
    const refusal = await openSqliteStore(path).catch((reason: unknown) => reason);
    expect((refusal as Error).message).toMatch(/-wal is missing, and may have held links/);
    moveBack();
    await store.close();
  });
});
