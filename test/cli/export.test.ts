import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import type { DatabaseAddress } from "../../src/config/database-url.ts";
import type { LinkKey } from "../../src/links/code.ts";
import { StoreUnavailable, StoreUnusable } from "../../src/links/link-store.ts";
import { DAY_MS } from "../../src/links/time.ts";
import { fillStore, openStore } from "../../src/store/open.ts";
import { KINDS, type WriteRecords } from "../../src/store/shared/records.ts";
import { createLargeStore, runWithRoom } from "../backup/interruptions.ts";
import { newLink, NOW } from "../stores/links.ts";
import { HASH, createServedStore } from "../stores/served-store.ts";
import { testOnLinux } from "../support/linux.ts";
import { sharePostgres } from "../support/postgres.ts";
import { openStoreOf, startService, temporaryFolder, PROGRAM } from "../support/service.ts";
import { slicesOf, unreadableSlice } from "../visits/slices.ts";
import { ended, exportOf, HEAD, importTo, linkLine } from "./export-file.ts";
import { run, runAlone } from "./run.ts";

const server = await sharePostgres();
let databases = 0;
const newPostgres = () => server.address(`export${++databases}`);

const sqlite = (path: string): DatabaseAddress => ({ engine: "sqlite", path });

test("an import that fails after any kind of record leaves the store as it was, and can be repeated", async () => {
  using folder = temporaryFolder();
  const path = (name: string) => join(folder.path, name);
  await createServedStore(path("curt.db"));
  const file = await exportOf(sqlite(path("curt.db")));
  // An unused service has a secret and counters of its own.
  const unused = sqlite(path("unused.db"));
  const store = await openStore(unused);
  await store.secret(new Uint8Array([1]));
  await store.count(20_000, { unknown: 9 });
  await store.close();
  for (const address of [unused, await newPostgres()]) {
    await (await openStore(address)).close();
    const before = (await exportOf(address)).toString();
    for (const [nth, kind] of KINDS.entries()) {
      let writes = 0;
      const cut =
        (write: WriteRecords): WriteRecords =>
        async (...args) => {
          const added = await write(...args);
          if (writes++ === nth) throw new Error(`cut off after ${args[0]}`);
          return added;
        };
      const failure = await importTo(address, file, cut).catch((error: unknown) => error);
      expect(failure).toEqual(new Error(`cut off after ${kind}`));
      expect((await exportOf(address)).toString()).toBe(before);
    }
    expect(await importTo(address, file)).toBeTrue();
    expect((await exportOf(address)).toString()).toBe(file.toString());
  }
});

test("no service starts on a store while an import fills it", async () => {
  using folder = temporaryFolder();
  for (const address of [sqlite(join(folder.path, "curt.db")), await newPostgres()]) {
    const failure = await fillStore(address, "match", async (write) => {
      await write("host", [{ host: "evil.example", reason: "spam", sinceMs: 5 }]);
      try {
        const store = await openStore(address, { busyWaitMs: 1 });
        await using _ = { [Symbol.asyncDispose]: store.close };
        return await store.secret(new Uint8Array([1]));
      } catch (error) {
        return error;
      }
    });
    expect([StoreUnusable.name, StoreUnavailable.name]).toContain((failure as Error).name);
    expect((await exportOf(address)).toString()).toMatch(
      /^\{"format".*\n\{"kind":"host".*\n\{"kind":"end".*\n$/,
    );
  }
});

test("an export with a counter of 1970-01-01 can be imported", async () => {
  using folder = temporaryFolder();
  const store = await openStore(sqlite(join(folder.path, "first")));
  await store.insert([newLink("a")]);
  await store.count(0, { created: 1 });
  await store.close();
  const file = await exportOf(sqlite(join(folder.path, "first")));
  expect(await importTo(sqlite(join(folder.path, "last")), file)).toBeTrue();
  expect((await exportOf(sqlite(join(folder.path, "last")))).toString()).toBe(file.toString());
});

test("a store can add visits to a day with the largest numbers of an export, and export it again", async () => {
  using folder = temporaryFolder();
  const max = Number.MAX_SAFE_INTEGER;
  const detail = {
    hours: { 1: [max, max] },
    visitors: max,
    values: { devices: [["x", max]] },
    others: { devices: max },
  };
  const day = { day: "2026-11-20", visits: max, bots: max, ...detail };
  const line = JSON.stringify({ kind: "day", code: "a", created_at: new Date(NOW).toISOString(), ...day });
  const file = Buffer.from(ended([HEAD, linkLine("a"), line], { link: 1, day: 1 }));
  for (const address of [sqlite(join(folder.path, "a.db")), await newPostgres()]) {
    expect(await importTo(address, file)).toBeTrue();
    const store = await openStore(address);
    const hour = (Date.UTC(2026, 10, 20) / DAY_MS) * 24 + 1;
    for (const slice of slicesOf({ hour, visits: [{ code: "a", createdMs: NOW }] })) await store.add(slice);
    await store.close();
    const again = sqlite(join(folder.path, `${address.engine}.db`));
    expect(await importTo(again, await exportOf(address))).toBeTrue();
  }
});

test("an export has the sums of a day whose details can't be read", async () => {
  using folder = temporaryFolder();
  const day = Math.floor(NOW / DAY_MS);
  for (const address of [sqlite(join(folder.path, "a.db")), await newPostgres()]) {
    const store = await openStore(address);
    await store.insert([newLink("a")]);
    await store.add(unreadableSlice(["a"], { createdMs: NOW, day }));
    for (const slice of slicesOf({ hour: 24 * day, visits: [{ code: "b", createdMs: NOW }] }))
      await store.add(slice);
    await store.close();
    const again = sqlite(join(folder.path, `${address.engine}.db`));
    expect(await importTo(again, await exportOf(address))).toBeTrue();
    const copy = await openStore(again);
    expect(await copy.daySums("a" as LinkKey, NOW, day, day)).toEqual([{ day, visits: 5, bots: 2 }]);
    expect(await copy.daySums("b" as LinkKey, NOW, day, day)).toEqual([{ day, visits: 1, bots: 0 }]);
    await copy.close();
  }
});

test("visits of several sources add up over repeated exports and imports", async () => {
  using folder = temporaryFolder();
  const [first, last] = [sqlite(join(folder.path, "first")), sqlite(join(folder.path, "last"))];
  const middle = await newPostgres();
  const today = Math.floor(NOW / DAY_MS);
  async function count(address: DatabaseAddress, ...sources: readonly string[]): Promise<void> {
    const store = await openStore(address);
    await store.insert([newLink("a"), newLink("b")]);
    for (const [visitor, source] of sources.entries()) {
      const visits = ["a", "b"].map((code) => ({ code, createdMs: NOW, visitor }));
      for (const slice of slicesOf({ source, hour: 24 * today, visits })) await store.add(slice);
    }
    await store.close();
  }
  await count(first, "one");
  await importTo(middle, await exportOf(first));
  await count(middle, "two", "three");
  await importTo(last, await exportOf(middle));
  await count(last, "four");
  const store = await openStore(last);
  expect(await store.sums("b" as LinkKey, NOW)).toEqual({ visits: 4, bots: 0 });
  expect((await store.days("a" as LinkKey, NOW, today, today)).map(({ visits }) => visits)).toEqual([4]);
  await store.close();
});

/** Lists a folder without the logs of stores. */
function filesIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => !/-(wal|shm)$/.test(name))
    .toSorted();
}

describe("curt export and curt import", () => {
  test("move a store to PostgreSQL and back unchanged, where its links redirect, and never overwrite a file", async () => {
    using folder = temporaryFolder();
    const path = (name: string) => join(folder.path, name);
    await createServedStore(path("first.db"));
    const [first, last] = [`sqlite:${path("first.db")}`, `sqlite:${path("last.db")}`];
    const middle = await server.url(`export${++databases}`);
    const settings = (url: string) => ({ DATABASE_URL: url, DATA_DIR: folder.path, PORT: "1" });

    const exported = await run(["export", path("one")], settings(first));
    expect(exported).toMatchObject({
      code: 0,
      stdout: "",
      stderr:
        "exported 11 links, 5 days of visits, 1 secret, 1 host rule, 8 journal entries, 8 replaced values, 2 cases, 6 counters, 1 keyed request\n",
    });
    expect(statSync(path("one")).mode & 0o777).toBe(0o600);
    const again = await run(["export", path("one")], settings(first));
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("already exists")]);

    const imported = await run(["import", "--new", path("one")], settings(middle));
    expect([imported.code, imported.stderr]).toEqual([0, ""]);
    expect(imported.stdout).toContain(
      "has everything from the export: 11 links, 5 days of visits, 1 secret, 1 host rule, 8 journal entries, 8 replaced values, 2 cases, 6 counters, 1 keyed request",
    );
    const second = await run(["export", "-"], settings(middle));
    expect(second.stdout).toBe(readFileSync(path("one"), "utf8"));
    expect(await run(["import", "--new", "-"], settings(last), second.stdout)).toMatchObject({ code: 0 });
    expect((await run(["export", "-"], settings(last))).stdout).toBe(second.stdout);

    await using curt = await startService({ DATABASE_URL: middle });
    const followed = await curt.fetch("/plain");
    expect([followed.status, followed.headers.get("location")]).toEqual([302, "https://example.com/plain"]);
    expect((await curt.fetch("/bad")).status).toBe(410);
    expect((await curt.fetch("/gone")).status).toBe(410);
    // Imported decisions can be undone, and are older than the next one.
    await using store = await openStoreOf(curt);
    const decision = { who: "api", atMs: Date.now() } as const;
    const [unblocked] = await store.decisions({ host: "한.example", limit: 1 });
    expect(await store.undo(unblocked?.entry ?? 0, decision)).toMatchObject({ changed: 1, entry: 9 });
    expect((await store.hosts("", 9)).map(({ host }) => host)).toEqual(["evil.example", "한.example"]);
  });

  test("write readable lines without hashes of visitors or reporters", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "curt.db");
    await createServedStore(path);
    const lines = (await exportOf(sqlite(path))).toString().trimEnd().split("\n");
    const parsed = lines.map((line) => JSON.parse(line));
    expect(parsed[0]).toEqual({ format: "curt-export", version: 1, code_case: "match" });
    expect(parsed.find(({ code }) => code === "other")).toEqual({
      kind: "link",
      code: "other",
      target: "HTTP://Example.com/ü",
      location: "http://example.com/%C3%BC",
      created_at: "2026-11-21T00:00:00.000Z",
      starts_at: "2026-11-21T00:00:00.000Z",
      max_visits: 2,
      visits_used: 1,
      password_hash: HASH,
      created_by: "mina@example.com",
    });
    // In the store, today's visitors are hashes.
    expect(parsed.findLast(({ kind, code }) => kind === "day" && code === "plain")).toEqual({
      kind: "day",
      code: "plain",
      created_at: new Date(NOW - 1000).toISOString(),
      day: "2026-11-21",
      visits: 2,
      bots: 0,
      hours: { 1: [1, 0], 2: [1, 0] },
      visitors: 2,
      values: {
        referrers: [["", 2]],
        countries: [["KR", 2]],
        browsers: [["Chrome", 2]],
        operating_systems: [["Windows", 2]],
        devices: [["desktop", 2]],
        languages: [["ko", 2]],
      },
    });
    expect(lines.some((line) => line.includes("salt") || line.includes("reporter"))).toBeFalse();
    expect(parsed.at(-1)).toMatchObject({ kind: "end", records: { link: 11, day: 5 } });
    const before = lines.slice(0, -1).map((line) => `${line}\n`);
    expect(parsed.at(-1).sha256).toBe(new Bun.CryptoHasher("sha256").update(before.join("")).digest("hex"));
  });

  test("export a store in use, and say that visits outside the store are missing", async () => {
    await using curt = await startService();
    for (let nth = 0; nth < 20; nth++)
      await curt.shorten({ original_url: `https://example.com/${nth}`, custom_code: `code-${nth}` });
    const { code, stdout, stderr } = await run(["export", "-"], {
      DATABASE_URL: curt.databaseUrl,
      PORT: "1",
    });
    expect(code).toBe(0);
    if (curt.file !== "") expect(stderr).toContain("Visits that are not in the store yet are not exported.");
    for (let nth = 0; nth < 20; nth++) expect(stdout).toContain(`"code":"code-${nth}"`);
  });

  testOnLinux("report why a file can't be written, and leave no part of it", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "curt.db");
    await createLargeStore(path, 20_000);
    const settings = { DATABASE_URL: `sqlite:${path}`, PORT: "1" };
    const link = join(folder.path, "link");
    symlinkSync("nowhere", link);
    for (const [to, why] of [
      [link, "already exists"],
      ["", "The name of the file is empty."],
      ["/dev/full", "already exists"],
    ] as const)
      expect(await run(["export", to], settings)).toMatchObject({
        code: 1,
        stderr: `curt: ${why.endsWith(".") ? why : `${to} ${why}, and is never overwritten. Name another file.`}\n`,
      });
    const file = join(folder.path, "export");
    const full = await runWithRoom(1024 * 1024, ["export", file], settings);
    expect(full).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^curt: .*export could not be created: it is larger than a file may be here.*\n$/,
      ),
    });
    const command = [process.execPath, PROGRAM, "export", "-"];
    for (const [reader, reason] of [
      ["> /dev/full", "the disk is full"],
      ["| head -c 1", "nobody reads it any more"],
    ]) {
      const shell = Bun.spawn(["/bin/sh", "-c", `"$0" "$@" ${reader}`, ...command], {
        env: { ...process.env, ...settings },
        stderr: "pipe",
      });
      const stderr = await shell.stderr.text();
      expect(stderr).toMatch(new RegExp(`^curt: standard output is not complete: ${reason}.\n$`));
    }
    expect(filesIn(folder.path)).toEqual(["curt.db", "link"]);
  });

  test("let one of three simultaneous exports create the file, and complete it", async () => {
    using folder = temporaryFolder();
    const [path, file] = [join(folder.path, "curt.db"), join(folder.path, "export")];
    await createLargeStore(path, 20_000);
    const settings = { DATABASE_URL: `sqlite:${path}`, PORT: "1" };
    const both = await Promise.all([1, 2, 3].map(() => runAlone(["export", file], settings)));
    expect(both.filter(({ code }) => code === 0)).toHaveLength(1);
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ kind: "end", records: { link: 20_000 } });
    expect(filesIn(folder.path)).toEqual(["curt.db", "export"]);
  });
});
