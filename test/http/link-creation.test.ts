import { describe, expect, spyOn, test } from "bun:test";

import { hashPassword } from "../../src/links/terms/password.ts";
import en from "../../src/locales/en.json";
import { callApi } from "../support/managed-links.ts";
import { BASE_URL, outcomeOf, shareService, startService } from "../support/service.ts";

const DAY_MS = 86_400_000;
const target = "https://example.com/a";

const curt = shareService();

function post(body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return curt.fetch("/api/v1/links", {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "Content-Type": "application/json", ...headers },
  });
}

async function createLink(body: Record<string, unknown>): Promise<Record<string, any>> {
  const response = await post(body);
  const json = (await response.json()) as Record<string, any>;
  expect([response.status, json["status"], json["message"]]).toEqual([201, "success", en["link.made"]]);
  return json["data"];
}

const visit = (code: string) => curt.fetch(`/${encodeURIComponent(code)}/`);
const iso = (ms: number) => new Date(ms).toISOString();

describe("POST /api/v1/links", () => {
  test("answers 201 with the whole link, its manage key and its manage address", async () => {
    const response = await post({ target, code: "한글" });
    const { data } = (await response.json()) as Record<string, any>;
    const path = "%ED%95%9C%EA%B8%80";
    expect(response.status).toBe(201);
    expect(data).toEqual({
      code: "한글",
      short_url: `${BASE_URL}/한글/`,
      ascii_url: `${BASE_URL}/${path}/`,
      target,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      starts_at: null,
      expires_at: null,
      max_visits: null,
      visits_used: null,
      has_password: false,
      forward_query: false,
      forward_path: false,
      title: null,
      state: "active",
      disabled_reason: null,
      changed_at: null,
      visits: 0,
      qr: { svg: `${BASE_URL}/${path}.svg`, png: `${BASE_URL}/${path}.png` },
      manage_key: expect.stringMatching(/^[\w-]{22}$/),
    });
    const { headers } = response;
    expect(headers.get("location")).toBe(data["ascii_url"]);
    expect(headers.get("link")).toBe(`<${BASE_URL}/${path}+#key=${data["manage_key"]}>; rel="edit"`);
    expect(headers.get("cache-control")).toBe("no-store");
    expect((await visit("한글")).headers.get("location")).toBe(target);
    const { manage_key: _, title: __, ...shown } = data;
    const lookUp = await curt.fetch("/api/v1/links/한글");
    expect(((await lookUp.json()) as Record<string, any>)["data"]).toEqual(shown);
  });

  test("accepts an instant, a duration or null as expiry, and defaults to DEFAULT_EXPIRY", async () => {
    const ends = iso(curt.nowMs() + 30 * DAY_MS);
    expect(await createLink({ target, expires_at: ends })).toMatchObject({ expires_at: ends });
    expect(await createLink({ target, expires_at: "2999-12-31T23:59:59.5+09:00" })).toMatchObject({
      expires_at: "2999-12-31T14:59:59.500Z",
    });
    const { created_at, expires_at } = await createLink({ target, expires_at: "48h" });
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(2 * DAY_MS);
    await using other = await startService({ DEFAULT_EXPIRY: "24h" });
    const createThere = async (body: object) =>
      (await callApi(other, "POST", "/api/v1/links", { body })).data;
    const byDefault = await createThere({ target });
    expect(Date.parse(byDefault.expires_at) - Date.parse(byDefault.created_at)).toBe(DAY_MS);
    expect(await createThere({ target, expires_at: null })).toMatchObject({ expires_at: null });
  });

  test("accepts a limit of 1 to 1,000,000,000 visits", async () => {
    for (const max_visits of [1, 1_000_000_000])
      expect(await createLink({ target, max_visits })).toMatchObject({ max_visits });
  });

  test("treats an expiry beyond the year 9999 as none", async () => {
    expect(await createLink({ target, expires_at: "9999-12-31T23:59:59-12:00" })).toMatchObject({
      expires_at: null,
    });
  });
});

test("POST /api/v1/shorten has the manage key in its Link header only", async () => {
  const response = await curt.shorten({ original_url: target });
  const text = await response.text();
  const { code } = JSON.parse(text).data;
  const [, key = ""] = /^<.*#key=([\w-]{22})>; rel="edit"$/.exec(response.headers.get("link") ?? "") ?? [];
  expect(response.headers.get("link")).toBe(`<${BASE_URL}/${code}+#key=${key}>; rel="edit"`);
  expect(text).not.toContain(key);
});

test("POST /api/v1/shorten ignores 900 unknown fields, and refuses 3,000", async () => {
  const outcomes: string[] = [];
  for (const count of [900, 3000]) {
    const fields = Object.fromEntries(Array.from({ length: count }, (_, nth) => [`a${nth}`, nth]));
    const body = { ...fields, original_url: "https://example.com/fields" };
    const { status, headers } = await curt.shorten(body);
    outcomes.push(`${status} ${headers.get("curt-reason")}`);
  }
  expect(outcomes).toEqual(["201 null", "400 body.values"]);
});

describe("a create with a password", () => {
  test("accepts 128 characters in any Unicode spelling, and no more", async () => {
    for (const [nth, password] of ["\u{1f511}".repeat(128), "한".repeat(128)].entries()) {
      await createLink({ target, password, code: `long-${nth}` });
      for (const spelled of [password, password.normalize("NFD")]) {
        const authorization = `Basic ${Buffer.from(`:${spelled}`).toString("base64")}`;
        const response = await curt.fetch(`/long-${nth}`, { headers: { authorization } });
        expect(response.headers.get("location")).toBe(target);
      }
      expect(await outcomeOf(post({ target, password: `${password}x` }))).toBe("400 password.length");
    }
  });

  test("gets 503 while 64 passwords wait to be hashed, and a create without one doesn't", async () => {
    await using own = await startService();
    own.expectFaults();
    const statusOf = async (body: object) => (await callApi(own, "POST", "/api/v1/links", { body })).status;
    const { promise: held, resolve: release } = Promise.withResolvers<string>();
    {
      using _slow = spyOn(Bun.password, "hash").mockReturnValue(held);
      // One is being hashed, and 64 may wait.
      const hashing = Array.from({ length: 65 }, () => hashPassword("another"));
      expect(await statusOf({ target, password: "x" })).toBe(503);
      expect(await statusOf({ target })).toBe(201);
      release("");
      await Promise.all(hashing);
    }
    expect(await statusOf({ target, password: "x" })).toBe(201);
  });

  test("leaves room for other clients in the queue of passwords to hash", async () => {
    await using own = await startService({ TRUSTED_PROXIES: "127.0.0.1" });
    own.expectFaults();
    const body = JSON.stringify({ target, password: "x" });
    const create = async (address: string) => {
      const headers = { "X-Forwarded-For": address };
      return (await own.fetch("/api/v1/links", { method: "POST", headers, body })).status;
    };
    const { promise: held, resolve: release } = Promise.withResolvers<string>();
    using _slow = spyOn(Bun.password, "hash").mockReturnValue(held);
    let refusals = 0;
    const { promise: full, resolve: isFull } = Promise.withResolvers<void>();
    const creates = Array.from({ length: 70 }, async (_, nth) => {
      if ((await create(`2001:db8:1:${nth}::1`)) === 503 && ++refusals === 37) isFull();
    });
    await full;
    const other = create("2001:db8:2::1");
    // The service has received the other create by then.
    await own.fetch("/livez");
    release("");
    await Promise.all(creates);
    expect([await other, refusals]).toEqual([201, 37]);
  });
});
