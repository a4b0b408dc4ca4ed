import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { openLookup } from "../../src/cli/import.ts";
import type { DatabaseAddress } from "../../src/config/database-url.ts";
import type { LinkKey } from "../../src/links/code.ts";
import { NEVER_MS, DAY_MS } from "../../src/links/time.ts";
import { fillStore, openImporter, openStore } from "../../src/store/open.ts";
import { fillFrom } from "../../src/transfer/export-file.ts";
import type { ImportItem, LinkItem } from "../../src/transfer/import-items.ts";
import { importLinks, type ImportOptions, type SkippedRow } from "../../src/transfer/import-links.ts";
import { resultOf, startWithRoom } from "../backup/interruptions.ts";
import { newLink, NOW } from "../stores/links.ts";
import { HASH, createServedStore } from "../stores/served-store.ts";
import { testOnLinux } from "../support/linux.ts";
import { sharePostgres } from "../support/postgres.ts";
import { openStoreOf, ROOT, startProgram, startService, temporaryFolder } from "../support/service.ts";
import { writeSegment } from "../visits/segments.ts";
import { slicesOf } from "../visits/slices.ts";
import { runCommand } from "./commands.ts";
import { manyLines } from "./export-file.ts";
import { run, runInTerminal } from "./run.ts";

const server = await sharePostgres();
let databases = 0;

const TODAY = Math.floor(NOW / DAY_MS);
const sqlite = (path: string): DatabaseAddress => ({ engine: "sqlite", path });
const settingsFor = (path: string) => ({ DATABASE_URL: `sqlite:${path}`, PORT: "1" });

const WHOLE = manyLines(5);
const LINES = WHOLE.trimEnd().split("\n");
const CUT = WHOLE.slice(0, -313);
const LINK_4 = /\{"kind":"link","code":"c4".*/;
const NOW_TEXT = new Date(NOW).toISOString();
const CASE = {
  kind: "case",
  code: "c4",
  created_at: NOW_TEXT,
  first: NOW_TEXT,
  last: NOW_TEXT,
  reasons: {},
  pending: 1,
  notes: [],
  reports: 2 ** 31,
};
const NO_CODE = "code must be a code";
const NO_HASH = "password_hash must be an Argon2id hash";
const NO_INSTANT = "created_at must be an instant from 1970 to 9999";
const NO_ASCII = "target, or location if there is one, must be an address in ASCII";

const replaced = (old: string | RegExp, by: string) => WHOLE.replace(old, () => by);
const createdAt = (at: string) => WHOLE.replace(/("c3".*"created_at":)"[^"]*"/, `$1"${at}"`);
const hashed = (hash: string) => replaced('"code":"c4"', `"code":"c4","password_hash":"${hash}"`);
const withTarget = (fields: string) => replaced('"target":"https://example.com/4"', fields);
const replacedLink = (record: object) => replaced(LINK_4, JSON.stringify(record));

/** Exports with a fault, the number of the line, and the start of its description. */
const BROKEN: readonly (readonly [fault: string, file: string, line: number, why: string])[] = [
  ["text that isn't JSON", replaced('{"kind":"link","code":"c1"', "{kind"), 3, "it is no JSON object"],
  ["a field of another type", replaced('"code":"c2"', '"code":7'), 4, "code must be a text"],
  ["a date that doesn't exist", createdAt("2026-02-30"), 5, "created_at must be an instant"],
  ["a date that is too late", createdAt("+275760-09-13T00:00:00.000Z"), 5, NO_INSTANT],
  ["a date that is too early", createdAt("-000001-01-01T00:00:00.000Z"), 5, NO_INSTANT],
  ["a script as target", withTarget('"target":"javascript:alert(4)"'), 6, "target must start with http"],
  [
    "a line break in a location",
    withTarget('"target":"http://a/","location":"http://a/\\r\\nX: y"'),
    6,
    NO_ASCII,
  ],
  ["a decomposed code", replaced('"c4"', JSON.stringify("한".normalize("NFD"))), 6, NO_CODE],
  ["an empty code", replaced('"c4"', '""'), 6, NO_CODE],
  [
    "a code that was written otherwise",
    replaced('"c4"', '"c4","code_written":"D4"'),
    6,
    "code_written must be the code in other capitals",
  ],
  [
    "an empty secret",
    replacedLink({ kind: "secret", name: "links", base64: "" }),
    6,
    "base64 must be bytes in Base64",
  ],
  ["too many reports", replacedLink(CASE), 6, "reports must be at most 2147483647"],
  ["a hash with other memory", hashed(HASH.replace("m=19456", "m=19457")), 6, NO_HASH],
  ["a hash with other time", hashed(HASH.replace("t=2", "t=3")), 6, NO_HASH],
  ["a bcrypt hash", hashed("$2b$31$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy"), 6, NO_HASH],
  ["an empty hash", hashed("$argon2id$"), 6, NO_HASH],
  [
    "a name with a space",
    replaced('"code":"c4"', '"code":"c4","created_by":"mina kim"'),
    6,
    "created_by must be 1 to 64 letters",
  ],
  ...["mina\\nkim", "", "m".repeat(65), "ジュン"].map(
    (name) =>
      [
        `an owner who can't be one ("${name}")`,
        replaced('"code":"c4"', `"code":"c4","owner":"${name}"`),
        6,
        "owner must be 1 to 64 letters",
      ] as const,
  ),
  [
    "more hand-overs than can be counted",
    replaced('"code":"c4"', '"code":"c4","key_generation":9007199254740991'),
    6,
    "key_generation must be at most",
  ],
  ...(
    [
      ["title", "Two\nlines", "value must be a valid title"],
      ["max_visits", "0", "value must be a valid max_visits"],
      ["target", "javascript:alert(1)", "value must start with http"],
      ["password", "open sesame", "of must be"],
    ] as const
  ).map(
    ([of, value, why]) =>
      [
        `a ${of} that could come back`,
        replacedLink({
          kind: "replaced",
          entry: 1,
          of,
          name: "c4",
          created_at: "2026-11-21T00:00:00.000Z",
          value,
        }),
        6,
        why,
      ] as const,
  ),
  [
    "the day 1970-01-01",
    replaced('"2026-11-20"', '"1970-01-01"'),
    7,
    "day must be null or a day from 1970-01-02 on",
  ],
  ["a future day", replaced('"2026-11-20"', '"2026-11-22"'), 7, "day must not be in the future"],
  [
    "half a character",
    replaced('"visitors":0', '"visitors":0,"values":{"countries":[["\\ud800",1]]}'),
    7,
    "values.countries must be",
  ],
  ["an unknown kind", replaced('"kind":"day"', '"kind":"dog"'), 7, "kind must be link, day, "],
  ["a missing last line", LINES.slice(0, -1).join("\n"), LINES.length, "the file was cut off"],
  ["a cut line", CUT, CUT.split("\n").length, "it is no JSON object"],
  [
    "a changed line",
    replaced("example.com/3", "example.org/3"),
    LINES.length,
    "the lines before it were changed",
  ],
  ["a line after the last one", `${WHOLE}${LINES[1]}\n`, LINES.length + 1, "it comes after the last line"],
];

test.each(BROKEN)("an import reports %s by the number of its line", async (_, file, line, why) => {
  using folder = temporaryFolder();
  const faults: (readonly [line: number, why: string])[] = [];
  const onBroken = (...broken: readonly [number, string]) => void faults.push(broken);
  async function* bytes() {
    yield Buffer.from(file);
  }
  await fillStore(sqlite(join(folder.path, "curt.db")), "match", (write) =>
    fillFrom(bytes(), write, { onBroken, lastDay: TODAY, skipLink: () => false, onRecords() {} }),
  );
  expect(faults[0]).toEqual([line, expect.stringContaining(why)]);
});

describe("curt import", () => {
  /** The command reports every fault in the same way, so a few are enough. */
  const REPORTED = ["text that isn't JSON", "a line break in a location", "a missing last line"];
  test.each(BROKEN.filter(([fault]) => REPORTED.includes(fault)))(
    "refuses %s, and skips it with --skip-bad",
    async (_, file, line, why) => {
      using folder = temporaryFolder();
      const path = join(folder.path, "export");
      writeFileSync(path, file);
      const settings = settingsFor(join(folder.path, "curt.db"));
      const refused = await runCommand(["import", "--new", path], settings);
      expect(refused.code).toBe(1);
      expect(refused.stderr).toContain(`is broken at line ${line}: ${why}`);
      expect(readdirSync(folder.path)).toEqual(["export"]);
      const skipped = await runCommand(["import", "--new", "--skip-bad", path], settings);
      expect(skipped.code).toBe(0);
      expect(skipped.stdout).toContain(`line ${line}\n`);
      expect(skipped.stdout).toContain("has everything else from the export: ");
    },
  );

  test("removes the store that it created if it adds nothing, but not one that it found", async () => {
    using folder = temporaryFolder();
    const [file, path] = [join(folder.path, "links.csv"), join(folder.path, "curt.db")];
    const refuse = () => run(["import", "--new", file], settingsFor(path));
    writeFileSync(file, 'code,target\na,"https://example.com/\n');
    expect(await refuse()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("its quotes are wrong"),
    });
    expect(readdirSync(folder.path)).toEqual(["links.csv"]);
    await (await openStore(sqlite(path))).close();
    expect(await refuse()).toMatchObject({ code: 1 });
    expect(readdirSync(folder.path).toSorted()).toEqual(["curt.db", "links.csv"]);
  });

  test("refuses folders and missing, foreign, newer, empty and broken files, and leaves the store empty", async () => {
    using folder = temporaryFolder();
    const write = (name: string, text: string) => {
      writeFileSync(join(folder.path, name), text);
      return join(folder.path, name);
    };
    const depth = 1_000_000;
    const brackets = `${"[".repeat(depth)}${"]".repeat(depth)}`;
    const deep = write("deep", `{"format":"curt-export","version":${brackets}}\n`);
    const newer = write("newer", '{"format":"curt-export","version":2}\n');
    const unknown = write("unknown", '{"format":"curt-export","version":1,"code_case":"fold"}\n');
    const empty = write("empty", "");
    const broken = write("broken", manyLines(200).replace('{"kind":"link","code":"c98"', "{kind"));
    const whole = write("whole", manyLines(200));
    const path = join(folder.path, "curt.db");
    const url = await server.url(`import_${++databases}`);
    const refuse = async (
      line: readonly string[],
      settings: Readonly<Record<string, string>>,
      message: string,
    ) =>
      expect(await runCommand(["import", "--new", ...line], settings)).toMatchObject({
        code: 1,
        stdout: "",
        stderr: expect.stringContaining(message),
      });
    for (const database of [sqlite(path), await server.address(`import_${databases}`)])
      await (await openStore(database)).close();
    for (const settings of [settingsFor(path), { ...settingsFor(path), DATABASE_URL: url }]) {
      for (const [line, message] of [
        [[folder.path], "is a folder."],
        [[join(folder.path, "none")], "none does not exist."],
        [["--domain", "go.example", newer], "--domain and --visits are for files of other shorteners."],
        [[join(ROOT, "package.json")], "package.json is no file of curt export: its first line must say"],
        [[unknown], "unknown has an unknown code_case in its first line. Use a newer Curt."],
        [[newer], "newer is of version 2, and this Curt reads version 1. Use a newer Curt."],
        [[deep], "deep is of an unknown version, and this Curt reads version 1."],
        [[empty], "empty is empty, or starts with an empty line."],
        [[broken], "broken is broken at line 100: it is no JSON object."],
      ] as const)
        await refuse(line, settings, message);
      expect(await runCommand(["check"], settings)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining("0 links"),
      });
      expect(await runCommand(["import", "--new", whole], settings)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(
          "has everything from the export: 200 links, 200 days of visits, 0 secrets, 0 host rules, 9 journal entries",
        ),
      });
    }
  });

  test("adds links with their visits to a store in use, where they redirect immediately, and adds nothing the second time", async () => {
    using folder = temporaryFolder();
    const [path, file] = [join(folder.path, "from.db"), join(folder.path, "export")];
    await createServedStore(path);
    expect(await runCommand(["export", file], settingsFor(path))).toMatchObject({ code: 0 });
    await using curt = await startService({}, { startMs: NOW + DAY_MS });
    const taken = { original_url: "https://example.org/mine", custom_code: "ends" };
    expect((await curt.shorten(taken)).status).toBe(201);
    expect((await curt.fetch("/plain")).status).toBe(404);
    const settings = { DATABASE_URL: curt.databaseUrl, DATA_DIR: folder.path, PORT: "1" };

    const tried = await runCommand(["import", "--dry-run", file], settings);
    expect(tried.stdout).toContain(
      "10 of 11 links would be added, with 7 visits; 0 already there; 1 row would be left out",
    );
    expect((await curt.fetch("/plain")).status).toBe(404);

    const imported = await runCommand(["import", "--new", file], settings);
    expect(imported.stdout).toContain("left out, 1: another link has the code already\n  line 5: ends\n");
    expect(imported.stdout).toContain("10 of 11 links added, with 7 visits; 0 already there; 1 row left out");
    expect(imported.stderr).toContain(
      "Left out: 1 secret, 1 host rule, 8 journal entries, 8 replaced values, 2 cases, 6 counters, 1 keyed request.",
    );
    expect((await curt.fetch("/plain")).headers.get("location")).toBe("https://example.com/plain");
    expect((await curt.fetch("/ends")).headers.get("location")).toBe("https://example.org/mine");
    expect((await curt.fetch("/bad")).status).toBe(410);

    const again = await runCommand(["import", "--new", file], settings);
    expect(again.stdout).toContain("0 of 11 links added, with 0 visits; 10 already there; 1 row left out");
    await using store = await openStoreOf(curt);
    const { createdMs } = (await store.find("plain" as LinkKey)) ?? newLink("plain");
    const sums = () => store.sums("plain" as LinkKey, createdMs);
    // The request above counts a moment later.
    while ((await sums())?.bots === 0) await Bun.sleep(10);
    expect(await sums()).toEqual({ visits: 5, bots: 1 });
  });

  test("fills a store whose first service was killed, with the secret and all other records", async () => {
    using folder = temporaryFolder();
    const [path, file] = [join(folder.path, "from.db"), join(folder.path, "export")];
    await createServedStore(path);
    await runCommand(["export", file], settingsFor(path));
    const settings = { DATABASE_URL: `sqlite:${join(folder.path, "curt.db")}`, DATA_DIR: folder.path };
    {
      await using killed = await startProgram(settings, { folder: folder.path });
      await killed.fetch("/");
      killed.kill("SIGKILL");
      await killed.exited;
    }
    const { code, stdout } = await runCommand(["import", "--new", file], settings);
    expect([code, stdout]).toEqual([0, expect.stringContaining("1 secret, 1 host rule, 8 journal entries,")]);
  });

  test("refuses to fill a store beside the visits of another one", async () => {
    using folder = temporaryFolder();
    const [path, file] = [join(folder.path, "from.db"), join(folder.path, "export")];
    await createServedStore(path);
    await runCommand(["export", file], settingsFor(path));
    const settings = settingsFor(join(folder.path, "curt.db"));
    mkdirSync(join(folder.path, "curt.db-visits"));
    const visits = [{ code: "gone" }] as const;
    await writeSegment({ folder: join(folder.path, "curt.db-visits"), hour: 1, visits });
    const refused = await runCommand(["import", "--new", file], settings);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining("has visits of another store"),
    ]);
  });

  testOnLinux("says how many links stay after the disk became full", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "links.csv");
    // In no order, so that the log of the store becomes larger than the temporary file.
    const codes = Array.from({ length: 40_000 }, (_, nth) => Bun.hash(`${nth}`).toString(36));
    writeFileSync(file, `code,target\n${codes.map((code) => `${code},https://example.com/\n`).join("")}`);
    const settings = settingsFor(join(folder.path, "curt.db"));
    const child = startWithRoom(11_000_000, ["import", "--new", file], { ...settings, TMPDIR: folder.path });
    const { code, stderr } = await resultOf(child);
    const [, links] = /^([\d,]+) links of the file were added and stay\./m.exec(stderr) ?? [];
    expect([code, stderr]).toEqual([1, expect.stringContaining("added and stay")]);
    expect((await runCommand(["check"], settings)).stdout).toContain(`fine (${links} links in `);
  });

  test("shows its progress in a terminal only", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "export");
    writeFileSync(file, manyLines(3000));
    const shown = await runInTerminal(["import", "--new", file], settingsFor(join(folder.path, "one.db")));
    expect(shown.shown).toMatch(/importing: [\d,]+, [\d,]+\/s/);
    const piped = await run(["import", "--new", file], settingsFor(join(folder.path, "two.db")));
    expect(piped).toMatchObject({ code: 0, stderr: "" });
  });
});

const RULES = {
  codeCase: "match" as const,
  targetPolicy: {
    posture: "public",
    ownHosts: ["curt.example"],
    ownPorts: ["443"],
    isShortener: () => false,
  },
  keyPrefixes: ["go.example.com/"],
  keepOdd: false,
  nowMs: NOW,
  firstDay: TODAY - 400,
  lastDay: TODAY,
} as const;

function link(code: string, more: Partial<LinkItem> = {}): LinkItem {
  return {
    kind: "link",
    key: code,
    place: `row ${code}`,
    code,
    originalUrl: "https://example.com/",
    createdMs: 5000,
    ...more,
  };
}

async function* from(items: readonly ImportItem[]) {
  yield* items;
}

/** Imports items like `curt import`. */
async function importItems(
  address: DatabaseAddress,
  items: readonly ImportItem[],
  options: Partial<ImportOptions> & { dry?: boolean } = {},
) {
  const skipped: SkippedRow[] = [];
  const importer = await (options.dry === true ? openLookup : openImporter)(address, "match");
  const outcome = await importLinks(from(items), {
    ...RULES,
    ...options,
    importer,
    onSkipped: (row) => void skipped.push(row),
  });
  await importer.close();
  return { ...outcome, skipped };
}

for (const engine of ["SQLite", "PostgreSQL"] as const)
  describe(`imported links (${engine})`, () => {
    async function newStore(folder: string): Promise<DatabaseAddress> {
      if (engine === "PostgreSQL") return server.address(`import${++databases}`);
      return sqlite(join(folder, `${++databases}.db`));
    }

    test("keep code, dates, terms and visits by day, and a repeated import adds nothing", async () => {
      using folder = temporaryFolder();
      const address = await newStore(folder.path);
      const items: ImportItem[] = [
        { kind: "visits", key: 7, day: TODAY - 3, visits: 2, bots: 1 },
        link("Big", { key: 7, endsMs: NOW + 1, visits: 10, terms: { maxVisits: 50, visits: 10 } }),
        { kind: "visits", key: 7, day: TODAY - 3, visits: 3 },
        { kind: "visits", key: 7, day: TODAY, visits: 1 },
        { kind: "visits", key: "nobody", day: TODAY, visits: 1 },
        link("new", { key: 8, createdMs: undefined, disabled: "spam" }),
        { kind: "skipped", place: "row 9", code: "pass", reason: "it has a password" },
      ];
      const tried = await importItems(address, items, { dry: true });
      expect(await importItems(address, items)).toEqual(tried);
      expect(tried).toEqual({
        links: 2,
        added: 2,
        known: 0,
        visits: 11,
        owned: 0,
        skipped: [{ place: "row 9", code: "pass", why: { rule: "row", reason: "it has a password" } }],
      });
      const store = await openStore(address);
      expect(await store.find("Big" as LinkKey)).toMatchObject({
        createdMs: 5000,
        endsMs: NOW + 1,
        originalUrl: "https://example.com/",
        terms: { maxVisits: 50, visits: 10 },
      });
      expect(await store.find("new" as LinkKey)).toMatchObject({
        createdMs: NOW,
        endsMs: NEVER_MS,
        disabled: "spam",
      });
      expect(await store.sums("Big" as LinkKey, 5000)).toEqual({ visits: 10, bots: 1 });
      const days = await store.daySums("Big" as LinkKey, 5000, TODAY - 9, TODAY);
      expect(days.map(({ day, visits, bots }) => [day, visits, bots])).toEqual([
        [TODAY - 3, 5, 1],
        [TODAY, 1, 0],
      ]);
      // They age like all other visits.
      while ((await store.age({ closeBefore: TODAY, forgetBefore: TODAY - 1 }, 100)) > 0);
      expect(await store.sums("Big" as LinkKey, 5000)).toEqual({ visits: 10, bots: 1 });
      await store.close();
      // Aged visits aren't added again.
      expect(await importItems(address, items)).toMatchObject({ added: 0, known: 2, visits: 0 });
      const after = await openStore(address);
      expect(await after.sums("Big" as LinkKey, 5000)).toEqual({ visits: 10, bots: 1 });
      await after.close();
    });

    test("are added in transactions of at most 1,000 links and days", async () => {
      using folder = temporaryFolder();
      const importer = await openImporter(await newStore(folder.path), "match");
      const sizes: number[] = [];
      const items = Array.from({ length: 12 }, (_, nth): ImportItem[] => [
        link(`many${nth}`),
        ...Array.from({ length: 365 }, (__, age): ImportItem => ({
          kind: "visits",
          key: `many${nth}`,
          day: TODAY - age,
          visits: 1,
        })),
      ]);
      const counted = await importLinks(from(items.flat()), {
        ...RULES,
        importer: {
          add(links) {
            sizes.push(links.reduce((sum, { days }) => sum + 1 + days.length, 0));
            return importer.add(links);
          },
        },
        onSkipped() {},
      });
      await importer.close();
      expect(counted).toEqual({ links: 12, added: 12, known: 0, visits: 12 * 365, owned: 0 });
      expect(sizes).toEqual(Array.from({ length: 6 }, () => 2 * 366));
    });

    test("keep visits before STATS_KEEP only in their sum", async () => {
      using folder = temporaryFolder();
      const address = await newStore(folder.path);
      const days = [1, TODAY - 401, TODAY - 400, TODAY];
      const items = days.map((day): ImportItem => ({ kind: "visits", key: "old", day, visits: 2, bots: 1 }));
      await importItems(address, [link("old", { visits: 11 }), ...items]);
      const store = await openStore(address);
      await using _ = { [Symbol.asyncDispose]: store.close };
      expect(await store.sums("old" as LinkKey, 5000)).toEqual({ visits: 11, bots: 4 });
      const kept = await store.daySums("old" as LinkKey, 5000, 0, TODAY);
      expect(kept.map(({ day, visits }) => [day, visits])).toEqual([
        [TODAY - 400, 2],
        [TODAY, 2],
      ]);
    });

    test("keep their visits once if the store has purged the same link", async () => {
      using folder = temporaryFolder();
      const address = await newStore(folder.path);
      const items: ImportItem[] = [
        link("ended", { endsMs: NOW - DAY_MS }),
        { kind: "visits", key: "ended", day: TODAY - 3, visits: 2 },
      ];
      const store = await openStore(address);
      await store.insert([newLink("ended", { createdMs: 5000, endsMs: NOW - DAY_MS })]);
      const visits = [1, 2].map((visitor) => ({ code: "ended", createdMs: 5000, visitor }));
      for (const slice of slicesOf({ hour: 24 * (TODAY - 3), visits })) await store.add(slice);
      expect(await store.purge(NOW, 100)).toBe(1);
      await store.close();
      expect(await importItems(address, items)).toMatchObject({ added: 1 });
      const after = await openStore(address);
      expect(await after.sums("ended" as LinkKey, 5000)).toEqual({ visits: 2, bots: 0 });
      await after.close();
    });

    test("are skipped if a rule forbids them or another link has the code", async () => {
      using folder = temporaryFolder();
      const address = await newStore(folder.path);
      const store = await openStore(address);
      await store.insert([newLink("taken"), newLink("over", { endsMs: 1, createdMs: 0 })]);
      await store.close();
      const items = [
        link("taken"),
        link("over"),
        link("fine"),
        link("fine", { place: "again" }),
        link("script", { originalUrl: "javascript:alert(1)" }),
        link("own", { originalUrl: "https://curt.example/abc" }),
        link("inside", { originalUrl: "http://10.0.0.1/" }),
        link("a!b"),
        link("livez"),
        link("long".repeat(20)),
        link("never", { createdMs: -1 }),
      ];
      const { skipped, added } = await importItems(address, items);
      expect(added).toBe(1);
      expect(skipped.map(({ place, why }) => [place, why.rule])).toEqual([
        ["again", "conflict.file"],
        ["row script", "target.scheme"],
        ["row own", "target.own"],
        ["row inside", "target.private"],
        ["row a!b", "code.character"],
        ["row livez", "code.reserved"],
        [`row ${"long".repeat(20)}`, "code.too-long"],
        ["row never", "dates"],
        ["row taken", "conflict.store"],
        ["row over", "conflict.store"],
      ]);
      const after = await openStore(address);
      expect(await after.find("taken" as LinkKey)).toMatchObject({
        originalUrl: newLink("taken").originalUrl,
      });
      expect(await after.find("over" as LinkKey)).toMatchObject({ endsMs: 1 });
      await after.close();
    });
  });

test("keepOdd imports unusual codes that an address can reach, and they redirect", async () => {
  await using curt = await startService();
  const odd = [
    "a!b",
    "100%",
    "a b",
    "q?x#y",
    "~me",
    "a:b@c",
    "%41",
    "(한)",
    "a'\"<b>",
    "back\\slash",
    "\u200Bx",
  ];
  const unreachable = ["a/b", "a.b", "a+b", ".", "..", "tab\there"];
  const url = (code: string) => `https://example.com/?${encodeURIComponent(code)}`;
  const items = [...odd, ...unreachable, "api", "LiveZ", ""].map((code) =>
    link(code, { originalUrl: url(code) }),
  );
  const { skipped } = await importItems(curt.database, items, { keepOdd: true });
  expect(skipped.map(({ code, why }) => [code, why.rule])).toEqual([
    ...unreachable.map((code) => [code, "code.unreachable"]),
    ["api", "code.reserved"],
    ["LiveZ", "code.reserved"],
    ["", "code.empty"],
  ]);
  for (const code of odd) {
    for (const path of [`/${encodeURIComponent(code)}`, `/${encodeURIComponent(code)}/`]) {
      // The second time from memory.
      for (const _ of ["store", "memory"]) {
        const answer = await curt.fetch(path, { redirect: "manual" });
        expect([answer.status, answer.headers.get("location")], path).toEqual([302, new URL(url(code)).href]);
      }
    }
  }
});
