import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";

import { runCommand } from "../../cli/commands.ts";
import { freePort } from "../../support/free-port.ts";
import { createManagedLink } from "../../support/managed-links.ts";
import { startService, temporaryFolder } from "../../support/service.ts";
import { askAt, createStoreWith, expectSame, LINKS, type ShortLink } from "../../transfer/hostile-links.ts";

const PATH = `${process.env["PATH"] ?? ""}:/usr/sbin:/usr/local/sbin`;
const NGINX = Bun.which("nginx", { PATH });
const CADDY = Bun.which("caddy", { PATH });
const ORIGIN = "http://go.example.com";

/** Exports links, those of another domain under its keys, and returns the files and what the command says. */
async function exportLinks(folder: string, format: string, links: readonly ShortLink[], settings = {}) {
  const database = join(folder, "curt.db");
  await createStoreWith(database, links);
  const all = { DATABASE_URL: `sqlite:${database}`, BASE_URL: ORIGIN, PORT: "1", ...settings };
  const { code, stderr } = await runCommand(["export", "--format", format, join(folder, "links.conf")], all);
  expect(code, stderr).toBe(0);
  return { database, stderr };
}

const TARGETS = {
  "Team-Wiki": "https://example.com/wiki?$1=$",
  ÉCOLE: "https://example.com/school",
  lower: "https://example.com/lower",
  Straße: "https://example.com/street",
  Οδός: "https://example.com/odos",
  "İki-Kelvin": "https://example.com/two",
  Brace: "https://example.com/?q={path}",
  "1234": "https://example.com/number",
};
const MISSING = ["team", "team-wiki2", "ecole", "strase", "xlower"];

/** Exports links of a store with CODE_CASE=ignore. */
async function exportFolded(folder: string, format: string, origin = ORIGIN) {
  const settings = {
    DATABASE_URL: `sqlite:${join(folder, "curt.db")}`,
    CODE_CASE: "ignore",
    BASE_URL: origin,
    PORT: "1",
  };
  {
    await using curt = await startService({ ...settings, PORT: "0" });
    for (const [code, target] of Object.entries(TARGETS)) await createManagedLink(curt, { code, target });
  }
  const { code, stderr } = await runCommand(
    ["export", "--format", format, join(folder, "links.conf")],
    settings,
  );
  expect([code, stderr]).toEqual([0, expect.stringContaining("With CODE_CASE=ignore, ")]);
  expect(stderr).toContain(`exported ${Object.keys(TARGETS).length} links`);
}

/** Codes in other capitals, as people type them. */
const inCapitals = (code: string) => [
  code,
  code.toLowerCase(),
  code.toUpperCase(),
  code.toLowerCase().replace(/^\p{L}/u, (first) => first.toUpperCase()),
  code.normalize("NFD"),
];

async function expectFolded(ask: ReturnType<typeof askAt>): Promise<void> {
  for (const [code, target] of Object.entries(TARGETS))
    for (const spelling of inCapitals(code))
      for (const slash of ["", "/"])
        expect(await ask(`/${encodeURIComponent(spelling)}${slash}`), spelling).toEqual({
          status: 302,
          location: target,
        });
  for (const code of MISSING) expect((await ask(`/${encodeURIComponent(code)}`)).status, code).toBe(404);
}

interface Running extends AsyncDisposable {
  readonly origin: string;
}

/** Starts a server that answers with 404 at first. */
async function startServer(command: string[], port: number, folder: string): Promise<Running> {
  const child = Bun.spawn(command, {
    stdio: ["ignore", "inherit", "pipe"],
    env: { ...process.env, HOME: folder },
  });
  const origin = `http://127.0.0.1:${port}`;
  while (child.exitCode === null && (await fetch(origin).catch(() => undefined)) === undefined)
    await Bun.sleep(5);
  if (child.exitCode !== null) throw new Error(await child.stderr.text());
  return {
    origin,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.exited;
    },
  };
}

async function startNginx(nginx: string, folder: string, files: readonly string[]): Promise<Running> {
  const port = await freePort();
  for (const file of files) {
    const text = readFileSync(join(folder, file), "utf8");
    expect(text).toContain("listen 80;");
    writeFileSync(join(folder, file), text.replace("listen 80;", `listen 127.0.0.1:${port};`));
  }
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  writeFileSync(
    join(folder, "nginx.conf"),
    `daemon off;
${process.getuid?.() === 0 ? "user root;" : ""}
pid ${folder}/nginx.pid;
error_log stderr;
events {}
http {
  access_log off;
${temporary.map((name) => `  ${name}_temp_path ${folder}/${name};`).join("\n")}
${files.map((file) => `  include ${join(folder, file)};`).join("\n")}
}
`,
  );
  return startServer([nginx, "-e", "stderr", "-p", folder, "-c", join(folder, "nginx.conf")], port, folder);
}

if (NGINX !== null)
  describe("curt export --format nginx", () => {
    test("redirects as Curt does, and serves nothing else", async () => {
      using folder = temporaryFolder();
      const { database, stderr } = await exportLinks(folder.path, "nginx", LINKS);
      // Escapes make them longer, and nginx refuses long words.
      const tooLong = LINKS.filter(({ code, target }) => {
        const escaped = target.replaceAll("$", "${curt_dollar}").replaceAll(/["\\]/g, String.raw`\$&`);
        return Buffer.byteLength(`"/${code}\t${escaped}\t"`) >= 4096;
      });
      expect(stderr).toContain(`left out, ${tooLong.length}: links that are too long for nginx\n`);
      await using curt = await startService({ DATABASE_URL: `sqlite:${database}` });
      await using nginx = await startNginx(NGINX, folder.path, ["links.conf"]);
      const without = new Set(tooLong.map(({ code }) => code));
      await expectSame(askAt(curt.origin), askAt(nginx.origin), { without });
      // fetch would merge the slashes.
      const { promise: status, resolve } = Promise.withResolvers<number | undefined>();
      request(nginx.origin, { path: "//abc" }, (response) => resolve(response.resume().statusCode)).end();
      expect(await status).toBe(404);
    });

    test("finds codes in other capitals if Curt does", async () => {
      using folder = temporaryFolder();
      await exportFolded(folder.path, "nginx");
      await using nginx = await startNginx(NGINX, folder.path, ["links.conf"]);
      await expectFolded(askAt(nginx.origin));
    });

    test("redirects to destinations up to the longest that nginx reads", async () => {
      using folder = temporaryFolder();
      const start = "https://example.com/";
      const links = [1, 0].map((more) => ({
        code: `c${more}`,
        target: start.padEnd(4093 - "/c0\t\t".length + more, "x"),
      }));
      const { stderr } = await exportLinks(folder.path, "nginx", links);
      expect(stderr).toContain("left out, 1: links that are too long for nginx\n");
      await using nginx = await startNginx(NGINX, folder.path, ["links.conf"]);
      const ask = askAt(nginx.origin);
      expect(await ask("/c0")).toEqual({ status: 302, location: links[1]?.target ?? "" });
      expect((await ask("/c1")).status).toBe(404);
    });

    test("keeps domains apart, and reads every character of an odd code", async () => {
      using folder = temporaryFolder();
      const odd = String.raw`a$B"\'{};#?~`;
      const links = [
        { code: odd, target: "https://example.com/odd" },
        { code: "abc", target: "https://example.com/own" },
        { code: "other.example/abc", target: "https://example.com/other?$" },
        { code: "other.example/ABC", target: "https://example.com/upper" },
      ];
      await exportLinks(folder.path, "nginx", links, {
        DOMAINS: "https://other.example",
        ALIASES: "alias.example",
      });
      const files = ["links.conf", "links.other.example.conf"];
      await using nginx = await startNginx(NGINX, folder.path, files);
      const locations = ["go.example.com", "alias.example", "other.example"].map(async (host) => {
        const ask = askAt(nginx.origin, host);
        return [(await ask("/abc")).location, (await ask("/ABC/")).location];
      });
      expect(await Promise.all(locations)).toEqual([
        ["https://example.com/own", null],
        ["https://example.com/own", null],
        ["https://example.com/other?$", "https://example.com/upper"],
      ]);
      expect((await askAt(nginx.origin)(`/${encodeURIComponent(odd)}`)).location).toBe(
        "https://example.com/odd",
      );
    });
  });

if (CADDY !== null)
  describe("curt export --format caddy", () => {
    test("redirects as Curt does, and serves nothing else", async () => {
      using folder = temporaryFolder();
      const port = await freePort();
      const { database } = await exportLinks(folder.path, "caddy", LINKS, {
        BASE_URL: `http://127.0.0.1:${port}`,
      });
      const file = join(folder.path, "links.conf");
      writeFileSync(file, `{\n\tadmin off\n}\n${readFileSync(file, "utf8")}`);
      await using curt = await startService({ DATABASE_URL: `sqlite:${database}` });
      const command = [CADDY, "run", "--adapter", "caddyfile", "--config", file];
      await using caddy = await startServer(command, port, folder.path);
      await expectSame(askAt(curt.origin), askAt(caddy.origin));
    });

    test("finds codes in other capitals if Curt does", async () => {
      using folder = temporaryFolder();
      const port = await freePort();
      await exportFolded(folder.path, "caddy", `http://127.0.0.1:${port}`);
      const file = join(folder.path, "links.conf");
      writeFileSync(file, `{\n\tadmin off\n}\n${readFileSync(file, "utf8")}`);
      const command = [CADDY, "run", "--adapter", "caddyfile", "--config", file];
      await using caddy = await startServer(command, port, folder.path);
      await expectFolded(askAt(caddy.origin));
      for (const spelling of ["tEAM-wIKI", "éCOLE", "οΔΌς"])
        expect((await askAt(caddy.origin)(`/${encodeURIComponent(spelling)}`)).status, spelling).toBe(302);
    });
  });
