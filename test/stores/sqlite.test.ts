import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";

import { StoreUnavailable, StoreUnusable } from "../../src/links/link-store.ts";
import { DAY_MS } from "../../src/links/time.ts";
import { checkFile, openWriter } from "../../src/store/sqlite/file/file.ts";
import { openSqliteStore, type StoreOptions } from "../../src/store/sqlite/sqlite-store.ts";
import { daysWithVisits, LAST_DAY } from "../../src/store/sqlite/visit-writes.ts";
import { temporaryFolder } from "../support/service.ts";
import { slicesOf } from "../visits/slices.ts";
import { testCaseStore } from "./cases.ts";
import { newLink, testLinkStore } from "./links.ts";
import { testModerationStore } from "./moderation.ts";
import { testOwners } from "./owners.ts";
import { testRequests } from "./requests.ts";
import { testFigures, testSearch } from "./search.ts";
import { testTables } from "./tables.ts";
import { testUndo } from "./undo.ts";
import { testUpdates } from "./updates.ts";
import { testVisitStore } from "./visits.ts";

const shared = temporaryFolder();
afterAll(() => shared[Symbol.dispose]());
const links = join(shared.path, "new", "folder", "curt.db");
/** Two handles wait for each other's commits, however busy the machine is. */
const openPatiently = (path: string, onFault?: (error: unknown) => void) =>
  openSqliteStore(path, { busyWaitMs: 60_000, sizeKnownMs: 20, ...(onFault && { onFault }) });
testLinkStore("SQLite", () => openPatiently(links));
testUpdates("SQLite", () => openPatiently(join(shared.path, "updates.db")));
testRequests("SQLite", () => openPatiently(join(shared.path, "requests.db")));
testVisitStore("SQLite", (onFault) => openPatiently(join(shared.path, "visits.db"), onFault));
testModerationStore("SQLite", () => openPatiently(join(shared.path, "moderation.db")));
testSearch("SQLite", () => openPatiently(join(shared.path, "search.db")));
testFigures("SQLite", () => openPatiently(join(shared.path, "figures.db")));
testCaseStore("SQLite", () => openPatiently(join(shared.path, "cases.db")));
testOwners("SQLite", () => openPatiently(join(shared.path, "owners.db")));
testUndo("SQLite", async () => ({ engine: "sqlite", path: join(shared.path, "undo.db") }));

testTables("SQLite", async (of) => ({ engine: "sqlite", path: join(shared.path, `${of}.db`) }));

/** A store in a folder of its own. */
async function openOwn(options: StoreOptions = {}) {
  const folder = temporaryFolder();
  const path = join(folder.path, "curt.db");
  const store = await openSqliteStore(path, options);
  async function dispose(): Promise<void> {
    await store.close();
    folder[Symbol.dispose]();
  }
  return Object.assign(store, { path, [Symbol.asyncDispose]: dispose });
}

const REPORTED = { reason: "spam", day: 1, atMs: 1, works: true, targetSinceMs: 0 } as const;

describe("a SQLite file", () => {
  test("uses write-ahead logging and syncs every commit", () => {
    using folder = temporaryFolder();
    using database = openWriter(join(folder.path, "curt.db"));
    expect(database.query("PRAGMA synchronous").get()).toEqual({ synchronous: 2 });
    expect(database.query("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
  });

  test("reports complete changes until one since a position is deleted", async () => {
    await using store = await openOwn();
    const { path } = store;
    const { position: start } = await store.changes();
    await store.insert([newLink("a"), newLink("b")]);
    for (const code of ["a", "b"])
      await store.update(newLink(code), { type: "withdraw", atMs: newLink(code).createdMs + 1 });
    const first = await store.changes(start);
    expect(first).toMatchObject({ keys: ["a", "b"], isComplete: true });
    const { position: end } = first;
    {
      using database = new Database(path);
      database.run("DELETE FROM changes WHERE revision = 1");
    }
    expect(await store.changes(start)).toEqual({
      position: end,
      keys: [],
      rules: false,
      hasMore: false,
      isComplete: false,
    });
    expect(await store.changes(end)).toMatchObject({ keys: [], isComplete: true });
  });

  test("contains no visitor's hash and no salt, even in its log, once the day is closed and no reader is open", async () => {
    await using store = await openOwn();
    const { path } = store;
    const day = 20_000;
    const salt = await store.salt(day, day);
    for (const slice of slicesOf({ hour: day * 24, visits: [{ code: "a", visitor: 987_654_321 }] }))
      await store.add(slice);
    const traces = [Buffer.from(Uint32Array.of(987_654_321).buffer), Buffer.from(salt)];
    const isIn = (file: string) => traces.map((trace) => readFileSync(file).includes(trace));
    expect(isIn(`${path}-wal`)).toEqual([true, true]);
    // A report of the next day deletes the salt before the day's visits are closed.
    await store.salt(day + 1, day + 1);
    const bounds = { closeBefore: day + 1, forgetBefore: 0 };
    using reader = new Database(path, { readonly: true });
    reader.run("BEGIN");
    reader.query("SELECT * FROM visits").all();
    await store.age(bounds, 10);
    expect(isIn(`${path}-wal`)).toEqual([true, true]);
    reader.run("COMMIT");
    await store.age(bounds, 10);
    for (const file of [path, `${path}-wal`]) expect(isIn(file)).toEqual([false, false]);
  });

  test("stores a link's day with one visit in less than 60 bytes", async () => {
    await using store = await openOwn();
    const { path } = store;
    const bytesOf = () => {
      using database = new Database(path);
      database.run("PRAGMA wal_checkpoint(TRUNCATE)");
      return Bun.file(path).size;
    };
    const before = bytesOf();
    const rows = 20_000;
    for (let added = 0; added < rows; added += 2000) {
      const visits = Array.from({ length: 2000 }, (_, nth) => ({
        code: Math.random().toString(36).slice(2, 9).padEnd(7, "z"),
        createdMs: DAY_MS * 20_000 + added + nth,
        visitor: Math.floor(Math.random() * 2 ** 32),
        referrer: "google.com",
      }));
      for (const slice of slicesOf({ hour: 20_000 * 24, visits })) await store.add(slice);
    }
    expect((bytesOf() - before) / rows).toBeLessThan(60);
  });

  test("stores a link with a URL of 80 characters in less than 150 bytes", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "curt.db");
    const store = await openSqliteStore(path);
    const target = `https://example.com/${"x".repeat(60)}`;
    for (let batch = 0; batch < 20; batch++) {
      const rows = Array.from({ length: 1000 }, () =>
        newLink(Math.random().toString(36).slice(2, 9).padEnd(7, "z"), {
          originalUrl: target,
          target: target as never,
        }),
      );
      await store.insert(rows);
    }
    const size = await store.size();
    await store.close();
    expect(Bun.file(path).size / size).toBeLessThan(150);
  });

  async function refusal(prepare: (path: string) => string | void): Promise<string> {
    using folder = temporaryFolder();
    const path = prepare(join(folder.path, "curt.db")) ?? join(folder.path, "curt.db");
    const before = existsSync(path) && !path.endsWith("/") ? readBytes(path) : undefined;
    const opening = openSqliteStore(path, { busyWaitMs: 50 });
    const error = await opening.then(
      async (store) => {
        await store.close();
        return undefined;
      },
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(StoreUnusable);
    if (before !== undefined) expect(readBytes(path).equals(before)).toBeTrue();
    expect(existsSync(`${path}-wal`)).toBeFalse();
    return (error as Error).message;
  }

  function readBytes(path: string): Buffer {
    try {
      return readFileSync(path);
    } catch {
      return Buffer.alloc(0);
    }
  }

  function createFile(path: string): Database {
    openWriter(path).close();
    return new Database(path);
  }

  /** Changes a new store without a log. */
  const withChange = (change: (database: Database) => void) => (path: string) => {
    using database = createFile(path);
    database.run("PRAGMA journal_mode = DELETE");
    change(database);
  };

  test.each<[string, (path: string) => string | void, RegExp]>([
    [
      "a newer schema",
      withChange((database) => database.run("PRAGMA user_version = 99")),
      /schema 99, created by a newer Curt/,
    ],
    [
      "a missing index",
      withChange((database) => database.run("DROP INDEX links_by_end")),
      /lacks or has changed: index links_by_end of schema/,
    ],
    ["a text file", (path) => writeFileSync(path, "hello"), /is not a SQLite file/],
    ["a file of other bytes", (path) => writeFileSync(path, Buffer.alloc(8192, 7)), /is not a SQLite file/],
    [
      "another program's database",
      (path) => {
        using database = new Database(path);
        database.run("CREATE TABLE cats (name TEXT)");
      },
      /belongs to another program/,
    ],
    [
      "a folder",
      (path) => {
        mkdirSync(path);
        return path;
      },
      /is not a file/,
    ],
    [
      "a damaged first page",
      (path) => {
        withChange(() => {})(path);
        const descriptor = openSync(path, "r+");
        writeSync(descriptor, Buffer.alloc(600, 0xff), 0, 600, 100);
        closeSync(descriptor);
      },
      /is damaged/,
    ],
    [
      "a path below a file",
      (path) => {
        writeFileSync(path, "a file, not a folder");
        return join(path, "curt.db");
      },
      /cannot be used: .*Check DATABASE_URL/,
    ],
    [
      "a file with a hard link",
      (path) => {
        createFile(path).close();
        linkSync(path, `${path}.copy`);
      },
      /has another name \(a hard link\).*find \/ -samefile/,
    ],
    [
      "a symbolic link to another store",
      (path) => {
        createFile(`${path}.other`).close();
        symlinkSync(`${path}.other`, path);
        expect(() => checkFile(path)).toThrow(/is a symbolic link to .*\.other\./);
      },
      /is a symbolic link to .*curt\.db\.other\. Set DATABASE_URL/,
    ],
    [
      "a symbolic link to a missing file",
      (path) => symlinkSync(join(path, "..", "gone", "x.db"), path),
      /curt\.db is a symbolic link to .*gone\/x\.db\. Set DATABASE_URL/,
    ],
  ])("is refused and stays unchanged: %s", async (_, prepare, message) => {
    expect(await refusal(prepare)).toMatch(message);
  });

  test("is refused with a foreign trigger or index on its tables, but not with foreign tables", async () => {
    using folder = temporaryFolder();
    const fine = join(folder.path, "fine.db");
    {
      using database = createFile(fine);
      database.run("CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)");
      database.run("CREATE INDEX seqs ON _litestream_seq (seq)");
      database.run("ANALYZE");
    }
    await (await openSqliteStore(fine)).close();
    for (const statement of [
      "CREATE TRIGGER planted AFTER INSERT ON LINKS BEGIN UPDATE links SET target = 'https://evil.example/'; END",
      "CREATE UNIQUE INDEX planted ON links (original_url)",
    ]) {
      const message = await refusal((path) => {
        using database = createFile(path);
        database.run("PRAGMA journal_mode = DELETE");
        database.run(statement);
        expect(() => checkFile(path)).toThrow(
          /has parts that Curt did not create: (trigger|index) planted\./,
        );
      });
      expect(message).toContain(" planted.");
    }
  });

  test("is refused while another program locks it", async () => {
    let locking: Database | undefined;
    const message = await refusal((path) => {
      locking = createFile(path);
      locking.run("PRAGMA journal_mode = DELETE");
      locking.run("BEGIN EXCLUSIVE");
    });
    locking?.close();
    expect(message).toMatch(/is locked by another program/);
  });

  test("opens after a killed restore, whose .part name it removes", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "curt.db");
    await (await openSqliteStore(path)).close();
    linkSync(path, `${path}.part`);
    await (await openSqliteStore(path)).close();
    expect(existsSync(`${path}.part`)).toBeFalse();
  });

  test("is refused in a folder without write permission", async () => {
    if (process.getuid?.() === 0) return;
    const unwritable = (path: string) => chmodSync(join(path, ".."), 0o500);
    expect(await refusal(unwritable)).toMatch(/Check DATABASE_URL/);
  });

  test("is refused and keeps its content if another program left it with a rollback journal", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "cats.db");
    const cats = new Database(path);
    cats.run("PRAGMA journal_mode = PERSIST");
    cats.run("CREATE TABLE cats (name TEXT)");
    cats.close();
    expect(existsSync(`${path}-journal`)).toBeTrue();
    expect(await openSqliteStore(path).catch((reason: Error) => reason.message)).toMatch(
      /belongs to another program/,
    );
    using after = new Database(path);
    expect(after.query("SELECT name FROM sqlite_schema").all()).toEqual([{ name: "cats" }]);
    expect(after.query("PRAGMA application_id").get()).toEqual({ application_id: 0 });
  });

  test("is created again if its creation was interrupted", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "curt.db");
    writeFileSync(path, "");
    const store = await openSqliteStore(path);
    expect(await store.insert([newLink("a")])).toEqual([true]);
    await store.close();
  });

  test("opens with an empty -shm file but no -wal, unless the index names a log with links", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "curt.db");
    await (await openSqliteStore(path)).close();
    for (const bytes of [0, 32_768]) {
      writeFileSync(`${path}-shm`, new Uint8Array(bytes));
      await (await openSqliteStore(path)).close();
    }
    const index = new Uint8Array(32_768);
    index[12] = 1;
    writeFileSync(`${path}-shm`, index);
    const start = await openSqliteStore(path).catch((error: Error) => error.message);
    expect(start).toContain("-wal is missing, and may have held links");
  });

  test("is checked page by page: all links are counted and damage is found", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "curt.db");
    expect(checkFile(path)).toBeUndefined();
    const store = await openSqliteStore(path);
    await store.insert(Array.from({ length: 1000 }, (_, nth) => newLink(`code${nth}`)));
    expect(checkFile(path)).toEqual({ links: 1000, damage: [], unsendable: [] });
    await store.close();
    expect(checkFile(path)).toEqual({ links: 1000, damage: [], unsendable: [] });
    const descriptor = openSync(path, "r+");
    writeSync(descriptor, Buffer.alloc(4096, 0x5a), 0, 4096, 4096 * 9);
    closeSync(descriptor);
    const finding = () => checkFile(path)?.damage.length === 0;
    let fine: boolean;
    try {
      fine = finding();
    } catch (error) {
      expect((error as Error).message).toMatch(/is damaged/);
      fine = false;
    }
    expect(fine).toBeFalse();
  });

  test("refuses creates but not reads during a long lock, after which background tasks finish", async () => {
    await using store = await openOwn({ busyWaitMs: 50 });
    const patient = await openSqliteStore(store.path, { busyWaitMs: 60_000 });
    await store.insert([newLink("before")]);
    const locking = new Database(store.path);
    locking.run("BEGIN IMMEDIATE");
    const settled: string[] = [];
    const settling = (name: string, task: Promise<unknown>) =>
      task.then(
        () => settled.push(`${name} is done`),
        (reason: unknown) => settled.push(`${name}: ${(reason as Error).constructor.name}`),
      );
    const bounds = { closeBefore: 1, coarseBefore: 1, forgetBefore: 1 };
    const background = [
      settling("purge", patient.purge(1, 1)),
      settling("age", patient.age(bounds, 1)),
      settling("salt", patient.salt(1, 1)),
    ];
    const inserts = [settling("first", store.insert([newLink("during")]))];
    // It shares the wait of the first, and doesn't wait again for itself.
    await Bun.sleep(100);
    inserts.push(settling("second", store.insert([newLink("during")])));
    expect(await store.find("before" as never)).toBeDefined();
    await Promise.all(inserts);
    expect(settled).toEqual(["first: StoreBusy", "second: StoreBusy"]);
    locking.run("ROLLBACK");
    locking.close();
    await Promise.all(background);
    expect(settled.slice(2)).toEqual(["purge is done", "age is done", "salt is done"]);
    expect(await store.insert([newLink("during")])).toEqual([true]);
    await patient.close();
  });

  test("closes while background tasks wait for a lock, and these fail", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "curt.db");
    const store = await openSqliteStore(path);
    await store.insert([newLink("before")]);
    const locking = new Database(path);
    locking.run("BEGIN IMMEDIATE");
    const purges = [store.purge(1, 1), store.purge(1, 1)].map((purge) =>
      purge.catch((reason: unknown) => reason),
    );
    await store.close();
    expect(await Promise.all(purges)).toEqual([expect.any(StoreUnavailable), expect.any(StoreUnavailable)]);
    locking.run("ROLLBACK");
    locking.close();
    const reopened = await openSqliteStore(path);
    expect(await reopened.find("before" as never)).toBeDefined();
    await reopened.close();
  });

  test("has a daysWithVisits query that yields only days with visits", async () => {
    await using store = await openOwn();
    using database = new Database(store.path);
    for (const day of [0, 5, 20_000, 2_642_912])
      database.run("INSERT INTO visits (day, code, created_ms, visits, bots) VALUES (?1, 'a', 5, 1, 0)", [
        day,
      ]);
    const days = (first: number, last: number) =>
      database
        .query(`WITH RECURSIVE ${daysWithVisits("?1", "?2")} SELECT day FROM span`)
        .values(first, last)
        .flat();
    expect(days(0, LAST_DAY)).toEqual([0, 5, 20_000, 2_642_912, null]);
    expect(days(1, 20_000)).toEqual([5, 20_000, null]);
    expect(days(6, 19_999)).toEqual([null]);
  });

  test("doesn't count purged links in its size and figures, even after it is opened again", async () => {
    await using store = await openOwn({ sizeKnownMs: 0 });
    const ends = Array.from({ length: 30 }, (_, nth) => newLink(`p${nth}`, nth < 10 ? { endsMs: 5 } : {}));
    await store.insert(ends);
    expect(store.size()).toBe(30);
    expect(await store.purge(5, 100)).toBe(10);
    while ((await store.size()) !== 20) await Bun.sleep(5);
    const reopened = await openSqliteStore(store.path, { sizeKnownMs: 0 });
    expect(await reopened.figures(0)).toMatchObject({ links: 20 });
    while ((await reopened.size()) !== 20) await Bun.sleep(5);
    await reopened.insert([newLink("q")]);
    expect(reopened.size()).toBe(21);
    await reopened.close();
  });

  test("lists only purgeable links in the index of ends", async () => {
    await using store = await openOwn();
    const ended = ["a", "b", "c"].map((code) => newLink(code, { endsMs: 5 }));
    await store.insert([...ended, newLink("never")]);
    await store.disable(ended.slice(1), { who: "api", atMs: 9, reason: "spam" });
    using database = new Database(store.path);
    // SQLite refuses an index that lacks rows of the query.
    const ofIndex = (filter: string) =>
      database.query(`SELECT code FROM links INDEXED BY links_by_end WHERE ${filter}`).all();
    expect(ofIndex("ends_ms <= 5 AND disabled IS NULL")).toEqual([{ code: "a" }]);
    expect(() => ofIndex("ends_ms <= 5")).toThrow("no query solution");
    expect(await store.purge(5, 10)).toBe(1);
  });

  test("refuses reports beyond 1,000 waiting ones, and reports that waited too long", async () => {
    await using store = await openOwn({ busyWaitMs: 50 });
    const { path } = store;
    const { code, createdMs } = newLink("reported");
    await store.insert([newLink("reported")]);
    const locking = new Database(path);
    locking.run("BEGIN IMMEDIATE");
    const send = (nth: number) =>
      store.report({ code, createdMs, reporter: String(nth), ...REPORTED }).then(
        (outcome) => outcome,
        (error: Error) => `${error.constructor.name}: ${error.message}`,
      );
    const outcomes = await Promise.all(Array.from({ length: 1100 }, (_, nth) => send(nth)));
    expect(outcomes.filter((outcome) => outcome.includes("already wait"))).toHaveLength(100);
    expect(outcomes.filter((outcome) => outcome.startsWith("StoreBusy"))).toHaveLength(1000);
    locking.run("ROLLBACK");
    locking.close();
    expect(await send(0)).toBe("counted");
  });

  test("refuses creates while too many rows wait, and accepts them afterwards", async () => {
    await using store = await openOwn();
    const batch = (name: string) => Array.from({ length: 6000 }, (_, nth) => newLink(`${name}${nth}`));
    const first = store.insert(batch("a"));
    const second = await store.insert(batch("b")).catch((reason: unknown) => reason);
    expect(second).toBeInstanceOf(StoreUnavailable);
    expect(await first).not.toContain(false);
    expect(await store.insert(batch("b"))).not.toContain(false);
  });
});
