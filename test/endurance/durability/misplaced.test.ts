import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";

import { StoreUnusable } from "../../../src/links/link-store.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { hasStarted } from "../../server/processes.ts";
import { newLink } from "../../stores/links.ts";
import { childrenOf, isRunning } from "../../support/processes.ts";
import { type Program, startProgram, temporaryFolder } from "../../support/service.ts";

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

/** The statuses of 40 requests, each over a connection of its own, so that every process gets some. */
async function statuses(send: (nth: number) => Promise<Response>): Promise<Set<number>> {
  const answers = await Promise.all(Array.from({ length: 40 }, (_, nth) => send(nth)));
  return new Set(answers.map(({ status }) => status));
}

function requestsTo(program: Program) {
  const headers = { "Content-Type": "application/json", Connection: "close" };
  const get = (path: string) => () => program.fetch(path, { headers, keepalive: false });
  let created = 0;
  return {
    get: (path: string) => statuses(get(path)),
    create: () => statuses(() => program.shorten({ original_url, custom_code: `new-${++created}` }, headers)),
  };
}

async function until(what: string, isSo: () => boolean): Promise<void> {
  for (let patience = 2400; !isSo(); patience--) {
    if (patience === 0) throw new Error(`waited too long until ${what}`);
    await Bun.sleep(50);
  }
}

const linesWith = (program: Program, text: string) => program.logged.filter((line) => line.includes(text));
const children = (program: Program) =>
  linesWith(program, "listens on").flatMap(
    (line) => (JSON.parse(line) as { children?: number[] }).children ?? [],
  );

for (const processes of ["1", "2"]) {
  describe(`a service with PROCESSES=${processes}`, () => {
    for (const [what, parts] of [
      ["all files of the store are", ALL],
      ["only the SQLite file is", [""]],
      ["only the log is", ["-wal"]],
    ] as const)
      test(`responds 503 to creates and unknown codes while ${what} moved away, and recovers when it returns`, async () => {
        using folder = temporaryFolder();
        await using program = await startProgram({ PROCESSES: processes }, { folder: folder.path });
        const { get, create } = requestsTo(program);
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
        await until("it is logged", () => linesWith(program, "moved, deleted or replaced").length > 0);
        // There were 160 faults. Every five seconds, a line counts them.
        expect(linesWith(program, '"level":"error"').length).toBeLessThan(30 * Number(processes));
        moveBack();
        expect(await create()).toEqual(new Set([201]));
        expect(await get("/unknown")).toEqual(new Set([404]));
        expect(await get("/readyz")).toEqual(new Set([200]));
      });

    test("confirms no link after its files are deleted, creates no new ones, and stops in order", async () => {
      await using program = await startProgram({ PROCESSES: processes });
      const { get, create } = requestsTo(program);
      await program.shorten({ original_url, custom_code: "kept" });
      program.expectFaults();
      for (const part of ALL) rmSync(program.file + part);
      expect(await create()).toEqual(new Set([503]));
      expect(await get("/kept")).toEqual(new Set([302]));
      program.kill("SIGTERM");
      await program.exited;
      expect(existsSync(program.file)).toBeFalse();
    });

    test("writes nothing to a backup that replaces its file while it runs", async () => {
      using folder = temporaryFolder();
      await using program = await startProgram({ PROCESSES: processes }, { folder: folder.path });
      const { get, create } = requestsTo(program);
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

describe("a replacement of a killed process", () => {
  for (const [what, change] of Object.entries({
    "no file": (file: string) => move(file, `${file}-away`),
    "no log and no shared memory": (file: string) => move(file, `${file}-away`, ["-wal", "-shm"]),
    "a copy of the file": (file: string) => {
      const moveBack = move(file, `${file}-away`);
      for (const part of ALL) copyFileSync(join(`${file}-away`, basename(file) + part), file + part);
      return moveBack;
    },
  }))
    test(`creates no store if it finds ${what}, and serves once the files are back`, async () => {
      await using program = await startProgram({ PROCESSES: "2" });
      const { get, create } = requestsTo(program);
      await program.shorten({ original_url, custom_code: "kept" });
      program.expectFaults();
      const moveBack = change(program.file);
      const [victim = 0] = children(program);
      process.kill(victim, "SIGKILL");
      // The end of the victim, and that of a replacement.
      await until("a replacement has tried", () => linesWith(program, "a process ended").length >= 2);
      expect(await get("/kept")).toEqual(new Set([302]));
      expect(await get("/unknown")).toEqual(new Set([503]));
      expect(await create()).toEqual(new Set([503]));
      moveBack();
      await until("its place is taken", () => linesWith(program, "another process replaced it").length > 0);
      expect(await create()).toEqual(new Set([201]));
      expect(await get("/kept")).toEqual(new Set([302]));
    });

  test("starts without a log if all others stopped in order", async () => {
    await using program = await startProgram({ PROCESSES: "2" });
    const { get } = requestsTo(program);
    await program.shorten({ original_url, custom_code: "kept" });
    for (const pid of children(program)) process.kill(pid, "SIGTERM");
    await until(
      "both places are taken",
      () => linesWith(program, "another process replaced it").length === 2,
    );
    expect(await get("/kept")).toEqual(new Set([302]));
  });

  test("ends without a failure if all others stop during its start", async () => {
    await using program = await startProgram({ PROCESSES: "2" });
    await program.shorten({ original_url, custom_code: "kept" });
    const [victim = 0, other = 0] = children(program);
    process.kill(victim, "SIGKILL");
    const replacing = () =>
      childrenOf(program.pid).find((pid) => pid !== victim && pid !== other && hasStarted(pid));
    await until("another starts in its place", () => replacing() !== undefined);
    const starting = replacing() ?? 0;
    process.kill(starting, "SIGSTOP");
    program.kill("SIGTERM");
    await until("the other has closed the store", () => !isRunning(other));
    process.kill(starting, "SIGCONT");
    expect(await program.exited).toBe(0);
  });
});

describe("openSqliteStore", () => {
  test("leaves the log of another store alone when it closes", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "curt.db");
    const store = await openSqliteStore(path);
    await store.insert([newLink("old")]);
    move(path, join(folder.path, "away"));
    const other = await openSqliteStore(path);
    await other.insert([newLink("new")]);
    await store.close();
    expect(existsSync(`${path}-wal`)).toBeTrue();
    expect(await other.insert([newLink("newer")])).toEqual([true]);
    await other.close();
  });

  test("refuses to open when only its log is left, and opens once its file is back", async () => {
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

  test("refuses to open when its log was deleted while another process may use it", async () => {
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
