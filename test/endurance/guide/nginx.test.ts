import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { MAX_TARGET_LENGTH } from "../../../src/links/target.ts";
import { freePort } from "../../support/free-port.ts";
import { ROOT, type Settings, startService, temporaryFolder, toDomain } from "../../support/service.ts";

/** Debian installs it in a folder that only root's PATH has. */
const NGINX = Bun.which("nginx", { PATH: `${process.env["PATH"] ?? ""}:/usr/sbin:/usr/local/sbin` });
const CERTIFICATE = join(ROOT, "test/http/certificates/first.pem");
const OWN = "go.example.com";
const OTHER = "other.example";

const DOCUMENT = readFileSync(join(ROOT, "docs/proxies.md"), "utf8");
/** The examples for nginx: the whole file, and the lines that add a cache to it. */
const [FILE = "", CACHE = ""] = [...DOCUMENT.matchAll(/^```nginx\n([\s\S]*?)^```$/gm)].map(
  ([, text = ""]) => text,
);

/** Puts the cache where the document says: its first line at the top, the others into `location /`. */
function withCache(file: string): string {
  const [path = "", ...lines] = CACHE.split("\n");
  return `${path}\n${file.replace("location / {", (start) => `${start}\n${lines.join("\n")}`)}`;
}

/** Replaces only what belongs to the machine: names, ports, and paths. */
function onThisMachine(file: string, folder: string, ports: { curt: string; http: number; https: number }) {
  const replacements: readonly [RegExp, string][] = [
    [/^ *listen \[::\].*\n/gm, ""],
    [/\blisten 80\b/, `listen 127.0.0.1:${ports.http}`],
    [/\blisten 443\b/, `listen 127.0.0.1:${ports.https}`],
    [/\bserver 127\.0\.0\.1:3000\b/, `server 127.0.0.1:${ports.curt}`],
    [/\/etc\/letsencrypt\/live\/\S+\.pem/g, CERTIFICATE],
    [/\bserver_name go\.example\.com;/g, `server_name ${OWN} ${OTHER};`],
  ];
  const replaced = replacements.reduce((text, [pattern, by]) => {
    expect(text).toMatch(pattern);
    return text.replace(pattern, by);
  }, file);
  return `
daemon off;
${process.getuid?.() === 0 ? "user root;" : ""}
pid ${folder}/nginx.pid;
error_log stderr;
events {}
http {
  client_body_temp_path ${folder}/client;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
${replaced.replaceAll("/var/cache/nginx", folder)}
}
`;
}

/** Starts Curt with two domains, and nginx in front of it. */
async function startBehindNginx(nginx: string, file: string, settings: Settings = {}) {
  await using opened = new AsyncDisposableStack();
  const { path: folder } = opened.use(temporaryFolder());
  const curt = opened.use(
    await startService({
      BASE_URL: `https://${OWN}`,
      DOMAINS: `https://${OTHER}`,
      TRUSTED_PROXIES: "127.0.0.1",
      ...settings,
    }),
  );
  const ports = { curt: new URL(curt.origin).port, http: await freePort(), https: await freePort() };
  writeFileSync(join(folder, "nginx.conf"), onThisMachine(file, folder, ports));
  const child = Bun.spawn([nginx, "-e", "stderr", "-p", folder, "-c", join(folder, "nginx.conf")], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  opened.defer(async () => {
    child.kill("SIGTERM");
    await child.exited;
  });
  const request = (origin: string, host: string, path: string, init: BunFetchRequestInit = {}) =>
    fetch(`${origin}${path}`, {
      redirect: "manual",
      tls: { rejectUnauthorized: false },
      ...init,
      headers: { Host: host },
    });
  const https = `https://127.0.0.1:${ports.https}`;
  while (child.exitCode === null && !(await request(https, OWN, "/livez").catch(() => undefined))?.ok)
    await Bun.sleep(5);
  expect(child.exitCode).toBeNull();
  const parts = opened.move();
  return {
    curt,
    get: (host: string, path: string, init?: BunFetchRequestInit) => request(https, host, path, init),
    getPlain: (host: string, path: string) => request(`http://127.0.0.1:${ports.http}`, host, path),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

const locationOf = async (response: Promise<Response>) => (await response).headers.get("location");

test("docs/proxies.md has a file for nginx, and a cache for it", () => {
  expect(FILE).toContain("location / {");
  expect(CACHE).toStartWith("proxy_cache_path ");
});

if (NGINX !== null)
  describe("nginx as in docs/proxies.md", () => {
    test("caches the links of each domain separately", async () => {
      await using site = await startBehindNginx(NGINX, withCache(FILE), { CACHE_SECONDS: "60" });
      const other = toDomain(site.curt, OTHER);
      const link = { original_url: "https://evil.example/", custom_code: "win" };
      const created = await other.shorten(link);
      expect(created.status).toBe(201);
      expect(await locationOf(site.get(OTHER, "/win"))).toBe("https://evil.example/");
      expect((await site.get(OWN, "/win")).status).toBe(404);
      await site.curt.shorten({ ...link, original_url: "https://good.example/" });
      expect(await locationOf(site.get(OWN, "/win"))).toBe("https://good.example/");
      expect(await locationOf(site.get(OTHER, "/win"))).toBe("https://evil.example/");
      expect(await locationOf(site.get(OTHER, "/win", { method: "HEAD" }))).toBe("https://evil.example/");
    });

    test("caches redirects and QR codes only if CACHE_SECONDS allows it", async () => {
      for (const [CACHE_SECONDS, isKept] of [
        ["60", true],
        ["0", false],
      ] as const) {
        await using site = await startBehindNginx(NGINX, withCache(FILE), { CACHE_SECONDS });
        const link = { target: "https://example.com/", code: "brief" };
        const headers = { "Content-Type": "application/json" };
        const created = await site.curt.fetch("/api/v1/links", {
          method: "POST",
          headers,
          body: JSON.stringify(link),
        });
        const { data } = (await created.json()) as { data: { manage_key: string } };
        const statuses = () =>
          Promise.all(["/brief", "/brief.svg"].map(async (path) => (await site.get(OWN, path)).status));
        expect(await statuses()).toEqual([302, 200]);
        const Authorization = `Bearer ${data.manage_key}`;
        const withdrawn = await site.curt.fetch("/api/v1/links/brief", {
          method: "DELETE",
          headers: { Authorization },
        });
        expect(withdrawn.ok).toBe(true);
        expect(await statuses()).toEqual(isKept ? [302, 200] : [410, 410]);
      }
    });

    test("redirects to the longest destinations with the longest query, with and without a cache", async () => {
      const target = "https://example.com/".padEnd(MAX_TARGET_LENGTH, "x");
      // Its default for the longest request line is 8 KB.
      const query = "?".padEnd(8000, "y");
      for (const file of [FILE, withCache(FILE)]) {
        await using site = await startBehindNginx(NGINX, file, { CACHE_SECONDS: "60" });
        const links = [
          { target, code: "long" },
          { target, code: "longer", forward_query: true },
        ];
        const created = await site.curt.fetch("/api/v1/links/batch", {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify(links),
        });
        expect(created.status).toBeLessThan(300);
        expect(await locationOf(site.get(OWN, `/long${query}`))).toBe(target);
        expect(await locationOf(site.get(OWN, `/longer${query}`))).toBe(`${target}${query}`);
      }
    });

    test("redirects browsers to HTTPS, and sends HSTS", async () => {
      await using site = await startBehindNginx(NGINX, FILE);
      const plain = await site.getPlain(OWN, "/win");
      expect([plain.status, plain.headers.get("location")]).toEqual([301, `https://${OWN}/win`]);
      expect(plain.headers.get("strict-transport-security")).toBeNull();
      for (const path of ["/", "/nobody"])
        expect((await site.get(OWN, path)).headers.get("strict-transport-security"), path).toBe(
          "max-age=31536000",
        );
    });
  });
