import { describe, expect, test } from "bun:test";

import { callApi, createManagedLink, OTHER, TARGET } from "../support/managed-links.ts";
import { type LocalService, type Settings, shareService, startService } from "../support/service.ts";

const FOREIGN = "https://website.example";
const NAMED = "https://숏.한국";
const NAMED_AS_SENT = "https://xn--0p4b.xn--3e0b707e";
const LOCAL = "http://localhost:5173";
const BODY = JSON.stringify({ original_url: TARGET });
/** Browsers send this body without a preflight. */
const PLAIN = { "Content-Type": "text/plain" };

const allowedBy = ({ headers }: Response) => headers.get("access-control-allow-origin");

/** Sends a create as a page of this origin does. */
async function create(service: LocalService, headers: Readonly<Record<string, string>>) {
  const init = { method: "POST", headers: { ...PLAIN, ...headers }, body: BODY };
  const response = await service.fetch("/api/v1/shorten", init);
  return [response.status, response.headers.get("curt-reason"), allowedBy(response)];
}

/** The CORS headers of a response to a page of this origin. */
async function read(service: LocalService, origin: string, path = "/api/v1/shorten") {
  return allowedBy(await service.fetch(path, { headers: { Origin: origin } }));
}

const REFUSED = [403, "cross-site", null];

describe("a private service without a token", () => {
  const curt = shareService({ POSTURE: "private", BASE_URL: "http://curt.internal", ORIGINS: NAMED });

  test("creates no links for pages of other origins", async () => {
    for (const headers of [
      { Origin: FOREIGN },
      { Origin: LOCAL },
      { Origin: "null" },
      { Origin: FOREIGN, "Sec-Fetch-Site": "cross-site" },
      { Origin: "http://wiki.internal", "Sec-Fetch-Site": "same-site" },
      { "Sec-Fetch-Site": "cross-site" },
    ] as Readonly<Record<string, string>>[])
      expect([headers, ...(await create(curt, headers))]).toEqual([headers, ...REFUSED]);
  });

  test("changes and withdraws none for them, even with the manage key", async () => {
    const { path, key } = await createManagedLink(curt);
    for (const method of ["PATCH", "DELETE"]) {
      const headers = { Authorization: `Bearer ${key}`, Origin: FOREIGN };
      const response = await curt.fetch(path, { method, headers, body: JSON.stringify({ target: OTHER }) });
      expect([response.status, response.headers.get("curt-reason")]).toEqual([403, "cross-site"]);
    }
    expect((await callApi(curt, "GET", path)).data).toMatchObject({ target: TARGET, state: "active" });
  });

  test("lets them read neither the API nor QR codes, and refuses their preflights", async () => {
    const { code, path } = await createManagedLink(curt);
    for (const one of [path, `${path}/stats`, "/api/v1/shorten", "/api/v1/nothing", `/${code}.svg`])
      expect([one, await read(curt, FOREIGN, one)]).toEqual([one, null]);
    const headers = { Origin: FOREIGN, "Access-Control-Request-Method": "POST" };
    const preflight = await curt.fetch("/api/v1/links", { method: "OPTIONS", headers });
    expect([allowedBy(preflight), preflight.headers.get("access-control-allow-methods")]).toEqual([
      null,
      null,
    ]);
  });

  test("admits its own pages, programs, and the origins that ORIGINS names", async () => {
    for (const headers of [
      {},
      { Origin: "http://curt.internal" },
      { Origin: "http://curt.internal", "Sec-Fetch-Site": "same-origin" },
    ] as Readonly<Record<string, string>>[])
      expect(await create(curt, headers)).toEqual([201, null, null]);
    const named = { Origin: NAMED_AS_SENT, "Sec-Fetch-Site": "cross-site" };
    expect(await create(curt, named)).toEqual([201, null, NAMED_AS_SENT]);
    const { headers } = await curt.fetch("/api/v1/shorten", { headers: named });
    expect(headers.get("vary")).toContain("Origin");
    const asked = { ...named, "Access-Control-Request-Method": "POST" };
    const preflight = await curt.fetch("/api/v1/links", { method: "OPTIONS", headers: asked });
    expect(allowedBy(preflight)).toBe(NAMED_AS_SENT);
  });
});

test("a private service on loopback admits pages on loopback, and no others", async () => {
  await using curt = await startService({ POSTURE: "private", BASE_URL: "http://localhost:3000" });
  for (const origin of [LOCAL, "http://127.0.0.1:8080", "http://[::1]", "http://app.localhost"]) {
    expect(await create(curt, { Origin: origin })).toEqual([201, null, origin]);
    expect(await read(curt, origin)).toBe(origin);
  }
  for (const origin of [FOREIGN, "http://localhost.example", "null"])
    expect(await create(curt, { Origin: origin })).toEqual(REFUSED);
});

test.each<[string, Settings]>([
  ["public", { POSTURE: "public" }],
  ["private service with a token", { POSTURE: "private", CREATE_TOKEN: "t".repeat(32) }],
])("a %s service admits every origin", async (_name, settings) => {
  await using curt = await startService(settings);
  const headers = { Origin: FOREIGN, Authorization: `Bearer ${"t".repeat(32)}` };
  expect(await create(curt, headers)).toEqual([201, null, "*"]);
  expect(await read(curt, FOREIGN)).toBe("*");
});
