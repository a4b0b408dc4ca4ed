import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

import { version } from "../../package.json";
import { type Command, type Commands, readCommandLine, UsageError } from "../../src/cli/command.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { readConfig } from "../../src/config/config.ts";
import { describeStore } from "../../src/config/database-url.ts";
import { SETTINGS } from "../../src/config/settings.ts";
import { startWarnings } from "../../src/config/start-warnings.ts";
import { withFields } from "../../src/lib/log.ts";
import type { Target } from "../../src/links/target.ts";
import { hasStore, identifyStore, openStatements, openStore } from "../../src/store/open.ts";
import { newLink } from "../stores/links.ts";
import { freePort } from "../support/free-port.ts";
import { testOnLinux } from "../support/linux.ts";
import { sharePostgres } from "../support/postgres.ts";
import {
  type Settings,
  startService,
  startProgram,
  temporaryFolder,
  untilLogged,
  PROGRAM,
} from "../support/service.ts";
import { visit } from "../visits/visits.ts";
import { runCommand as run } from "./commands.ts";
import { runInTerminal } from "./run.ts";

const server = await sharePostgres();

function refusalOf(args: readonly string[]): UsageError {
  try {
    readCommandLine(COMMANDS, args);
  } catch (error) {
    if (error instanceof UsageError) return error;
  }
  throw new Error(`${args.join(" ")} is not refused`);
}

const NAMES = Object.keys(COMMANDS).filter((name) => COMMANDS[name]?.isInternal !== true);
const widthOf = (text: string) => Math.max(...text.split("\n").map((line) => Bun.stringWidth(line)));

describe("the command line", () => {
  test("shows its help and its version", async () => {
    expect(await run(["--version"])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
    for (const args of [["--help"], ["help"]]) {
      const { code, stdout } = await run(args);
      expect(code).toBe(0);
      expect(stdout).toStartWith("Usage: curt COMMAND\n\nServe links:\n  serve ");
      expect(stdout).not.toContain("LOG_LEVEL");
      expect(widthOf(stdout)).toBeLessThanOrEqual(80);
    }
  });

  test("explains every setting within 80 columns, or within the width of a terminal", async () => {
    const { code, stdout } = await run(["help", "settings"], { PORT: "x" });
    expect(code).toBe(0);
    const listed = [...stdout.matchAll(/^  ([A-Z_]+) /gm)].map(([, name]) => name);
    expect(listed).toEqual(Object.values(SETTINGS).map(({ name }) => name));
    expect(widthOf(stdout)).toBeLessThanOrEqual(80);
    for (const columns of [60, 120]) {
      const { shown } = await runInTerminal(["help", "settings"], {}, { columns });
      expect(widthOf(shown)).toBeLessThanOrEqual(columns);
      expect(widthOf(shown)).toBeGreaterThan(columns - 10);
      expect(shown.replaceAll(/\s+/g, "")).toBe(stdout.replaceAll(/\s+/g, ""));
    }
  });

  test("explains a command even if the configuration is wrong", async () => {
    for (const flag of ["--help", "-h"]) {
      const { code, stdout, stderr } = await run(["check", flag], { PORT: "x" });
      expect([code, stderr]).toEqual([0, ""]);
      expect(stdout).toMatch(
        /^Usage: curt check\n\nCheck the configuration.*\n\nExample:\n.*\n\nOptions:\n {2}-h, --help /,
      );
      expect((await run(["help", "check"])).stdout).toBe(stdout);
    }
  });

  test.each(["", ...NAMES])("fits the help of `curt %s` into 80 columns and 40 lines", (name) => {
    const help = readCommandLine(COMMANDS, [...name.split(" ").filter(Boolean), "--help"]);
    const lines = "text" in help ? help.text.split("\n") : [];
    expect(lines[0]).toStartWith(`Usage: curt ${name || "COMMAND"}`);
    expect(lines.length).toBeLessThanOrEqual(40);
    expect(widthOf(lines.join("\n"))).toBeLessThanOrEqual(80);
  });

  test("wraps the help of a command at the width of the terminal", async () => {
    const { stdout } = await run(["edit", "--help"]);
    for (const columns of [50, 100]) {
      const { shown } = await runInTerminal(["edit", "--help"], {}, { columns });
      expect(widthOf(shown)).toBeLessThanOrEqual(columns);
      expect(widthOf(shown)).toBeGreaterThan(columns - 10);
      expect(shown.replaceAll(/\s+/g, "")).toBe(stdout.replaceAll(/\s+/g, ""));
    }
  });

  test.each([
    ["", "a command is missing", "COMMAND"],
    ["dance", 'there is no command "dance"', "COMMAND"],
    ["__proto__", 'there is no command "__proto__"', "COMMAND"],
    ["toString", 'there is no command "toString"', "COMMAND"],
    ["dance --help", 'there is no command "dance"', "COMMAND"],
    ["help dance", 'there is no command "dance"', "COMMAND"],
    ["--loud", "Unknown option '--loud'", "COMMAND"],
    ["serve now", 'serve takes no argument "now"', "serve"],
    ["serve --loud", "Unknown option '--loud'", "serve"],
    ["check --help=me", "Option '-h, --help' does not take an argument", "check"],
  ])("refuses `curt %s`: %s", (line, mistake, usage) => {
    const { message, help } = refusalOf(line.split(" ").filter(Boolean));
    expect(message).toBe(mistake);
    expect(help).toStartWith(`Usage: curt ${usage}\n`);
    expect(help).toMatch(/"curt (?:--help|help settings)" lists /);
    expect(help).not.toContain("LOG_LEVEL");
  });

  test("prints a refusal with its help, and exits with 2", async () => {
    for (const args of [[], ["__proto__"], ["serve", "now"]]) {
      // PORT is wrong, so that a command line that is accepted by mistake does not start the server.
      const { code, stdout, stderr } = await run(args, { PORT: "x" });
      const { message, help } = refusalOf(args);
      expect([code, stdout, stderr]).toEqual([2, "", `curt: ${message}\n\n${help}\n`]);
    }
  });

  test("accepts a value that starts with a dash, but no option as a value", () => {
    const optionsOf = (...args: string[]) => {
      const line = readCommandLine(COMMANDS, ["edit", "abc", ...args]);
      return "args" in line ? line.args.options : undefined;
    };
    expect(optionsOf("--key", "-x_9", "--json")).toEqual({ key: "-x_9", json: true });
    expect(optionsOf("--json", "--key=-x")).toEqual({ json: true, key: "-x" });
    expect(refusalOf(["edit", "abc", "--key", "--json"]).message).toBe("edit needs --key KEY");
    expect(refusalOf(["edit", "--", "abc", "--key", "-x"]).message).toContain('takes no argument "--key"');
  });

  test("passes a command the arguments and options that it declares, and refuses others", () => {
    const commands: Commands = {
      tea: {
        group: "More",
        summary: "make tea",
        example: "curt tea green mug",
        positionals: {
          KIND: { meaning: "kind of tea", values: ["green", "black"] },
          CUP: { meaning: "cup to fill" },
        },
        options: {
          minutes: { value: "N", short: "m", meaning: "time to steep" },
          sweet: { meaning: "add sugar" },
          milk: { value: "MILK", values: ["oat", "cow"], meaning: "milk to add" },
        },
        run: () => 0,
      },
    };
    const call = (line: string) => readCommandLine(commands, line.split(" "));
    expect(call("tea green --sweet mug -m 3")).toEqual({
      command: commands["tea"] as Command,
      args: { positionals: ["green", "mug"], options: { sweet: true, minutes: "3" } },
    });
    expect(call("tea --help")).toEqual({
      text: `Usage: curt tea [OPTIONS] KIND CUP

Make tea.

Example:
  curt tea green mug

Arguments:
  KIND  kind of tea: green or black
  CUP   cup to fill

Options:
  -m, --minutes N  time to steep
  --sweet          add sugar
  --milk MILK      milk to add: oat or cow
  -h, --help       show this help

The settings of the server are environment variables, such as DATABASE_URL;
"curt help settings" lists them.`,
    });
    expect(() => call("tea green")).toThrow("tea needs CUP");
    expect(() => call("tea green mug spoon")).toThrow('tea takes no argument "spoon"');
    expect(() => call("tea green mug --minutes")).toThrow("tea needs --minutes N");
    expect(() => call("tea red mug")).toThrow('tea needs KIND to be green or black, not "red"');
    expect(() => call("tea green mug --milk soy")).toThrow(
      'tea needs --milk MILK to be oat or cow, not "soy"',
    );
    expect(() => call("coffee black")).toThrow('there is no command "coffee black"');
  });

  test("creates DATA_DIR and keeps everything there", async () => {
    using folder = temporaryFolder();
    const settings = { DATABASE_URL: "", DATA_DIR: join(folder.path, "local", "curt") };
    await using program = await startProgram(settings);
    await program.shorten({ original_url: "https://example.com/", custom_code: "kept" });
    await visit(program, "kept");
    expect(readdirSync(settings.DATA_DIR).toSorted()).toEqual([
      "curt.db",
      "curt.db-shm",
      "curt.db-visits",
      "curt.db-wal",
    ]);
    expect(readdirSync(join(settings.DATA_DIR, "curt.db-visits"))).not.toBeEmpty();
  });
});

describe("curt serve", () => {
  test.each<[code: number, why: string, settings: (folder: string) => Settings]>([
    [
      1,
      "notes.txt is not a SQLite file, or is damaged. ",
      (at) => ({ DATABASE_URL: `sqlite:${at}/notes.txt` }),
    ],
    [1, "0.lock cannot be locked: file is not a database", (at) => ({ DATA_DIR: `${at}/data` })],
    [
      2,
      "COUNTRY_DATABASE must be a file in MaxMind's format, ",
      (at) => ({ COUNTRY_DATABASE: `${at}/notes.txt` }),
    ],
    [1, "HOST 192.0.2.7, PORT 0: it is not an address of this machine. ", () => ({ HOST: "192.0.2.7" })],
    [1, "METRICS_PORT 0 at 192.0.2.7: it is not an address of ", () => ({ METRICS_PORT: "192.0.2.7:0" })],
    [1, "/dev/null/x/curt.db cannot be used: ", () => ({ DATABASE_URL: "sqlite:/dev/null/x/curt.db" })],
  ])("exits with %i and changes no file if it can't start: %s", async (exitCode, why, settings) => {
    using folder = temporaryFolder();
    const path = join(folder.path, "notes.txt");
    await Bun.write(path, "This is no database. ".repeat(100));
    await Bun.write(join(folder.path, "data/curt.db-visits/0.lock"), "This is no lock. ".repeat(100));
    const { code, stdout, stderr } = await run(["serve"], {
      DATABASE_URL: `sqlite:${folder.path}/curt.db`,
      PORT: "0",
      BASE_URL: "http://localhost",
      ...settings(folder.path),
    });
    expect([code, stdout]).toEqual([exitCode, ""]);
    expect(stderr).toStartWith("curt: ");
    expect(stderr).toContain(why);
    expect(await Bun.file(path).text()).toStartWith("This is no database.");
    for (const name of ["notes.txt-wal", "curt.db-wal"]) expect(readdirSync(folder.path)).not.toContain(name);
  });

  test("reports a port in use", async () => {
    await using other = await startService();
    using folder = temporaryFolder();
    const { port: PORT } = new URL(other.origin);
    const { code, stderr } = await run(["serve"], { PORT, DATABASE_URL: `sqlite:${folder.path}/curt.db` });
    expect(code).toBe(1);
    expect(stderr).toContain(`HOST localhost, PORT ${PORT}: another program uses the port.`);
  });

  testOnLinux("reports a folder that it can't create", async () => {
    using folder = temporaryFolder();
    const settings = {
      DATABASE_URL: `sqlite:${folder.path}/curt.db`,
      PORT: "0",
      BASE_URL: "http://localhost",
    };
    for (const name of ["DATA_DIR", "BACKUP_DIR"])
      expect(await run(["serve"], { ...settings, [name]: "/proc/x" })).toEqual({
        code: 2,
        stdout: "",
        stderr: `curt: ${name} must be a folder that Curt can write to, not /proc/x: no folder can be created there\n`,
      });
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test("refuses a DATA_DIR that is no folder before it creates a store elsewhere", async () => {
    using folder = temporaryFolder();
    const at = (name: string) => join(folder.path, name);
    await Bun.write(at("file"), "");
    symlinkSync(at("gone"), at("link"));
    const settings = { PORT: "0", BASE_URL: "http://localhost", DATABASE_URL: `sqlite:${at("curt.db")}` };
    for (const [name, why] of [
      ["file", "its path has a file where a folder must be"],
      ["link", `${at("link")} is a symbolic link to ${at("gone")}, which does not exist`],
    ] as const)
      expect(await run(["serve"], { ...settings, DATA_DIR: at(name) })).toEqual({
        code: 2,
        stdout: "",
        stderr: `curt: DATA_DIR must be a folder that Curt can write to, not ${at(name)}: ${why}\n`,
      });
    expect(readdirSync(folder.path).toSorted()).toEqual(["file", "link"]);
  });

  test("refuses to start beside a store that DATA_DIR once left in ./data", async () => {
    using folder = temporaryFolder();
    const DATA_DIR = join(folder.path, "links");
    await Bun.write(join(folder.path, "data/curt.db"), "links");
    await Bun.write(join(DATA_DIR, "curt.db-visits/0.lock"), "");
    const start = (settings: Settings) =>
      Bun.spawnSync([process.execPath, PROGRAM, "serve"], {
        cwd: folder.path,
        env: { ...process.env, PORT: "0", BASE_URL: "http://localhost", DATA_DIR, ...settings },
      });
    const { exitCode, stderr } = start({});
    expect([exitCode, stderr.toString()]).toEqual([
      2,
      `curt: DATA_DIR must hold the database, but ${DATA_DIR}/curt.db-visits belongs to data/curt.db: stop Curt and move data/curt.db* to ${DATA_DIR}, or set DATABASE_URL=sqlite:data/curt.db\n`,
    ]);
    expect(start({ DATABASE_URL: "sqlite:data/curt.db" }).stderr.toString()).toContain(
      "data/curt.db is not a SQLite",
    );
    expect(readdirSync(DATA_DIR)).toEqual(["curt.db-visits"]);
  });

  const PRIVILEGED = "/proc/sys/net/ipv4/ip_unprivileged_port_start";
  if (
    Bun.which("setpriv") !== null &&
    existsSync(PRIVILEGED) &&
    Number(readFileSync(PRIVILEGED, "utf8")) > 81
  )
    test("reports a port that its user may not use", async () => {
      const unprivileged = [
        "setpriv",
        "--inh-caps=-all",
        ...(process.getuid?.() === 0 ? ["--bounding-set=-all"] : []),
      ];
      const child = Bun.spawn([...unprivileged, process.execPath, PROGRAM, "serve"], {
        env: { ...process.env, PORT: "81" },
        stderr: "pipe",
      });
      expect(await child.exited).toBe(1);
      expect(await child.stderr.text()).toMatch(
        /^curt: cannot listen on HOST localhost, PORT 81: this user may not use a port below 1024. /,
      );
    });

  test("logs in its first line where it listens and where its data is", async () => {
    using folder = temporaryFolder();
    await using program = await startProgram({}, { folder: folder.path });
    const [line = ""] = program.logged;
    const { level, msg } = JSON.parse(line) as Record<string, string>;
    expect([level, msg]).toEqual([
      "info",
      `Curt ${version} listens on ${program.origin} and creates links at https://curt.example; its data is in ${folder.path}`,
    ]);
  });

  test("logs well-formed JSON lines without queries of targets, and none per redirect", async () => {
    await using program = await startProgram({ LOG_LEVEL: "debug" });
    const original_url = "https://example.com/path/\u202E?token=secret#fragment";
    await program.shorten({ original_url, custom_code: "logged" });
    await program.shorten({
      original_url: 'https://example.com/\n{"level":"fake"}',
      custom_code: "x\u001b[2J",
    });
    await program.shorten({ original_url, custom_code: "before" });
    await untilLogged(program, '"before"');
    const before = program.logged.length;
    for (let nth = 0; nth < 20; nth++) await program.fetch(`/${["logged", "nothing", "%0A%1B[2J"][nth % 3]}`);
    await program.shorten({ original_url, custom_code: "after" });
    await untilLogged(program, '"after"');
    expect(program.logged.slice(before)).toEqual([expect.stringContaining('"after"')]);
    const lines = program.logged.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toContainEqual(
      expect.objectContaining({
        level: "debug",
        code: "logged",
        target: "https://example.com/path/%E2%80%AE",
      }),
    );
    const text = program.logged.join("\n");
    expect(text).not.toMatch(/secret|fragment|fake|\p{Bidi_Control}|(?!\n)\p{Cc}/u);
  });
});

describe("the handler of uncaught exceptions", () => {
  const startWith = async (folder: string, trouble: string) => {
    const preload = join(folder, "trouble.ts");
    writeFileSync(preload, trouble);
    const command = [process.execPath, "--preload", preload, PROGRAM, "serve"];
    const program = await startProgram({}, { command, folder });
    program.expectFaults();
    return program;
  };
  test("ends the program if its writer thread dies, and keeps the journal for the next start", async () => {
    using folder = temporaryFolder();
    await using program = await startWith(
      folder.path,
      // Nothing is folded, so that the visit stays in the journal however long this test takes.
      `const every = setInterval;
       globalThis.setInterval = (job, ms, ...rest) => every(job, 3_600_000, ...rest);
       const Real = Worker;
       globalThis.Worker = function (...given) {
         const worker = new Real(...given);
         process.on("SIGWINCH", () => worker.terminate());
         return worker;
       };`,
    );
    expect(
      (await program.shorten({ original_url: "https://example.com/", custom_code: "kept" })).status,
    ).toBe(201);
    await visit(program, "kept");
    program.kill("SIGWINCH");
    expect(await program.exited).toBe(1);
    expect(program.logged.join()).toContain("A worker thread ended");
    // The segment that was not folded is kept for the next start.
    const journal = readdirSync(`${program.file}-visits`);
    expect(journal.filter((name) => name.endsWith(".visits"))).toHaveLength(1);
    expect(journal.filter((name) => name.endsWith(".damaged"))).toEqual([]);
    expect(await run(["check"], { DATABASE_URL: `sqlite:${program.file}` })).toMatchObject({ code: 0 });
  });

  const troubles = {
    "an uncaught exception": `process.on("SIGWINCH", () => { throw new Error("planted"); });`,
    "an unhandled rejection": `process.on("SIGWINCH", () => void Promise.reject(new Error("planted")));`,
  };
  for (const [what, trouble] of Object.entries(troubles)) {
    test(`logs ${what}, stops in order and exits with 1`, async () => {
      using folder = temporaryFolder();
      await using program = await startWith(folder.path, trouble);
      expect(
        (await program.shorten({ original_url: "https://example.com/", custom_code: "kept" })).status,
      ).toBe(201);
      program.kill("SIGWINCH");
      expect(await program.exited).toBe(1);
      expect(program.logged.join()).toContain('"message":"planted"');
      expect(existsSync(`${program.file}-wal`)).toBeFalse();
      const { code, stdout } = await run(["check"], { DATABASE_URL: `sqlite:${program.file}` });
      expect([code, stdout.includes("1 link")]).toEqual([0, true]);
    });
  }

  test("isn't called when the reader of the log ends", async () => {
    using folder = temporaryFolder();
    const settings = {
      PORT: "0",
      BASE_URL: "https://curt.example",
      DATABASE_URL: `sqlite:${folder.path}/curt.db`,
    };
    // `head` ends after the first line, which breaks the pipe. The exit code is passed around it.
    const command = `exec 3>&1; (sh -c 'echo $$ > pid; exec "$0" "$1" serve' "$0" "$1"; echo "exit $?" >&3) | head -n 1`;
    const child = Bun.spawn(["/bin/sh", "-c", command, process.execPath, PROGRAM], {
      cwd: folder.path,
      env: { ...process.env, ...settings },
      stdout: "pipe",
    });
    const reader = child.stdout.getReader();
    const read = async () => new TextDecoder().decode((await reader.read()).value);
    const [origin = ""] = (await read()).match(/http:\/\/localhost[^ ]+/) ?? [];
    expect((await fetch(`${origin}/livez`)).status).toBe(200);
    process.kill(Number(readFileSync(join(folder.path, "pid"), "utf8")), "SIGTERM");
    expect(await read()).toBe("exit 0\n");
  });
});

describe("the warnings of a start", () => {
  const warningsOf = (settings: Settings) =>
    startWarnings(readConfig(settings)).map(({ text, fields = {} }) => withFields(text, fields));
  const LIMITED = { BASE_URL: "https://curt.example", LIMIT_CREATE: "5/1m", LIMIT_PASSWORDS: "off" };
  const OFF = { LIMIT_CREATE: "off", LIMIT_UNKNOWN: "off", LIMIT_VIEW: "off", LIMIT_REPORT: "off" };

  test.each<[string, Settings]>([
    ["all visitors count as one client", LIMITED],
    ["all visitors count as one client", { ...LIMITED, ...OFF, LIMIT_PASSWORDS: "10/1h" }],
    ["(name: ADMIN_TOKN, meant: ADMIN_TOKEN)", { ADMIN_TOKN: "0123456789abcdef" }],
    ["BASE_URL starts with http://: ", { BASE_URL: "http://go.curt.example" }],
  ])("include %s with %j", (warning, settings) => {
    expect(warningsOf(settings).join("\n")).toInclude(warning);
  });

  test.each<[string, Settings]>([
    ["all visitors count as one client", { ...LIMITED, TRUSTED_PROXIES: "127.0.0.1" }],
    ["all visitors count as one client", { ...LIMITED, POSTURE: "private" }],
    ["all visitors count as one client", { ...LIMITED, ...OFF }],
    ["0123456789abcdef", { ADMIN_TOKN: "0123456789abcdef" }],
    ["misspelt", { BASE_URL: "https://curt.example" }],
    ["BASE_URL starts with http://: ", { BASE_URL: "http://localhost:8080" }],
  ])("don't include %s with %j", (warning, settings) => {
    expect(warningsOf(settings).join("\n")).not.toInclude(warning);
  });

  test("appear once for all processes, and the last line says that the program stopped", async () => {
    const program = await startProgram({ ADMIN_TOKN: "0123456789abcdef", PROCESSES: "2" });
    await program[Symbol.asyncDispose]();
    expect(program.logged.filter((line) => line.includes("misspelt"))).toHaveLength(1);
    expect(program.logged.findLast((line) => line !== "")).toContain('"msg":"stopped"');
  });
});

test("curt serve reports all wrong settings together, and curt check ignores unreadable certificates", async () => {
  const settings = {
    PORT: "x",
    TLS_CERT: "/nowhere/cert.pem",
    TLS_KEY: "/nowhere/key.pem",
    BASE_URL: "https://a.example",
  };
  const { code, stderr } = await run(["serve"], settings);
  expect([code, stderr.split("\n")]).toEqual([
    2,
    [
      'curt: PORT must be auto, a whole number from 0 to 65535, not "x"',
      'curt: TLS_CERT must be a file that can be read, not "/nowhere/cert.pem": it does not exist',
      'curt: TLS_KEY must be a file that can be read, not "/nowhere/key.pem": it does not exist',
      "",
    ],
  ]);
  // The user who checks the store may lack the right to read the key.
  using folder = temporaryFolder();
  const fine = { ...settings, PORT: "0", DATABASE_URL: `sqlite:${folder.path}/curt.db` };
  expect((await run(["check"], fine)).code).toBe(0);
});

function warningsInLog({ logged }: { readonly logged: readonly string[] }): readonly string[] {
  return logged.flatMap((line) => {
    const { level, msg, ...fields } = JSON.parse(line) as Record<string, unknown>;
    delete fields["time"];
    return level === "warn" ? withFields(String(msg), fields) : [];
  });
}

describe("curt check", () => {
  test("warns of what a start warns of, in its words", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "curt.db");
    await (await openStore({ engine: "sqlite", path: file })).close();
    chmodSync(folder.path, 0o755);
    chmodSync(file, 0o644);
    const settings = { DATABASE_URL: `sqlite:${file}`, BASE_URL: "http://go.curt.example", BACKUP_KEPT: "5" };
    const { code, stderr } = await run(["check"], settings);
    const found = stderr.trimEnd().split("\n");
    expect([code, found]).toEqual([
      0,
      ["misspelt", "BASE_URL starts with http", "all visitors", "every user"].map((text) =>
        expect.stringContaining(text),
      ),
    ]);
    await using program = await startProgram({ ...settings, LIMIT_CREATE: "30/1m" });
    await untilLogged(program, "every user");
    expect(warningsInLog(program)).toEqual(found);
  });

  test("warns of a certificate, a list and a domain as a start does, and fails where it would fail", async () => {
    using folder = temporaryFolder();
    // In a folder of its own, because git gives everybody the right to read its files.
    const certificate = (name: string) => {
      const copy = join(folder.path, name);
      copyFileSync(join(import.meta.dir, `../http/certificates/${name}.pem`), copy);
      return copy;
    };
    const own = { DATABASE_URL: `sqlite:${join(folder.path, "curt.db")}`, BASE_URL: "https://a.example" };
    {
      await using before = await startProgram({ ...own, DOMAINS: "https://b.example" });
      const body = JSON.stringify({ original_url: "https://example.com/" });
      for (const Host of ["a.example", "b.example"])
        await fetch(`${before.origin}/api/v1/shorten`, { method: "POST", body, headers: { Host } });
    }
    const list = join(folder.path, "list");
    writeFileSync(list, "# nothing\n");
    const settings = {
      ...own,
      BLOCKLIST: list,
      TLS_CERT: certificate("first"),
      TLS_KEY: certificate("first"),
    };
    const { code, stderr } = await run(["check"], settings);
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/no rules.*\n.*TLS_CERT.*\n.*no longer in DOMAINS/),
    ]);
    await using program = await startProgram(settings);
    await untilLogged(program, "no longer in DOMAINS");
    expect(warningsInLog(program).toSorted()).toEqual(stderr.trimEnd().split("\n").toSorted());
    for (const [wrong, why] of [
      [{ TLS_CERT: certificate("expired"), TLS_KEY: certificate("expired") }, "expired on"],
      [{ BASE_URL: "https://c.example", DOMAINS: "https://a.example" }, "Set ALIASES=a.example instead"],
    ] as const) {
      const refused = { code: 2, stderr: expect.stringContaining(why) };
      expect(await run(["check"], { ...settings, ...wrong })).toMatchObject(refused);
      expect(await run(["serve"], { ...settings, ...wrong, PORT: "0" })).toMatchObject(refused);
    }
  });

  test("refuses a journal that can't be read, in the words of serve", async () => {
    using folder = temporaryFolder();
    const settings = { DATA_DIR: folder.path };
    await (await openStore(readConfig(settings).database)).close();
    writeFileSync(join(folder.path, "curt.db-visits"), "");
    const refused = { code: 1, stderr: expect.stringContaining("curt.db-visits cannot keep visits") };
    expect(await run(["check"], settings)).toMatchObject(refused);
    expect(await run(["serve"], { ...settings, PORT: "0", BASE_URL: "http://a" })).toMatchObject(refused);
  });

  test("lists the names of tokens, of a file as well, and refuses weak ones without showing them", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "tokens");
    const settings = {
      DATABASE_URL: `sqlite:${folder.path}/curt.db`,
      ADMIN_TOKEN: `alice:${"a".repeat(16)} bob:${"b".repeat(16)} ${"c".repeat(16)}`,
      CREATE_TOKEN_FILE: file,
    };
    writeFileSync(file, `feed:${"d".repeat(16)}\n`);
    const fine = await run(["check"], settings);
    expect([fine.code, fine.stdout]).toEqual([
      0,
      expect.stringContaining("ADMIN_TOKEN: alice, bob, 1 without a name\nCREATE_TOKEN: feed\n"),
    ]);
    for (const [text, why] of [
      [`feed:${"d".repeat(16)} other:too-short`, 'not "(15 characters)"'],
      [`feed:${"d".repeat(16)}\nfeed:${"e".repeat(16)}`, "a name or a secret is there twice"],
      [undefined, "it does not exist"],
    ] as const) {
      if (text === undefined) rmSync(file);
      else writeFileSync(file, text);
      const { code, stderr } = await run(["check"], settings);
      expect([code, stderr]).toEqual([2, expect.stringContaining(why)]);
      expect(stderr).toStartWith("curt: CREATE_TOKEN_FILE ");
      expect(stderr).not.toMatch(/too-short|dddd|eeee/);
    }
  });

  const check = (path: string) => run(["check"], { DATABASE_URL: `sqlite:${path}` });

  test("refuses another CODE_CASE than the store's, in the words of serve", async () => {
    using folder = temporaryFolder();
    const settings = { DATABASE_URL: `sqlite:${join(folder.path, "curt.db")}` };
    await using program = await startProgram(settings);
    const other = { ...settings, CODE_CASE: "ignore" };
    for (const same of [settings, other]) expect(await run(["check"], same)).toMatchObject({ code: 0 });
    await program.shorten({ original_url: "https://example.com/" });
    const refused = { code: 2, stderr: expect.stringContaining("CODE_CASE must be match") };
    expect(await run(["check"], other)).toMatchObject(refused);
    expect(await run(["serve"], { ...other, PORT: String(await freePort()) })).toMatchObject(refused);
  });

  test("warns of a clock that a start would doubt, in the words of serve", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "curt.db");
    const today = Math.floor(Date.now() / 86_400_000);
    const store = await openStore({ engine: "sqlite", path });
    await store.salt(today - 30, 0);
    expect(await check(path)).toMatchObject({ code: 0, stderr: "" });
    await store.salt(today - 40, 0);
    const statements = await openStatements(
      { engine: "sqlite", path },
      identifyStore({ engine: "sqlite", path }),
    );
    await statements.run("DELETE FROM salts WHERE day > $1", [today - 40]);
    await statements.close();
    await store.close();
    const { code, stderr } = await check(path);
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/^clock: the clock is more than a month ahead/),
    ]);
    await using program = await startProgram({ DATABASE_URL: `sqlite:${path}` });
    await untilLogged(program, stderr.trim().replace("clock: ", ""));
  });

  test("reports a sound store, even while it is in use", async () => {
    await using program = await startProgram();
    await program.shorten({ original_url: "https://example.com/" });
    const { code, stdout } = await check(program.file);
    expect([code, stdout]).toEqual([
      0,
      `configuration: fine (links at http://localhost:3000, private posture, data in ${dirname(program.file)})\nstore: fine (1 link in ${program.file})\n`,
    ]);
  });

  test("says that there is no store yet, and creates none", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "none", "curt.db");
    expect(await check(path)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("does not exist yet"),
    });
    expect(existsSync(path)).toBeFalse();
  });

  test("reports how many rules each blocklist has, and which cannot be read", async () => {
    using folder = temporaryFolder();
    const list = join(folder.path, "list");
    writeFileSync(list, "# mine\nevil.example\n0.0.0.0 worse.example\n<html>\n");
    const settings = {
      DATABASE_URL: `sqlite:${join(folder.path, "curt.db")}`,
      BLOCKLIST: `${list},https://lists.example/hosts?key=secret`,
    };
    const { code, stdout } = await run(["check"], settings);
    expect(code).toBe(0);
    expect(stdout).toContain(`blocklist: ${list}: 2 rules, 1 line not understood\n`);
    expect(stdout).not.toContain("secret");
    expect(stdout).toContain("(feed of lists.example): not fetched yet");
    const wrong = await run(["check"], { ...settings, BLOCKLIST: `${list},${list}-2` });
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`blocklist: ${list}-2 cannot be read`),
    });
    for (const command of ["serve", "check"])
      expect(await run([command], { ...settings, BLOCKLIST: `${list}-2` })).toMatchObject({ code: 2 });
  });

  test("finds damage that a start doesn't detect", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "curt.db");
    const store = await openStore({ engine: "sqlite", path });
    const url = { originalUrl: "https://example.com/", target: "https://example.com/" as Target };
    const rows = Array.from({ length: 100 }, (_, nth) => newLink(`code-${nth + 100}-end`, url));
    await store.insert(rows);
    await store.close();
    // Damages the index so that it no longer finds this link. Every page is still well-formed.
    const bytes = readFileSync(path);
    bytes.write("code-150-enD", bytes.lastIndexOf("code-150-end"));
    writeFileSync(path, bytes);
    const { code, stderr } = await check(path);
    expect(code).toBe(1);
    expect(stderr).toMatch(/damaged/);
  });
});

describe.each(["sqlite", "postgres"])("curt check (%s)", (engine) => {
  test("finds links with destinations that Curt never stores, which answer 410", async () => {
    using folder = temporaryFolder();
    const url =
      engine === "sqlite" ? `sqlite:${join(folder.path, "curt.db")}` : await server.url("unsendable");
    const settings = { DATABASE_URL: url };
    const store = await openStore(readConfig(settings).database);
    const wrong = ["javascript:alert(1)", "https://example.com/\r\nX: 1", "/relative"];
    const links = ["https://example.com/", ...wrong].map((target, nth) =>
      newLink(`code${nth}`, { originalUrl: target, target: target as Target }),
    );
    await store.insert(links);
    await store.close();
    expect(await run(["check"], settings)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("never stores, and answer 410: code1, code2, code3. Another"),
    });
    await using curt = await startService(settings);
    const statuses = await Promise.all(links.map(async ({ code }) => (await curt.fetch(`/${code}`)).status));
    expect(statuses).toEqual([302, 410, 410, 410]);
  });
});

describe("npm start", () => {
  test("shows in a terminal the address, the store and how to stop, and stops in order", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "curt.db");
    const PORT = String(await freePort());
    const settings = { PORT, DATABASE_URL: `sqlite:${file}`, BACKUP_KEPT: "5" };
    const { shown } = await runInTerminal([], settings, {
      command: ["npm", "start", "--silent"],
      typed: { after: "BACKUP_KEEP", text: "\u0003" },
    });
    const [greeting = "", log = ""] = shown.split(/^(?=\d\d:)/m);
    expect(greeting).toBe(`Curt ${version} is running.

  Open it at:    http://localhost:${PORT}
  Data is in:    ${folder.path}
  Stop it with:  Ctrl+C

`);
    expect(log).toMatch(/^\d\d:\d\d:\d\d warn: a setting may be misspelt: /);
    expect(shown).toMatch(/stopping \(reason: SIGINT\)\n\d\d:\d\d:\d\d stopped\n$/);
    expect(existsSync(`${file}-wal`)).toBeFalse();
  });

  test("passes SIGTERM on to the server, which stops in order", async () => {
    using folder = temporaryFolder();
    await using program = await startProgram(
      {},
      { command: ["npm", "start", "--silent"], folder: folder.path },
    );
    expect((await program.fetch("/livez")).status).toBe(200);
    program.kill("SIGTERM");
    // npm may end before the server does, which closes the output last.
    await program.exited;
    expect(
      await fetch(`${program.origin}/livez`).then(
        () => "answers",
        () => "gone",
      ),
    ).toBe("gone");
    expect(program.logged.join("\n")).toContain('"stopping"');
    expect(existsSync(`${program.file}-wal`)).toBeFalse();
  });
});

test("a command reports lost output with exit code 1", async () => {
  using folder = temporaryFolder();
  const env = { ...process.env, DATABASE_URL: `sqlite:${folder.path}/curt.db` };
  for (const args of [["--help"], ["check"], ["completion", "bash"]]) {
    const shell = Bun.spawn(["/bin/sh", "-c", '"$0" "$@" > /dev/full', process.execPath, PROGRAM, ...args], {
      env,
      stderr: "pipe",
    });
    expect(await shell.exited).toBe(1);
    expect(await shell.stderr.text()).toBe("curt: standard output is not complete: the disk is full.\n");
  }
});

test("trust-clock asks first, and a later run takes back the trust in a clock that was ahead", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "curt.db");
  const today = Math.floor(Date.now() / 86_400_000);
  const daysAhead = async (write?: number) => {
    const store = await openStore({ engine: "sqlite", path });
    if (write !== undefined) await store.salt(today + write, 0);
    const newest = await store.newestSaltDay();
    await store.close();
    return newest - today;
  };
  expect(await daysAhead(4000)).toBe(4000);
  const settings = { PORT: "3000", DATABASE_URL: `sqlite:${path}`, DATA_DIR: folder.path };
  const asked = await runInTerminal(["trust-clock"], settings, { typed: { after: "right?", text: "n\n" } });
  expect(asked).toEqual({ code: 1, shown: expect.stringContaining("Is that right?") });
  expect(await run(["trust-clock"], settings)).toMatchObject({ code: 2 });
  expect(await daysAhead()).toBe(4000);
  expect(await run(["trust-clock", "--yes"], settings)).toMatchObject({ code: 0 });
  // It may be midnight.
  expect(await daysAhead()).toBeLessThanOrEqual(1);
});

test("export and trust-clock create no store in place of an empty or a missing file", async () => {
  using folder = temporaryFolder();
  await Bun.write(join(folder.path, "empty"), "");
  for (const name of ["empty", "missing.db"])
    for (const args of [["export", "-"], ["trust-clock"]]) {
      const path = join(folder.path, name);
      expect(await run(args, { DATABASE_URL: `sqlite:${path}`, DATA_DIR: folder.path })).toEqual({
        code: 1,
        stdout: "",
        stderr: `curt: there is no store at ${path}. Set DATABASE_URL or DATA_DIR and the other settings as for the server.\n`,
      });
    }
  expect(readdirSync(folder.path)).toEqual(["empty"]);
});

test.each(["sqlite", "postgres"])("import creates a store only with --new or a yes (%s)", async (engine) => {
  using folder = temporaryFolder();
  const path = (name: string) => join(folder.path, name);
  const url = engine === "sqlite" ? `sqlite:${path("curt.db")}` : await server.url("created");
  const settings = { DATABASE_URL: url, DATA_DIR: path("data"), PORT: "3000" };
  const { database } = readConfig(settings);
  const missing = `there is no store at ${describeStore(database)}`;
  await Bun.write(path("links.csv"), "code,target\nkept,https://example.com/\n");
  expect(await run(["import", path("links.csv")], settings)).toEqual({
    code: 2,
    stdout: "",
    stderr: `curt: ${missing}. To create it, add --new. Otherwise set DATABASE_URL or DATA_DIR.\n`,
  });
  expect(await run(["import", "--dry-run", path("links.csv")], settings)).toMatchObject({
    code: 0,
    stderr: `${missing}: the import needs --new to create it\n`,
  });
  const answer = (text: string) =>
    runInTerminal(["import", path("links.csv")], settings, { typed: { after: "Create it?", text } });
  expect(await answer("n\n")).toEqual({ code: 1, shown: expect.stringContaining(`${missing}. Create it?`) });
  expect(await hasStore(database)).toBeFalse();
  expect(readdirSync(folder.path)).toEqual(["links.csv"]);
  expect(await answer("y\n")).toEqual({ code: 0, shown: expect.stringContaining("1 of 1 links added") });
  expect((await run(["import", path("links.csv")], settings)).stdout).toContain("0 of 1 links added");
});

test("a command explains a path that the system refuses", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "file");
  await Bun.write(file, "");
  for (const args of [["check"], ["export", "-"], ["backup", `${file}2`]])
    expect(await run(args, { DATABASE_URL: `sqlite:${file}/curt.db`, DATA_DIR: folder.path })).toMatchObject({
      code: 1,
      stderr: `curt: ${file}/curt.db cannot be used: its path has a file where a folder must be. Check DATABASE_URL or DATA_DIR, the folder's permissions and the free space.\n`,
    });
});
