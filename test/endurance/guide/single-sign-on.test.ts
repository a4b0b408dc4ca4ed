// Runs the proxies of docs/single-sign-on.md in front of Curt and of a program that signs people in by a cookie.
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { operateAs } from "../../admin/operator.ts";
import { freePort } from "../../support/free-port.ts";
import { type LocalService, startService, temporaryFolder } from "../../support/service.ts";
import { NGINX, OWN, startBehindNginx } from "./nginx.ts";
import { blocksOf, CADDY_SITE, IN_CADDY, IN_NGINX, SITE, siteWith, startAuthenticator } from "./sign-in.ts";

const CADDY = Bun.which("caddy");
const TOKEN = "only-the-operator-knows-it";
const CREATOR = "only-for-creating-links";
const SETTINGS = {
  ADMIN_USER_HEADER: "Remote-User",
  ADMIN_TOKEN: TOKEN,
  CREATE_USER_HEADER: "Remote-Creator",
  CREATE_TOKEN: CREATOR,
};

interface Site extends AsyncDisposable {
  readonly curt: LocalService;
  get(host: string, path: string, init?: BunFetchRequestInit): Promise<Response>;
}

async function startBehindCaddy(caddy: string, file: string): Promise<Site> {
  await using opened = new AsyncDisposableStack();
  const { path: folder } = opened.use(temporaryFolder());
  const curt = opened.use(
    await startService({ BASE_URL: `https://${OWN}`, TRUSTED_PROXIES: "127.0.0.1", ...SETTINGS }),
  );
  const port = await freePort();
  const here = file
    .replace(`${OWN} {`, `http://:${port} {`)
    .replace("http://go {", `http://go:${port} {`)
    .replaceAll("127.0.0.1:3000", new URL(curt.origin).host);
  const path = join(folder, "Caddyfile");
  writeFileSync(path, `{\n\tadmin off\n\tauto_https off\n}\n${here}`);
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const child = Bun.spawn([caddy, "run", "--config", path], { env, stdio: ["ignore", "ignore", "ignore"] });
  opened.defer(async () => {
    child.kill("SIGTERM");
    await child.exited;
  });
  const get = (host: string, address: string, init: BunFetchRequestInit = {}) =>
    fetch(`http://127.0.0.1:${port}${address}`, {
      redirect: "manual",
      ...init,
      headers: { ...(init.headers as Record<string, string> | undefined), Host: host },
    });
  while (child.exitCode === null && !(await get(OWN, "/livez").catch(() => undefined))?.ok)
    await Bun.sleep(5);
  expect(child.exitCode).toBeNull();
  const parts = opened.move();
  return { curt, get, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

test("docs/single-sign-on.md has two configurations for each proxy", () => {
  expect([IN_NGINX.length, IN_CADDY.length]).toEqual([2, 2]);
});

const [CADDY_GO = "", NGINX_GO = ""] = [
  ...blocksOf("docs/go-links.md", "caddyfile"),
  ...blocksOf("docs/go-links.md", "nginx"),
];
const GO = ["https://go.example.com/handbook?page=2", 302];

if (NGINX !== null)
  test("nginx redirects http://go as in docs/go-links.md", async () => {
    await using site = await startBehindNginx(`${SITE}\n${NGINX_GO}`);
    const { headers, status } = await site.getPlain("go", "/handbook?page=2");
    expect([headers.get("location"), status]).toEqual(GO);
  });

if (CADDY !== null)
  test("Caddy redirects http://go as in docs/go-links.md", async () => {
    await using proxy = await startBehindCaddy(CADDY, `${CADDY_SITE}\n${CADDY_GO}`);
    const { headers, status } = await proxy.get("go", "/handbook?page=2");
    expect([headers.get("location"), status]).toEqual(GO);
  });

const starts = [
  ...(NGINX === null
    ? []
    : IN_NGINX.map((text) => ({
        proxy: "nginx",
        text,
        start: (part: string): Promise<Site> => startBehindNginx(siteWith(part), SETTINGS),
      }))),
  ...(CADDY === null
    ? []
    : IN_CADDY.map((text) => ({
        proxy: "Caddy",
        text,
        start: (file: string) => startBehindCaddy(CADDY, file),
      }))),
];

describe.each(
  starts.map((one) => ({ ...one, program: one.text.includes("oauth2") ? "oauth2-proxy" : "Authelia" })),
)("$proxy with $program, as in docs/single-sign-on.md", ({ text, start, program }) => {
  const name = program === "Authelia" ? "alice" : "alice@example.com";
  const session = { Cookie: "session=of-alice" };
  const [own = ""] = /127\.0\.0\.1:(?:9091|4180)/.exec(text) ?? [];

  async function open() {
    const port = await freePort();
    const authenticator = startAuthenticator(port);
    const site = await start(text.replaceAll(own, `127.0.0.1:${port}`));
    const close = async () => {
      await site[Symbol.asyncDispose]();
      await authenticator[Symbol.asyncDispose]();
    };
    return { ...site, asked: authenticator.asked, [Symbol.asyncDispose]: close };
  }

  test("lets only signed-in people operate, under the name that it found itself", async () => {
    await using site = await open();
    const forged = { "Remote-User": "mallory" };
    for (const path of [
      "/admin",
      "/admin/",
      "/admin/journal",
      "/api/v1/admin/journal",
      "/%61dmin",
      "//admin",
    ])
      for (const headers of [{}, forged]) {
        const { status } = await site.get(OWN, path, { headers });
        expect([path, status === 200]).toEqual([path, false]);
      }
    expect((await site.get(OWN, "/admin", { headers: session })).status).toBe(200);
    for (const [host, headers] of [
      ["a.example", session],
      ["b.example", { ...session, ...forged }],
      ["c.example", { ...session, "remote-user": "mallory", Remote_User: "mallory" }],
    ] as const) {
      const sent = { method: "PUT", headers: { ...headers }, body: JSON.stringify({ reason: "spam" }) };
      expect((await site.get(OWN, `/api/v1/admin/hosts/${host}`, sent)).status).toBe(200);
    }
    const { data } = await operateAs(site.curt, TOKEN)("GET", "journal");
    expect(data.entries.map(({ by }: { by: string }) => by)).toEqual([name, name, name]);
  });

  test("asks nobody to sign in at short addresses, previews and reports, and passes no name on there", async () => {
    await using site = await open();
    await site.curt.shorten(
      { original_url: "https://example.com/", custom_code: "open" },
      { Authorization: `Bearer ${CREATOR}` },
    );
    const before = site.asked.length;
    for (const [path, status] of [
      ["/open", 302],
      ["/open+", 200],
      ["/open+report", 200],
      ["/administrator", 404],
    ] as const)
      expect([path, (await site.get(OWN, path, { headers: { "Remote-User": "mallory" } })).status]).toEqual([
        path,
        status,
      ]);
    expect(site.asked.length).toBe(before);
  });

  const form = (headers: Record<string, string>, body: string) => ({
    method: "POST",
    headers: { "Content-Type": "application/x-www-form-urlencoded", ...headers },
    body,
  });

  test("names colleagues on the pages that need it, and asks others to sign in there", async () => {
    await using site = await open();
    const forged = { "Remote-Creator": "mallory", Remote_Creator: "mallory" };
    const creates = form(forged, "original_url=https://example.com/&custom_code=mine");
    for (const path of ["/", "/+all", "/+links", "/+go?q=mine", "/+new", "/mine+manage"])
      for (const init of [creates, { headers: forged }])
        expect([path, (await site.get(OWN, path, init)).status]).toEqual([path, 302]);
    const byAlice = form({ ...session, ...forged }, "original_url=https://example.com/&custom_code=mine");
    expect((await site.get(OWN, "/", byAlice)).status).toBe(303);
    expect((await site.get(OWN, "/mine")).status).toBe(302);
    const page = await site.get(OWN, "/mine+manage", { headers: session });
    expect(page.status).toBe(200);
    const found = await operateAs(site.curt, TOKEN)("GET", "links/mine");
    expect(found.data.owner).toBe(name);
  });

  test("names colleagues in the API, where others pass without a name", async () => {
    await using site = await open();
    const send = async (method: string, path: string, headers: Record<string, string>, body?: object) => {
      const init = { method, headers: { "Content-Type": "application/json", ...headers } };
      const sent = await site.get(OWN, path, body ? { ...init, body: JSON.stringify(body) } : init);
      return { status: sent.status, data: ((await sent.json()) as { data: Record<string, unknown> }).data };
    };
    const forged = { "Remote-Creator": "mallory" };
    const target = "https://example.com/";
    const created = await send(
      "POST",
      "/api/v1/links",
      { ...session, ...forged },
      { target, code: "of-alice" },
    );
    expect([created.status, created.data["owner"]]).toEqual([201, name]);
    expect((await send("POST", "/api/v1/links", forged, { target })).status).toBe(401);
    expect((await send("GET", "/api/v1/links?owner=me", forged)).status).toBe(403);
    expect((await send("GET", "/api/v1/links?owner=me", session)).status).toBe(200);
    const byProgram = { ...forged, Authorization: `Bearer ${CREATOR}` };
    const ofProgram = await send("POST", "/api/v1/links", byProgram, { target });
    expect([ofProgram.status, ofProgram.data["owner"]]).toEqual([201, undefined]);
    expect((await send("PATCH", "/api/v1/links/of-alice", forged, { title: "x" })).status).toBe(401);
    const byKey = { ...forged, Authorization: `Bearer ${String(created.data["manage_key"])}` };
    expect((await send("PATCH", "/api/v1/links/of-alice", byKey, { title: "By key" })).status).toBe(200);
    const ended = await send("DELETE", "/api/v1/links/of-alice", { Cookie: "session=of-bob" });
    expect(ended.status).toBe(403);
  });
});
