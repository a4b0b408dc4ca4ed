import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { linkSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { DatabaseAddress } from "../../src/config/database-url.ts";
import { hasStore, openStore } from "../../src/store/open.ts";
import { sharePostgres } from "../support/postgres.ts";
import { startService, temporaryFolder, PROGRAM } from "../support/service.ts";
import { runCommand } from "./commands.ts";
import { ended, HEAD, linkLine, manyLines } from "./export-file.ts";
import { run, runAlone } from "./run.ts";

const server = await sharePostgres();
let databases = 0;

const sqlite = (path: string): DatabaseAddress => ({ engine: "sqlite", path });
const settingsFor = (path: string) => ({ DATABASE_URL: `sqlite:${path}`, PORT: "1" });

describe("curt import", () => {
  test("refuses an export with missing or repeated lines, and reports them with --skip-bad", async () => {
    using folder = temporaryFolder();
    const [a, b] = [linkLine("a"), linkLine("b")];
    for (const [name, file, why] of [
      [
        "missing",
        ended([HEAD, a], { link: 2 }),
        "line 3: lines of the kind link: it counts 2, and there are 1",
      ],
      [
        "twice",
        ended([HEAD, a, b, a], { link: 3 }),
        "line 5: lines of the kind link that repeat another one: 1",
      ],
    ] as const) {
      const path = join(folder.path, name);
      writeFileSync(path, file);
      for (const database of [`sqlite:${path}.db`, await server.url(`import_${++databases}`)]) {
        const settings = { ...settingsFor(path), DATABASE_URL: database };
        const refused = await runCommand(["import", "--new", path], settings);
        expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(`is broken at ${why}`) });
        const taken = await runCommand(["import", "--new", "--skip-bad", path], settings);
        expect(taken).toMatchObject({ code: 0, stdout: expect.stringContaining("left out, 1: the line is") });
      }
    }
  });

  test("skips an overlong line as one line with --skip-bad", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "export");
    for (const end of [`${linkLine("a")}\n{kind}\n`, ""]) {
      writeFileSync(file, `${HEAD}\n{"kind":"${"x".repeat(9_500_000)}"}\n${end}`);
      const { code, stdout } = await run(
        ["import", "--new", "--skip-bad", file],
        settingsFor(`${file}${end.length}.db`),
      );
      const [too, ...rest] = end === "" ? [2, 3] : [2, 4, 5];
      expect(stdout).toContain(
        `it is no JSON object\n  line ${too}\n${end === "" ? "" : `  line ${rest[0]}\n`}`,
      );
      expect(stdout).toContain(`its last line is missing\n  line ${rest.at(-1)}\n`);
      expect([code, stdout]).toEqual([0, expect.stringContaining(end === "" ? " 0 links" : " 1 link, ")]);
    }
  });

  test("skips links to its own service and continues with the next line", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "export");
    const own = linkLine("own", "https://curt.example/a");
    writeFileSync(file, ended([HEAD, linkLine("a"), own, linkLine("b")], { link: 3 }));
    const settings = { ...settingsFor(join(folder.path, "curt.db")), BASE_URL: "https://curt.example" };
    const skipped = "left out, 1: URL: It is an address of this service.\n  line 3: own\n";
    for (const [option, has] of [
      ["--dry-run", "would have"],
      ["--skip-bad", "has"],
    ] as const) {
      const { code, stdout, stderr } = await runCommand(["import", "--new", option, file], settings);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).toContain(` ${has} everything else from the export: 2 links, 0 days of visits, `);
      expect(stdout).toContain(skipped);
    }
    expect((await runCommand(["export", "-"], settings)).stdout).not.toContain("curt.example");
  });

  test("reports with --dry-run what it would import, and writes nothing", async () => {
    using folder = temporaryFolder();
    const [path, file] = [join(folder.path, "curt.db"), join(folder.path, "export")];
    writeFileSync(file, manyLines(1));
    const would =
      " would have everything from the export: 1 link, 1 day of visits, 0 secrets, 0 host rules, 9 ";
    const tried = await runCommand(["import", "--dry-run", "--new", file], settingsFor(path));
    expect(tried).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining(would) });
    expect(await hasStore(sqlite(path))).toBe(false);
    await (await openStore(sqlite(path))).close();
    expect((await runCommand(["import", "--dry-run", file], settingsFor(path))).stdout).toContain(would);
    expect((await runCommand(["export", "-"], settingsFor(path))).stdout).not.toContain("example.com");
    writeFileSync(file, manyLines(1).slice(0, -300));
    expect(await runCommand(["import", "--dry-run", file], settingsFor(path))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("Nothing was imported."),
    });
  });

  test("imports unusual codes of an export into a store in use, except reserved ones", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "export");
    await using curt = await startService();
    await curt.shorten({ original_url: "https://example.org/", custom_code: "mine" });
    writeFileSync(file, ended([HEAD, linkLine("a!b"), linkLine("api")], { link: 2 }));
    const settings = { DATABASE_URL: curt.databaseUrl, DATA_DIR: folder.path, PORT: "1" };
    const { stdout } = await runCommand(["import", file], settings);
    expect(stdout).toContain('left out, 1: code: "api" is reserved');
    expect(stdout).toContain("1 of 2 links added");
    expect((await curt.fetch("/a!b")).headers.get("location")).toBe("https://example.com/");
  });
});

describe("curt import of files", () => {
  const OVERWRITES = "--report would overwrite an input file or the store.";
  let folder: ReturnType<typeof temporaryFolder>;
  const path = (name: string) => join(folder.path, name);
  /** Splits a command line, with names in braces as paths in the folder. */
  const argsOf = (line: string) =>
    line.split(" ").map((word) => word.replace(/\{(.+)\}/, (_, name) => path(name)));
  const settings = () => settingsFor(path(`${++databases}.db`));
  const refusal = (message: string) => ({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(new RegExp(`^curt: .*${RegExp.escape(message)}[^\\n]*\\n$`)),
  });

  beforeAll(() => {
    folder = temporaryFolder();
    writeFileSync(path("packed"), Bun.gzipSync(manyLines(1)));
    writeFileSync(path("csv"), "code,target\na,https://example.com/\n");
    symlinkSync("csv", path("symbolic"));
    linkSync(path("csv"), path("hard"));
    writeFileSync(path("endless"), `{"${"x".repeat(5_000_000)}`);
  });
  afterAll(() => folder[Symbol.dispose]());

  test("never write a report over the store", async () => {
    const given = settings();
    const store = given.DATABASE_URL.replace("sqlite:", "");
    expect((await runCommand(["import", "--new", path("csv")], given)).code).toBe(0);
    const report = await runCommand(["import", "--new", "--report", store, path("csv")], given);
    expect(report).toEqual(refusal(OVERWRITES) as never);
    const { stdout } = await runCommand(["import", "--new", path("csv")], given);
    expect(stdout).toContain("0 of 1 links added, with 0 visits; 1 already there");
  });

  test.each([
    ["an endless line of JSON", "{endless}", "endless is no file of curt export: its first line must say"],
    ["an endless file", "/dev/zero", "/dev/zero is broken at line 1: its row has more than 1 MiB"],
    ["a compressed file", "{packed}", "packed is compressed. Unpack it with gunzip."],
    ["missing visits", "--visits {none} {csv}", "none does not exist."],
    ["compressed visits", "--visits {packed} {csv}", "packed is compressed. Unpack it with gunzip."],
    ["visits without days", "--visits {csv} {csv}", "csv has no column day."],
    ["a report in place of its input", "--report {csv} {csv}", OVERWRITES],
    ["a report behind a symbolic link to its input", "--report {symbolic} {csv}", OVERWRITES],
    ["a report behind a hard link to its input", "--report {hard} {csv}", OVERWRITES],
    ["a report in place of its visits", "--report {hard} --visits {csv} {endless}", OVERWRITES],
  ])("refuses %s", async (_, line, message) => {
    expect(await runCommand(["import", "--new", ...argsOf(line)], settings())).toMatchObject(
      refusal(message),
    );
    expect(readFileSync(path("csv"), "utf8")).toContain("example.com");
  });

  test("refuses a report in place of standard input", async () => {
    const child = Bun.spawn([process.execPath, PROGRAM, "import", "--new", ...argsOf("--report {hard} -")], {
      env: { ...process.env, ...settings() },
      stdin: Bun.file(path("csv")),
      stderr: "pipe",
    });
    expect(await child.stderr.text()).toContain(OVERWRITES);
    expect(readFileSync(path("csv"), "utf8")).toContain("example.com");
  });

  // In processes of their own: thrown errors and TMPDIR concern the whole process.
  test("reports a file that it can't write", async () => {
    const report = await runAlone(["import", "--new", ...argsOf("--report {no/report} {csv}")], settings());
    expect(report).toMatchObject(refusal("no/report could not be written: ENOENT"));
    const more = { ...settings(), TMPDIR: path("no") };
    expect(await runAlone(["import", "--new", path("csv")], more)).toMatchObject(
      refusal(`The temporary file in ${path("no")} could not be written: ENOENT`),
    );
  });

  test("leaves no temporary file, even in the middle of an import", async () => {
    const child = Bun.spawn([process.execPath, PROGRAM, "import", "--new", "-"], {
      env: { ...process.env, ...settings(), TMPDIR: path("."), LC_ALL: "C" },
      stdin: "pipe",
      stdout: "pipe",
    });
    for (let nth = 0; nth < 20_000; nth++)
      void child.stdin.write(nth === 0 ? "code,target\n" : `c${nth},https://example.com/\n`);
    await child.stdin.flush();
    expect(readdirSync(folder.path).filter((name) => name.startsWith("curt-import"))).toEqual([]);
    await child.stdin.end();
    expect(await child.stdout.text()).toContain("19,999 of 19,999 links added");
  });
});
