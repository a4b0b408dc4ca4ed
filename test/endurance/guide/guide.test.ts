import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import packageJson from "../../../package.json";
import { readCommandLine } from "../../../src/cli/command.ts";
import { COMMANDS } from "../../../src/cli/commands.ts";
import { INSTANCE_COMMANDS } from "../../../src/cli/instance-commands.ts";
import { readConfig } from "../../../src/config/config.ts";
import { SETTINGS } from "../../../src/config/settings.ts";
import { freePort } from "../../support/free-port.ts";
import { createManagedLink } from "../../support/managed-links.ts";
import { PASSWORD, startPostgres } from "../../support/postgres.ts";
import { ROOT, startProgram, temporaryFolder, PROGRAM } from "../../support/service.ts";
import { commandsOf, requestOf, type ShellCommand, scriptsOf } from "../../support/shell-scripts.ts";

const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const DOCUMENTS = [
  "README.md",
  "CONTRIBUTING.md",
  ...["docs", "docs/dev"].flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => name.endsWith(".md"))
      .map((name) => `${folder}/${name}`),
  ),
];

/** Programs that tests cannot run: they change the machine, need other machines, or are not everywhere. Commands of the shell. */
const NOT_RUN = [
  "apt-get chown docker git install journalctl litestream mysql nft npm npx pg_dump pg_restore psql sqlite3 ss systemctl tailscale useradd wget",
  "base64 cat chgrp chmod cp date find grep gunzip gzip head jq ls mkdir mv openssl sed sha256sum sleep",
  ". echo export set source umask",
].flatMap((names) => names.split(" "));

interface Written extends ShellCommand {
  readonly document: string;
}
const ALL: readonly Written[] = DOCUMENTS.flatMap((document) =>
  scriptsOf(read(document))
    .flatMap(commandsOf)
    .map((command) => ({ document, ...command })),
);

/** The arguments of curt, or undefined for other programs. */
function lineOf({ words: [program = "", ...rest] }: ShellCommand): readonly string[] | undefined {
  if (program === "npx" && rest[0] === "curt") return rest.slice(1);
  if (program === "npm" && rest[0] === "start") return ["serve"];
  return /^(?:\.\/)?curt$/.test(program) ? rest : undefined;
}

test("docs/README.md links to every other document", () => {
  const links = [...read("docs/README.md").matchAll(/\]\(([\w/.-]+\.md)\)/g)].map(([, path = ""]) =>
    join("docs", path),
  );
  const documents = DOCUMENTS.filter((path) => !["README.md", "docs/README.md"].includes(path));
  expect(links).toContainValues(documents);
  expect(read("README.md")).toContain("](docs/README.md)");
});

describe("every command in the documents", () => {
  test("is in a script that the shell can parse", async () => {
    for (const document of DOCUMENTS) {
      for (const script of scriptsOf(read(document)).filter((text) => !text.includes("<("))) {
        const child = Bun.spawn(["sh", "-nc", script], { stderr: "pipe" });
        expect([document, script, await child.stderr.text()]).toEqual([document, script, ""]);
      }
    }
  });

  test("belongs to Curt, calls it with curl, or is of a listed program", () => {
    const programs = ALL.filter((command) => lineOf(command) === undefined).flatMap(
      ({ words: [first] }) => first ?? [],
    );
    expect(programs.filter((program) => program !== "curl" && !NOT_RUN.includes(program))).toEqual([]);
    // The list has only programs that a document uses.
    const named = new Set(ALL.map(({ words: [first] }) => first));
    expect(NOT_RUN.filter((name) => !named.has(name))).toEqual([]);
  });

  test("exists in Curt, with valid settings", () => {
    const names: readonly string[] = Object.values(SETTINGS).map(({ name }) => name);
    const alone = ALL.filter(({ words }) => words.length === 0).flatMap(({ settings }) =>
      Object.keys(settings),
    );
    expect(names).toContainValues(alone.filter((name) => /^[A-Z_]+$/.test(name)));
    const own = ALL.filter((command) => lineOf(command) !== undefined);
    expect(own.length).toBeGreaterThan(35);
    for (const command of own) {
      const { document, settings } = command;
      const line = lineOf(command) ?? [];
      expect([line, readCommandLine({ ...COMMANDS, ...INSTANCE_COMMANDS }, line)], document).toEqual([
        line,
        expect.objectContaining({ command: expect.anything() }),
      ]);
      expect(names).toContainValues(Object.keys(settings));
      readConfig(settings);
    }
  });

  test("exists as a script of npm", () => {
    for (const { words } of ALL.filter(({ words: [first] }) => first === "npm")) {
      const [, verb = "", name = ""] = words;
      if (["ci", "install"].includes(verb)) continue;
      expect(Object.keys(packageJson.scripts)).toContain(verb === "run" ? name : verb);
    }
  });
});

test("every call of curl in the documents succeeds", async () => {
  const metrics = await freePort();
  await using curt = await startProgram({ POSTURE: "private", METRICS_PORT: `${metrics}` });
  const target = "https://example.com/";
  await createManagedLink(curt, { target, code: "code", password: "the-password" });
  let key = "";
  let etag = "";
  // test/endurance/guide/admin.test.ts runs the operator's calls in their order. -fL downloads a release.
  const calls = ALL.filter(
    ({ document, words: [first, option] }) =>
      first === "curl" && option?.startsWith("-fL") !== true && document !== "docs/admin.md",
  );
  expect(calls.length).toBeGreaterThan(8);
  for (const call of calls) {
    const { url, method, body, headers } = requestOf(call);
    const [, port, path = ""] = /^(?:\$CURT_URL|(?:https?:\/\/)?[\w.]+(?::(\d+))?)(\/.*)$/.exec(url) ?? [];
    if (headers.get("Authorization")?.startsWith("Bearer") === true)
      headers.set("Authorization", `Bearer ${key}`);
    if (headers.has("If-Match")) headers.set("If-Match", etag);
    const origin = port === "9464" ? `http://127.0.0.1:${metrics}` : curt.origin;
    const answer = await fetch(`${origin}${path}`, { method, headers, body, redirect: "manual" });
    key = /"manage_key":"([^"]+)"/.exec(await answer.text())?.[1] ?? key;
    etag = answer.headers.get("etag") ?? etag;
    expect([method, url, answer.status, answer.status < 400], call.document).toEqual([
      method,
      url,
      answer.status,
      true,
    ]);
  }
});

describe("the commands of Curt", () => {
  /** Documents whose commands run in order. Those of admin.md and backup.md have tests of their own. */
  const RUN = ["docs/clients.md", "docs/moving.md", "docs/postgresql.md", "docs/troubleshooting.md"];
  /** Lines with other programs than these are not run; `serve` and `health` are run by other tests. */
  const RUNNABLE = ["curt", "gzip", "gunzip", "export"];

  test.each(RUN)("in %s succeed", async (document) => {
    const lines = scriptsOf(read(document))
      .flatMap((script) => script.split("\n"))
      .filter((line) => {
        const commands = commandsOf(line);
        const programs = commands.flatMap(({ words: [first] }) => first ?? []);
        return programs.includes("curt") && programs.every((program) => RUNNABLE.includes(program));
      });
    expect(lines.length).toBeGreaterThan(0);

    using folder = temporaryFolder();
    const here = (name: string) => join(folder.path, name);
    mkdirSync(here("bin"));
    writeFileSync(here("bin/curt"), `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`);
    chmodSync(here("bin/curt"), 0o755);
    writeFileSync(here("password"), PASSWORD);
    const [links = "", visits = ""] = read("docs/moving.md").match(/(?<=```csv\n).*?(?=```)/gs) ?? [];
    writeFileSync(here("links.csv"), links);
    writeFileSync(here("visits.csv"), visits);
    writeFileSync(
      here("golinks.json"),
      `${JSON.stringify({ Short: "go-doc", Long: "https://example.com/" })}\n`,
    );
    writeFileSync(here("addresses.txt"), "https://example.com/one\nhttps://example.com/two\n");
    const port = await freePort();
    const origin = `http://127.0.0.1:${port}`;
    const settings = { PORT: `${port}`, HOST: "127.0.0.1", BASE_URL: origin };
    const curt = await startProgram(settings, { folder: folder.path });
    await curt.shorten({ original_url: "https://example.com/", custom_code: "CODE" });
    // A store moves while no service uses it.
    const isStopped = document === "docs/postgresql.md";
    if (isStopped) await curt[Symbol.asyncDispose]();
    await using postgres = isStopped ? await startPostgres() : undefined;
    const movedUrl = (await postgres?.url("moved"))?.replace(`:${PASSWORD}@`, "@") ?? "";
    for (const line of lines) {
      const command = line
        .replaceAll("https://go.example.com", origin)
        .replaceAll("DATA_DIR=/var/lib/curt", `DATABASE_URL=${curt.databaseUrl}`)
        .replaceAll("postgres://curt@db1:5432/curt", movedUrl)
        .replaceAll("/etc/curt/password", here("password"))
        // Without a terminal, nobody can answer its question.
        .replaceAll("curt trust-clock", "curt trust-clock --yes");
      const child = Bun.spawn(["sh", "-c", command], {
        cwd: folder.path,
        env: {
          ...process.env,
          ...settings,
          PATH: `${here("bin")}:${process.env["PATH"]}`,
          DATABASE_URL: curt.databaseUrl,
          CURT_URL: origin,
          CURT_PASSWORD: "the-password",
          XDG_STATE_HOME: folder.path,
        },
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      });
      const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
      expect([command, await child.exited, stdout, stderr]).toEqual([command, 0, stdout, expect.any(String)]);
    }
    if (!isStopped) await curt[Symbol.asyncDispose]();
  });
});
