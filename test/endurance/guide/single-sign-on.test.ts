// Runs the proxies of docs/single-sign-on.md in front of Curt and of a program that signs people in by a cookie.
import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { operateAs } from "../../admin/operator.ts";
import { freePort } from "../../support/free-port.ts";
import { type LocalService, ROOT, startService, temporaryFolder } from "../../support/service.ts";
import { NGINX, OWN, startBehindNginx } from "./nginx.ts";

const CADDY = Bun.which("caddy");
const TOKEN = "only-the-operator-knows-it";
const CREATOR = "only-for-creating-links";
const SETTINGS = {
  ADMIN_USER_HEADER: "Remote-User",
  ADMIN_TOKEN: TOKEN,
  CREATE_USER_HEADER: "Remote-User",
  CREATE_TOKEN: CREATOR,
};

const blocksOf = (file: string, language: string) =>
  [
    ...readFileSync(join(ROOT, file), "utf8").matchAll(
      new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"),
    ),
  ].map(([, text = ""]) => text);
const [SITE = ""] = blocksOf("docs/proxies.md", "nginx");
const IN_NGINX = blocksOf("docs/single-sign-on.md", "nginx");
const IN_CADDY = blocksOf("docs/single-sign-on.md", "caddyfile");

/** Like Authelia and oauth2-proxy: 200 with the name of the person whose cookie is right, 401 without one. */
function startAuthenticator(port: number) {
  const asked: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port,
    fetch({ url, headers }) {
      asked.push(new URL(url).pathname);
      const [, name] = /session=of-(\w+)/.exec(headers.get("cookie") ?? "") ?? [];
      if (name === undefined)
        return new Response(null, { status: 401, headers: { "Remote-User": "nobody" } });
      return new Response(null, {
        headers: { "Remote-User": name, "X-Auth-Request-Email": `${name}@example.com` },
      });
    },
  });
  return { asked, [Symbol.asyncDispose]: () => server.stop(true) };
}

/** The example for nginx, with the part for Authelia or oauth2-proxy where the document says. */
const siteWith = (part: string) =>
  SITE.replace(/^ {2}# No path after the name/m, (line) => `${part}\n${line}`);

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
    const created = await site.get(OWN, "/api/v1/shorten", {
      method: "POST",
      headers: { "Remote-User": "mallory" },
      body: JSON.stringify({ original_url: "https://example.com/" }),
    });
    expect(created.status).toBe(401);
    expect(site.asked.length).toBe(before);
  });
});

if (NGINX !== null)
  test("nginx lets only signed-in people create links with the form, with the path that the document adds", async () => {
    const port = await freePort();
    await using _ = startAuthenticator(port);
    const [part = ""] = IN_NGINX;
    const [, path = ""] = /# With CREATE_USER_HEADER: (\S+)/.exec(part) ?? [];
    const closed = part
      .replace(/location ~ \S+/, `location ~ ${path}`)
      .replace("127.0.0.1:9091", `127.0.0.1:${port}`);
    await using site = await startBehindNginx(siteWith(closed), { CREATE_USER_HEADER: "Remote-User" });
    const send = (headers: Record<string, string>) =>
      site.get(OWN, "/", {
        method: "POST",
        headers: { "Content-Type": "application/x-www-form-urlencoded", ...headers },
        body: "original_url=https://example.com/&custom_code=mine",
      });
    const refused = await send({ "Remote-User": "mallory" });
    expect([refused.status, refused.headers.get("location")]).toEqual([
      302,
      `https://auth.example.com/?rd=https://${OWN}/`,
    ]);
    expect((await send({ Cookie: "session=of-dave" })).status).toBe(303);
    expect((await site.get(OWN, "/mine")).status).toBe(302);
    const byProgram = { method: "POST", body: JSON.stringify({ original_url: "https://example.com/" }) };
    expect((await site.get(OWN, "/api/v1/shorten", byProgram)).status).toBe(401);
  });
