import { beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";

import en from "../../src/locales/en.json";
import { FOLDER, hostilePaths } from "../links/hostile-paths.ts";
import { addGuarded } from "../support/guarded-links.ts";
import { callApi, createManagedLink } from "../support/managed-links.ts";
import {
  disableLink,
  outcomeOf,
  type RunningService,
  shareService,
  startService,
  temporaryFolder,
  toDomain,
} from "../support/service.ts";
import { linkOf, untilCounted, WINDOWS_CHROME } from "../visits/visits.ts";
import { HTML, sendForm } from "./markup.ts";
import { sendRaw } from "./raw.ts";

const WIKI = "https://d.example/wiki";
const TOKEN = "operator-token-of-24-chars";
const PASSWORD = "open sesame";
const PERSON = { "User-Agent": WINDOWS_CHROME, ...HTML };
const FROM_HERE = {
  ...PERSON,
  "Sec-Fetch-Dest": "document",
  "Sec-Fetch-Mode": "navigate",
  "Sec-Fetch-Site": "same-origin",
};
const PRIVATE = { POSTURE: "private" };

/** The status and the Location of a response. */
async function follow(service: RunningService, path: string, init: BunFetchRequestInit = {}) {
  const response = await service.fetch(path, init);
  await response.bytes();
  return [response.status, response.headers.get("location")];
}

/** The same for a path as it is written. */
async function followRaw(service: RunningService, path: string, version: "1.0" | "1.1") {
  const host = version === "1.1" ? "Host: x\r\n" : "";
  const request = Buffer.from(`GET ${path} HTTP/${version}\r\n${host}Connection: close\r\n\r\n`);
  const response = await sendRaw(service.origin, request);
  return [Number(response.slice(9, 12)), /^location: (.*)\r$/im.exec(response)?.[1] ?? null] as const;
}

describe("a link with forward_path", () => {
  const curt = shareService({ ...PRIVATE, CACHE_SECONDS: "60" });
  beforeAll(async () => {
    await addGuarded(curt, "wiki", { target: WIKI, forwardPath: true });
    await addGuarded(curt, "both", { target: `${WIKI}?q=1#f`, forwardPath: true, forwardQuery: true });
    await addGuarded(curt, "place", { target: `${WIKI}/{path}/edit`, forwardPath: true });
    await addGuarded(curt, "team", { target: FOLDER, forwardPath: true });
    await addGuarded(curt, "위키", { target: WIKI, forwardPath: true });
    await createManagedLink(curt, { target: WIKI, code: "plain" });
  });

  test.each([
    ["/wiki", WIKI],
    ["/wiki/", WIKI],
    ["/wiki/a", `${WIKI}/a`],
    ["/wiki/a/b/", `${WIKI}/a/b/`],
    ["/wiki/a%2fb", `${WIKI}/a%2fb`],
    ["/wiki/http://h", `${WIKI}/http://h`],
    ["/wiki/한글", `${WIKI}/%ED%95%9C%EA%B8%80`],
    ["/wiki/a+", `${WIKI}/a+`],
    ["/wiki/a.svg", `${WIKI}/a.svg`],
    ["/wiki/a?x=1", `${WIKI}/a`],
    ["/%77iki/a", `${WIKI}/a`],
    ["/위키/a", `${WIKI}/a`],
    ["/both/a?x=1", `${WIKI}/a?q=1&x=1#f`],
    ["/place/42", `${WIKI}/42/edit`],
    ["/place", `${WIKI}/edit`],
  ])("redirects %s to %s, for GET and HEAD and over HTTP/1.0", async (path, destination) => {
    for (const method of ["GET", "HEAD"])
      expect(await follow(curt, path, { method })).toEqual([302, destination]);
    expect(await followRaw(curt, path, "1.0")).toEqual([302, destination]);
  });

  test("lets no cache keep the response", async () => {
    for (const path of ["/wiki", "/wiki/a"])
      expect((await curt.fetch(path)).headers.get("cache-control")).toBe("no-store");
  });

  test("never leads out of the destination's folder", async () => {
    const paths = hostilePaths().filter((_, nth) => nth % 6 === 0);
    expect(paths.length).toBeGreaterThan(300);
    for (const path of paths)
      for (const version of ["1.0", "1.1"] as const) {
        const [status, location] = await followRaw(curt, `/team${path}`, version);
        if (status === 404) continue;
        expect([status, location?.startsWith(`${FOLDER}/`)], `${version} ${path}`).toEqual([302, true]);
        expect(new URL(location ?? "").pathname, path).toStartWith("/team/wiki/");
        expect(version, path).toBe("1.1");
      }
  });

  test("answers 404 to a path whose address is longer than 4,700 characters", async () => {
    const room = 4700 - "/wiki/".length;
    expect((await follow(curt, `/wiki/${"a".repeat(room)}`))[1]).toHaveLength(WIKI.length + 1 + room);
    expect(await follow(curt, `/wiki/${"a".repeat(room + 1)}`)).toEqual([404, null]);
  });

  test("keeps its preview and its QR page behind a slash", async () => {
    for (const suffix of ["+", "+qr"])
      expect(await follow(curt, `/wiki/${suffix}`, { headers: HTML })).toEqual([308, `/wiki${suffix}`]);
  });

  test("is described on its preview and QR page", async () => {
    const fact = `<dt>${en.forward_path}</dt><dd>${en["forward_path.yes"]}</dd>`;
    for (const suffix of ["+", "+qr"])
      for (const [code, isShown] of [
        ["wiki", true],
        ["plain", false],
      ] as const)
        expect((await (await curt.fetch(`/${code}${suffix}`, { headers: HTML })).text()).includes(fact)).toBe(
          isShown,
        );
  });

  test("counts visits with a path", async () => {
    await addGuarded(curt, "counted", { target: WIKI, forwardPath: true });
    await curt.fetch("/counted/a", { headers: PERSON });
    await curt.fetch("/counted/a", { method: "HEAD", headers: PERSON });
    await curt.fetch("/counted/%252e%252e/", { headers: PERSON });
    await curt.fetch("/counted/b", { headers: PERSON });
    await untilCounted(curt, "counted", 2);
    expect((await linkOf(curt, "counted"))["visits"]).toBe(2);
  });

  test("takes no form and no other method", async () => {
    const response = await sendForm(curt, "/wiki/a", {}, FROM_HERE);
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
    expect((await curt.fetch("/plain/a", { method: "OPTIONS" })).status).toBe(404);
  });

  test("answers other methods at a path like at its own address", async () => {
    await addGuarded(curt, "locked", { target: WIKI, password: PASSWORD, forwardPath: true });
    const gone = await createManagedLink(curt, { target: WIKI, code: "left", forward_path: true });
    await callApi(curt, "DELETE", gone.path, { key: gone.key });
    for (const code of ["wiki", "locked", "left"])
      for (const method of ["OPTIONS", "PUT", "POST", "PATCH", "DELETE", "TRACE", "QUERY"]) {
        const [own, behind] = await Promise.all(
          [`/${code}`, `/${code}/a/b`].map(async (path) => {
            const { status, headers } = await curt.fetch(path, { method });
            return [status, headers.get("allow"), headers.get("curt-reason")];
          }),
        );
        expect(behind, `${method} ${code}`).toEqual(own);
      }
    expect((await curt.fetch("/locked/a", { method: "PUT" })).headers.get("allow")).toBe(
      "GET, HEAD, POST, OPTIONS",
    );
  });

  test("starts and stops when it is changed", async () => {
    const { code, path, key } = await createManagedLink(curt, { target: WIKI });
    for (const forward_path of [true, false, true, null]) {
      await callApi(curt, "PATCH", path, { key, body: { forward_path } });
      for (let nth = 0; nth < 2; nth++)
        expect(await follow(curt, `/${code}/a`)).toEqual(
          forward_path === true ? [302, `${WIKI}/a`] : [404, null],
        );
      expect(await follow(curt, `/${code}`)).toEqual([302, WIKI]);
    }
  });

  test("answers like the link once that is withdrawn or disabled, and 404 for a link without it", async () => {
    for (const [forward_path, expected] of [
      [true, "410"],
      [false, "404"],
    ] as const) {
      const gone = await createManagedLink(curt, { target: WIKI, forward_path });
      await callApi(curt, "DELETE", gone.path, { key: gone.key });
      expect(await outcomeOf(curt.fetch(`/${gone.code}/a`))).toStartWith(expected);
      const bad = await createManagedLink(curt, { target: WIKI, forward_path });
      await disableLink(curt, bad.code, "spam");
      expect(await outcomeOf(curt.fetch(`/${bad.code}/a`))).toStartWith(expected);
    }
  });

  test("isn't guessed from other addresses", async () => {
    for (const path of ["/plain/a", "/nobody/a", "/api/wiki", "/docs/a", "/wiki.a/b", "//wiki/a", "/%zz/a"])
      expect((await followRaw(curt, path, "1.1"))[0], path).toBe(404);
  });

  test("forwards after the right password, whose cookie opens every path", async () => {
    await addGuarded(curt, "closed", { target: WIKI, password: PASSWORD, forwardPath: true });
    expect(await follow(curt, "/closed/a/b", { headers: PERSON })).toEqual([403, null]);
    const response = await sendForm(curt, "/closed/a/b", { password: PASSWORD }, FROM_HERE);
    expect([response.status, response.headers.get("location")]).toEqual([303, `${WIKI}/a/b`]);
    const [cookie = ""] = response.headers.getSetCookie();
    expect(cookie).toContain("; Path=/closed;");
    const headers = { ...PERSON, Cookie: cookie.split(";")[0] ?? "" };
    expect(await follow(curt, "/closed/c", { headers })).toEqual([302, `${WIKI}/c`]);
  });

  test("uses up visits only for paths that it passes on", async () => {
    await addGuarded(curt, "twice", { target: WIKI, maxVisits: 2, forwardPath: true });
    expect(await follow(curt, "/twice/%252e%252e/a")).toEqual([404, null]);
    expect(await follow(curt, "/twice/a")).toEqual([302, `${WIKI}/a`]);
    expect(await follow(curt, "/twice/b")).toEqual([302, `${WIKI}/b`]);
    expect((await follow(curt, "/twice/c"))[0]).toBe(410);
  });

  test("refuses {path} in the destination's host", async () => {
    const body = { target: "https://{path}.d.example/", forward_path: true };
    expect(
      await outcomeOf(
        curt.fetch("/api/v1/links", {
          method: "POST",
          body: JSON.stringify(body),
          headers: { "Content-Type": "application/json" },
        }),
      ),
    ).toBe("400 target.path-in-host");
  });
});

test("a page of an unknown address still suggests the code before the path", async () => {
  await using curt = await startService(PRIVATE);
  await createManagedLink(curt, { target: WIKI, code: "plain" });
  expect(await (await curt.fetch("/plain/a", { headers: HTML })).text()).toContain('href="/plain"');
});

test("an unknown address of two segments counts as one unknown address", async () => {
  await using curt = await startService({ ...PRIVATE, LIMIT_UNKNOWN: "3/1h" });
  await addGuarded(curt, "wiki", { target: WIKI, forwardPath: true });
  const statuses = [];
  for (const path of ["/x/a", "/wiki/a", "/wiki/%252e%252e/a", "/y/a", "/z/a"])
    statuses.push((await curt.fetch(path)).status);
  expect(statuses).toEqual([404, 302, 404, 404, 429]);
});

test("a blocklist's rule about a path also stops visits that lead there", async () => {
  using folder = temporaryFolder();
  const list = join(folder.path, "list");
  await Bun.write(list, "https://d.example/wiki/bad\n");
  await using curt = await startService({ ...PRIVATE, BLOCKLIST: list });
  await addGuarded(curt, "wiki", { target: WIKI, forwardPath: true });
  await addGuarded(curt, "few", { target: WIKI, forwardPath: true, maxVisits: 1 });
  for (const code of ["wiki", "few"]) {
    expect(await outcomeOf(curt.fetch(`/${code}/bad`))).toBe("410 link.disabled");
    expect(await follow(curt, `/${code}/good`)).toEqual([302, `${WIKI}/good`]);
  }
});

test("the interstitial shows the address with the path, and leads there", async () => {
  await using curt = await startService({ ...PRIVATE, INTERSTITIAL: "all" });
  for (const [code, terms] of Object.entries({ open: {}, few: { maxVisits: 1 } })) {
    await addGuarded(curt, code, { target: WIKI, forwardPath: true, ...terms });
    const page = await (await curt.fetch(`/${code}/a/b`, { headers: PERSON })).text();
    // Marks for line breaks are between its parts.
    expect(page.replaceAll(/<[^>]*>/g, "")).toContain(`${WIKI}/a/b`);
    const [, form = ""] = /name="form" value="([^"]*)"/.exec(page) ?? [];
    const response = await sendForm(curt, `/${code}/a/b`, { form }, FROM_HERE);
    expect([response.status, response.headers.get("location")]).toEqual([303, `${WIKI}/a/b`]);
  }
});

describe("a report of a visit with a path", () => {
  const curt = shareService({
    ...PRIVATE,
    INTERSTITIAL: "all",
    ADMIN_TOKEN: TOKEN,
    DOMAINS: "https://go.example.com",
  });
  const other = toDomain(curt, "go.example.com");
  const PATH = "/a/%ED%95%9C%3C?";
  const VISITED = "/a/%ED%95%9C%3C";
  const CARRIED = "?path=%2Fa%2F%25ED%2595%259C%253C";

  beforeAll(async () => {
    for (const service of [curt, other])
      await createManagedLink(service, { target: WIKI, code: "Wiki", forward_path: true });
    await createManagedLink(curt, { target: WIKI, code: "plain" });
  });

  const textOf = async (path: string, service: Pick<RunningService, "fetch"> = curt) =>
    (await service.fetch(path, { headers: PERSON })).text();
  const notesOf = async (code: string) => {
    const { data } = await callApi(curt, "GET", `/api/v1/admin/links/${code}`, { key: TOKEN });
    return (data.case?.notes ?? []).map(({ note }: { note: string }) => note);
  };

  test("is led to by the interstitial and the preview, which keep the path", async () => {
    expect(await textOf(`/Wiki${PATH}x=1`)).toContain(`href="/Wiki+${CARRIED}"`);
    expect(await textOf(`/Wiki+${CARRIED}`)).toContain(`href="/Wiki+report${CARRIED}"`);
    const form = await textOf(`/Wiki+report${CARRIED}`);
    expect(form).toContain(`<input type="hidden" name="path" value="${VISITED}"/>`);
    expect(form).toContain(`curt.example/Wiki${VISITED}<`);
  });

  test.each([
    ["curt.example/Wiki/a/b", "/Wiki+report?path=%2Fa%2Fb#reason"],
    ["https://curt.example/Wiki/a/b?x#y", "/Wiki+report?path=%2Fa%2Fb#reason"],
    ["curt.example/Wiki/", "/Wiki+report#reason"],
    ["curt.example/plain/a", "/plain+report#reason"],
    ["curt.example/Wiki/%252e%252e/a", "/Wiki+report#reason"],
    ["go.example.com/Wiki/a", "https://go.example.com/+report?address=go.example.com%2FWiki%2Fa"],
  ])("keeps the path of the pasted address %s", async (address, location) => {
    expect(
      await follow(curt, `/+report?address=${encodeURIComponent(address)}`, { headers: PERSON }),
    ).toEqual([303, location]);
  });

  test("shows the path to the operator, before the note", async () => {
    const report = (code: string, fields: Record<string, string>) =>
      sendForm(curt, `/${code}+report`, { reason: "phishing", ...fields }, FROM_HERE);
    expect((await report("Wiki", { path: VISITED, note: "My bank" })).status).toBe(303);
    expect(await notesOf("Wiki")).toEqual([`/Wiki${VISITED}\nMy bank`]);
    await report("plain", { path: "/a", note: "My bank" });
    expect(await notesOf("plain")).toEqual(["My bank"]);
  });

  test("keeps a refused form's path, and bounds it", async () => {
    const refused = await sendForm(curt, "/Wiki+report", { path: VISITED, note: "x" }, FROM_HERE);
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain(`name="path" value="${VISITED}"`);
    for (const [nth, [path, note, expected]] of (
      [
        [`/${"a".repeat(3000)}`, "", 2000],
        [`/${"a".repeat(3000)}`, "n".repeat(1000), 2000],
        ["/a", "n".repeat(2000), 2000],
        [`/${"a".repeat(6000)}`, "n", 2000],
        ["/\u0000\r\n<b>", "n", 1],
        ["https://evil.example/", "n", 1],
        ["//evil.example/", "n", 1],
        ["/../x", "n", 1],
      ] as const
    ).entries()) {
      const code = `bounded${nth}`;
      await createManagedLink(curt, { target: WIKI, code, forward_path: true });
      const fields = { reason: "spam", path, note };
      expect((await sendForm(curt, `/${code}+report`, fields, FROM_HERE)).status).toBe(303);
      const [kept = ""] = await notesOf(code);
      expect(Array.from(kept).length, path.slice(0, 20)).toBe(expected);
      expect(kept).toEndWith(note);
    }
  });
});

describe("where anybody may create links", () => {
  const curt = shareService();

  test("only makers with a name may pass paths on, also by a change", async () => {
    const create = (forward_path: boolean) =>
      callApi(curt, "POST", "/api/v1/links", { body: { target: WIKI, forward_path } });
    const refused = await create(true);
    expect([refused.status, refused.reason]).toEqual([400, "forward_path.anonymous"]);
    expect(refused.message).toContain("forward_path");
    expect((await create(false)).status).toBe(201);
    const { path, key } = await createManagedLink(curt, { target: WIKI });
    const change = (forward_path: boolean | null) =>
      callApi(curt, "PATCH", path, { key, body: { forward_path } });
    expect((await change(true)).status).toBe(400);
    expect((await change(null)).status).toBe(200);
  });

  test("the forms don't offer it", async () => {
    expect(await (await curt.fetch("/", { headers: HTML })).text()).not.toContain('name="forward_path"');
  });

  test("a token lets its holder set it", async () => {
    await using closed = await startService({ CREATE_TOKEN: "a-long-enough-token-for-tests" });
    const { status } = await callApi(closed, "POST", "/api/v1/links", {
      key: "a-long-enough-token-for-tests",
      body: { target: WIKI, forward_path: true },
    });
    expect(status).toBe(201);
  });
});
