import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";

import { runCommand } from "../cli/commands.ts";
import { run } from "../cli/run.ts";
import { connect } from "../mcp/connect.ts";
import { callApi, createManagedLink } from "../support/managed-links.ts";
import { type RunningService, startService, temporaryFolder, toDomain } from "../support/service.ts";
import { sendRaw } from "./raw.ts";

const HOSTS = ["curt.example", "go.example.com", "xn--bj0bj06e.example"] as const;
type Host = (typeof HOSTS)[number];
const ADMIN_TOKEN = "the-operator's-token";
const SETTINGS = { DOMAINS: "https://go.example.com, https://한글.example", ADMIN_TOKEN, EDITS: "on" };
const targetOf = (host: string) => `https://example.com/at-${host}`;

let curt: RunningService;
let at: Record<Host, RunningService>;
beforeAll(async () => {
  curt = await startService(SETTINGS);
  at = Object.fromEntries(HOSTS.map((host) => [host, toDomain(curt, host)])) as typeof at;
});
afterAll(() => curt[Symbol.asyncDispose]());

const createLink = async (on: RunningService, body: object): Promise<Record<string, any>> =>
  (await createManagedLink(on, body)).data;

/** Creates a link with the same code at every domain, and visits it, so that it is cached. */
async function createEverywhere(code: string, more: object = {}) {
  const links = new Map<Host, Record<string, any>>();
  for (const host of HOSTS) {
    links.set(host, await createLink(at[host], { target: targetOf(host), code, ...more }));
    await at[host].fetch(`/${encodeURIComponent(code)}`);
  }
  return (host: Host) => links.get(host) ?? {};
}

const locationOf = async (on: RunningService, path: string) => (await on.fetch(path)).headers.get("location");
/** Visits of people and bots. */
async function visitsOf(host: Host, code: string): Promise<number> {
  const { data } = await callApi(at[host], "GET", `/api/v1/links/${code}/stats`);
  return data["visits"] + data["bots"];
}

async function untilVisited(host: Host, code: string, visits: number): Promise<void> {
  while ((await visitsOf(host, code)) < visits) await Bun.sleep(20);
}

const operate = (method: string, path: string, body?: object) =>
  callApi(curt, method, `/api/v1/admin/${path}`, { key: ADMIN_TOKEN, body, ifMatch: "*" });

test("a request with two Host headers gets 400", async () => {
  for (const path of ["/both", "/", "/api/v1/shorten"]) {
    const request = `GET ${path} HTTP/1.1\r\nHost: curt.example\r\nHost: go.example.com\r\nConnection: close\r\n\r\n`;
    expect(await sendRaw(curt.origin, request)).toStartWith("HTTP/1.1 400 ");
  }
});

describe("a code", () => {
  test("is another link at each domain, whatever the spelling of the host", async () => {
    await createEverywhere("both");
    const raw = Buffer.from("한글.example").toString("latin1");
    const spellings: [string, Host][] = [
      ["curt.example", "curt.example"],
      ["GO.Example.COM", "go.example.com"],
      ["go.example.com:8443", "go.example.com"],
      ["go.example.com.", "go.example.com"],
      ["XN--BJ0BJ06E.example", "xn--bj0bj06e.example"],
      [raw, "xn--bj0bj06e.example"],
      // All other hosts get the links of BASE_URL.
      ["www.go.example.com", "curt.example"],
      ["go.example.com.evil.example", "curt.example"],
      ["127.0.0.1", "curt.example"],
      ["go.example.com/both", "curt.example"],
      ["[", "curt.example"],
    ];
    for (const [spelling, host] of spellings)
      for (const path of ["/both", "/both/"])
        expect(await locationOf(toDomain(curt, spelling), path), spelling).toEqual(targetOf(host));
  });

  test("can't be read or changed at another domain, whatever the path, method or key", async () => {
    const password = "the password";
    for (const [owner, code] of [
      ["curt.example", "base-only"],
      ["go.example.com", "go-only"],
      ["xn--bj0bj06e.example", "각각"],
    ] as const) {
      const { manage_key: key } = await createLink(at[owner], { target: targetOf("owner"), code });
      await createLink(at[owner], { target: targetOf("owner"), code: `${code}-p`, password });
      expect(await locationOf(at[owner], `/${encodeURIComponent(code)}`)).toBe(targetOf("owner"));
      const prefixes = ["", "/", "//", ...HOSTS.map((host) => `${host}/`), `${owner.toUpperCase()}/`];
      prefixes.push("한글.example/", `${owner}:443/`, `${owner}./`, `https://${owner}/`, `${owner}//`, "../");
      const spellings = prefixes
        .flatMap((prefix) => [`${prefix}${code}`, `${prefix}${code}`.normalize("NFD")])
        .flatMap((spelling) => [
          encodeURIComponent(spelling),
          encodeURIComponent(encodeURIComponent(spelling)),
        ]);
      for (const host of HOSTS) {
        for (const spelling of new Set(spellings)) {
          if (host === owner && decodeURIComponent(spelling).normalize() === code) continue;
          const get = ["", "/", "+", "+qr", "+report", ".svg", ".png"].map((end) => `/${spelling}${end}`);
          const api = `/api/v1/links/${spelling}`;
          const requests: [string, string, BunFetchRequestInit?][] = [
            ...[...get, api, `${api}/stats`].flatMap((path): [string, string][] => [
              ["GET", path],
              ["HEAD", path],
            ]),
            ["PATCH", api, { body: JSON.stringify({ target: "https://example.com/changed" }) }],
            ["DELETE", api],
            ["POST", `${api}/reports`, { body: JSON.stringify({ reason: "spam" }) }],
            ["POST", `/${spelling}+report`, { body: new URLSearchParams({ reason: "spam" }) }],
            ["POST", `/${spelling}+manage`, { body: new URLSearchParams({ key, action: "withdraw" }) }],
            ["POST", `/${spelling}-p`, { body: new URLSearchParams({ password }) }],
          ];
          for (const [method, path, init] of requests) {
            const Authorization = `Bearer ${key}`;
            const response = await at[host].fetch(path, { method, headers: { Authorization }, ...init });
            const text = await response.text();
            const isFound = response.status < 400 && response.headers.get("location") !== null;
            const isShown =
              text.replaceAll(/<wbr\/>|<\/?span>/g, "").includes(targetOf("owner")) ||
              text.includes("/changed");
            const request = `${method} ${host} ${path}`;
            const isRefused = [400, 404, 405].includes(response.status);
            expect([response.status, isRefused, isFound, isShown], request).toEqual([
              response.status,
              true,
              false,
              false,
            ]);
          }
          const { data } = await callApi(at[host], "GET", `/api/v1/codes/${spelling}`);
          expect([spelling, data?.["available"] ?? true]).toEqual([spelling, true]);
        }
      }
      const { data } = await callApi(at[owner], "GET", `/api/v1/links/${encodeURIComponent(code)}`);
      expect(data).toMatchObject({ target: targetOf("owner"), state: "active" });
    }
  });

  test("has addresses, pages, images, statistics and a key of its own at each domain", async () => {
    const linkAt = await createEverywhere("같은");
    const path = encodeURIComponent("같은");
    for (const host of HOSTS) {
      const origin = `https://${host.replace("xn--bj0bj06e", "한글")}`;
      const link = linkAt(host);
      expect(link).toMatchObject({ code: "같은", short_url: `${origin}/같은/` });
      expect(link["qr"].svg).toBe(`https://${host}/${path}.svg`);
      const page = await at[host].fetch(`/${path}+`, { headers: { Accept: "text/html" } });
      const text = (await page.text()).replaceAll(/<wbr\/>|<\/?span>/g, "");
      expect(text).toContain(`<meta property="og:url" content="https://${host}/`);
      expect(text).toContain(targetOf(host));
      const others = HOSTS.filter((other) => other !== host);
      for (const other of others) {
        expect(text).not.toContain(other);
        const changed = await callApi(at[other], "PATCH", `/api/v1/links/${path}`, {
          key: link["manage_key"],
          body: { target: "https://example.com/changed" },
        });
        expect([changed.status, changed.reason]).toEqual([403, "key.wrong"]);
      }
    }
    const images = await Promise.all(
      HOSTS.map(async (host) => (await at[host].fetch(`/${path}.svg`)).text()),
    );
    expect(new Set(images).size).toBe(HOSTS.length);
    for (const _ of [1, 2]) await at["go.example.com"].fetch(`/${path}`);
    await untilVisited("go.example.com", path, 3);
    expect(await visitsOf("curt.example", path)).toBe(1);
  });

  test("has another key at each domain, even if its links are created at the same moment", async () => {
    await using still = await startService(SETTINGS, { standsStill: true });
    const keys = new Set<string>();
    for (const host of HOSTS) {
      const body = { target: targetOf(host), code: "keys", domain: host };
      const { manage_key: key } = await createLink(toDomain(still, "curt.example"), body);
      keys.add(key);
      expect(
        (await callApi(toDomain(still, host), "PATCH", "/api/v1/links/keys", { key, body: {} })).status,
      ).not.toBe(403);
    }
    expect(keys.size).toBe(HOSTS.length);
    for (const key of keys) await callApi(still, "DELETE", "/api/v1/links/keys", { key });
    const statuses = HOSTS.map(async (host) => (await toDomain(still, host).fetch("/keys")).status);
    expect(await Promise.all(statuses)).toEqual([410, 302, 302]);
  });

  test("has its own limit of wrong passwords at each domain, even if its links are created at the same moment", async () => {
    const settings = { ...SETTINGS, LIMIT_PASSWORDS: "1/1h", TRUSTED_PROXIES: "127.0.0.1" };
    await using still = await startService(settings, { standsStill: true });
    const services = HOSTS.map((host) => toDomain(still, host));
    const wrong = new URLSearchParams({ password: "wrong" });
    for (const [nth, host] of HOSTS.entries())
      await createLink(services[nth] as RunningService, {
        target: targetOf(host),
        code: "tries",
        password: "right",
      });
    const attempt = async (service: RunningService | undefined, client: number) => {
      const headers = { "X-Forwarded-For": `192.0.2.${client}` };
      return (await service?.fetch("/tries", { method: "POST", headers, body: wrong }))?.status;
    };
    for (let client = 0; client < 10; client++) expect(await attempt(services[0], client)).toBe(401);
    expect([await attempt(services[0], 10), await attempt(services[1], 10)]).toEqual([429, 401]);
  });

  test("changes and ends at its own domain only", async () => {
    const linkAt = await createEverywhere("changes");
    const { manage_key: key } = linkAt("go.example.com");
    const go = at["go.example.com"];
    await callApi(go, "PATCH", "/api/v1/links/changes", { key, body: { target: "https://example.com/new" } });
    expect(await locationOf(go, "/changes")).toBe("https://example.com/new");
    await callApi(go, "DELETE", "/api/v1/links/changes", { key });
    expect((await go.fetch("/changes")).status).toBe(410);
    expect(await locationOf(curt, "/changes")).toBe(targetOf("curt.example"));
  });

  test("has its own password cookie and its own number of visits at each domain", async () => {
    await createEverywhere("closed", { password: "the password", max_visits: 1 });
    const body = new URLSearchParams({ password: "the password" });
    const response = await at["go.example.com"].fetch("/closed", { method: "POST", body });
    expect([response.status, response.headers.get("location")]).toEqual([303, targetOf("go.example.com")]);
    const [Cookie = ""] = response.headers.get("set-cookie")?.split(";") ?? [];
    expect((await at["go.example.com"].fetch("/closed", { headers: { Cookie } })).status).toBe(410);
    await untilVisited("go.example.com", "closed", 1);
    expect((await curt.fetch("/closed", { headers: { Cookie } })).status).toBe(401);
    expect((await curt.fetch("/closed", { method: "POST", body })).status).toBe(303);
  });

  test("is reported, disabled and searched by its domain and code", async () => {
    const linkAt = await createEverywhere("reported");
    const reported = await callApi(at["go.example.com"], "POST", "/api/v1/links/reported/reports", {
      body: { reason: "phishing" },
    });
    expect(reported.status).toBe(202);
    const { data: cases } = await operate("GET", "cases");
    expect(cases["cases"].map(({ code }: { code: string }) => code)).toContain("go.example.com/reported");
    const path = "links/go.example.com%2Freported";
    expect((await operate("POST", `${path}/disable`, { reason: "phishing" })).data["changed"]).toBeTrue();
    expect((await at["go.example.com"].fetch("/reported")).status).toBe(410);
    expect(await locationOf(curt, "/reported")).toBe(targetOf("curt.example"));
    const { data } = await operate("GET", `links?q=${encodeURIComponent("go.example.com/reported")}`);
    expect(data["links"]).toMatchObject([{ code: "go.example.com/reported", state: "disabled" }]);
    for (const host of HOSTS) {
      const key = host === "curt.example" ? "reported" : `${host}%2Freported`;
      const statistics = await callApi(at[host], "GET", `/api/v1/admin/links/${key}/stats`, {
        key: ADMIN_TOKEN,
      });
      expect([statistics.status, statistics.data["code"]]).toEqual([200, "reported"]);
    }
    expect((await operate("GET", path)).data["history"]).toHaveLength(1);
    expect((await operate("GET", "links/reported")).data["history"]).toEqual([]);
    expect(linkAt("go.example.com")["code"]).toBe("reported");
  });

  test("can be created for any domain of the instance from any other, and for no other domain", async () => {
    const created = await createLink(curt, { target: targetOf("x"), code: "sent", domain: "한글.example" });
    expect(created["short_url"]).toBe("https://한글.example/sent/");
    expect((await curt.fetch("/sent")).status).toBe(404);
    const korean = at["xn--bj0bj06e.example"];
    expect(await locationOf(korean, "/sent")).toBe(targetOf("x"));
    const changed = await callApi(korean, "DELETE", "/api/v1/links/sent", { key: created["manage_key"] });
    expect(changed.status).toBe(200);
    const base = await createLink(korean, { target: targetOf("x"), code: "back", domain: "CURT.example" });
    expect(base["short_url"]).toBe("https://curt.example/back/");
    for (const domain of ["www.curt.example", "go.example.com/x", "https://", "@", "한글"]) {
      const refusal = await callApi(curt, "POST", "/api/v1/links", { body: { target: "nothing", domain } });
      expect([refusal.status, refusal.reason], domain).toEqual([400, "target.scheme, domain.unknown"]);
    }
  });
});

describe("an Idempotency-Key", () => {
  test("is separate for each domain", async () => {
    const headers = { "Idempotency-Key": "one-for-each-domain" };
    const codes = new Set<string>();
    for (const host of HOSTS) {
      const send = () => at[host].shorten({ original_url: targetOf("x") }, headers);
      const [first, replay] = [await send(), await send()];
      const replayed = [first, replay].map((response) => response.headers.get("idempotent-replayed"));
      expect([host, ...replayed]).toEqual([host, null, "true"]);
      const { data } = (await first.json()) as { data: { code: string; short_url: string } };
      expect(await replay.json()).toMatchObject({ data });
      expect(new URL(data.short_url).hostname).toBe(host);
      codes.add(data.code);
    }
    expect(codes.size).toBe(HOSTS.length);
  });

  test("replays a batch with links of several domains", async () => {
    const go = at["go.example.com"];
    const items = [undefined, ...HOSTS, "nowhere.example"].map((domain) => ({
      target: targetOf("x"),
      domain,
    }));
    const headers = { "Content-Type": "application/json", "Idempotency-Key": "batch-of-all-domains" };
    const send = async () =>
      (
        await go.fetch("/api/v1/links/batch", { method: "POST", headers, body: JSON.stringify(items) })
      ).json();
    const first = (await send()) as { data: { results: Record<string, any>[] } };
    const urls = first.data.results.map(({ data, errors }) => data?.short_url ?? errors[0].reason);
    expect(urls.map((one: string) => one.replace(/\/[^/]*\/$/, ""))).toEqual([
      "https://go.example.com",
      "https://curt.example",
      "https://go.example.com",
      "https://한글.example",
      "domain.unknown",
    ]);
    expect(await send()).toEqual(first);
    for (const { data } of first.data.results.slice(0, 4)) {
      const { hostname } = new URL(data.ascii_url);
      const withdrawn = await callApi(at[hostname as Host], "DELETE", `/api/v1/links/${data.code}`, {
        key: data.manage_key,
      });
      expect(withdrawn.status).toBe(200);
    }
  });
});

test("`curt info` looks up an address at its domain, and the MCP tool refuses other domains than its own", async () => {
  await createEverywhere("command");
  for (const host of HOSTS) {
    const { stdout } = await run(["info", `https://${host}/command`], { CURT_URL: curt.origin });
    expect(stdout).toContain(targetOf(host));
  }
  await using tools = await connect({ CURT_URL: curt.origin });
  const link = (host: Host) => tools.call("look_inside", { link: `https://${host}/command` });
  expect((await link("curt.example")).text).toContain(targetOf("curt.example"));
  expect((await link("go.example.com")).isError).toBeTrue();
});

test("exports and imports keep links at their domain", async () => {
  using folder = temporaryFolder();
  const path = (name: string) => join(folder.path, name);
  const long = `${"l".repeat(63)}.${"o".repeat(63)}.example`;
  const DOMAINS = `https://go.example.com,https://${long}`;
  const settingsOf = (name: string) => ({
    DATABASE_URL: `sqlite:${path(name)}`,
    DATA_DIR: path(`${name}-data`),
    DOMAINS,
  });
  const command = async (args: string[], settings: Record<string, string>) =>
    (await runCommand(args, { PORT: "1", ...settings })).stdout;
  const hosts = ["curt.example", "go.example.com", long];
  const code = "한".repeat(64);
  const expectEverywhere = async (on: RunningService) => {
    for (const host of hosts)
      expect(await locationOf(toDomain(on, host), `/${encodeURIComponent(code)}`)).toBe(targetOf(host));
  };
  {
    await using from = await startService(settingsOf("from"));
    for (const host of hosts) await createLink(toDomain(from, host), { target: targetOf(host), code });
  }
  await command(["export", path("file")], settingsOf("from"));
  const copies = [settingsOf("empty"), settingsOf("used")] as const;
  {
    await using used = await startService(copies[1]);
    await createLink(used, { target: targetOf("used"), code: "used" });
  }
  for (const settings of copies) {
    await command(["import", "--new", path("file")], settings);
    await using on = await startService(settings);
    await expectEverywhere(on);
  }
  // Without its setting, a domain has no address. An import into an empty store keeps its links, one into a used store skips them.
  const single = { ...settingsOf("single"), DOMAINS: "" };
  await command(["import", "--new", path("file")], single);
  {
    await using on = await startService(single);
    for (const spelling of [`go.example.com/${code}`, `go.example.com/${code}`.normalize("NFD")])
      expect((await on.fetch(`/${encodeURIComponent(spelling)}`)).status).toBe(404);
  }
  const other = { ...copies[1], DOMAINS: `https://${long}` };
  expect(await command(["import", "--new", path("file")], other)).toContain("0 of 3 links added");
  expect(await command(["import", "--new", path("file")], other)).toContain("1 row left out");
  await Bun.write(
    path("links.csv"),
    `code,target\nhttps://go.example.com/csv,${targetOf("csv")}\nhttps://curt.example/csv,${targetOf("x")}\n`,
  );
  expect(await command(["import", path("links.csv")], copies[1])).toContain("1 of 1 links added");
  await using on = await startService(copies[1]);
  expect(await locationOf(toDomain(on, "go.example.com"), "/csv")).toBe(targetOf("csv"));
  expect((await on.fetch("/csv")).status).toBe(404);
  // An address of one domain can't name a link of another one.
  const paths = ["go.example.com/in", "go.example.com%2Fin"].map(
    (one) => `https://curt.example/${one},${targetOf("x")}`,
  );
  await Bun.write(path("paths.csv"), ["link,target", ...paths].join("\n"));
  expect(await command(["import", path("paths.csv")], copies[1])).toContain("0 of 2 links added");
  const table = `code,target\nwith,${targetOf("csv")}\n`;
  await Bun.write(path("codes.csv"), table);
  await Bun.write(path("ports.csv"), table.replace("with", "https://go.example.com:8443/port"));
  await command(["import", "--domain", "https://GO.example.com/", path("codes.csv")], copies[1]);
  await command(["import", path("ports.csv")], copies[1]);
  for (const one of ["/with", "/port"]) {
    expect(await locationOf(toDomain(on, "go.example.com"), one)).toBe(targetOf("csv"));
    expect((await on.fetch(one)).status).toBe(404);
  }
});
