import { beforeAll, describe, expect, test } from "bun:test";

import { DAY_MS } from "../../src/links/time.ts";
import en from "../../src/locales/en.json";
import { type LocalService, type Settings, shareService, startService } from "../support/service.ts";
import { HTML, sendForm } from "./markup.ts";

const LONG = "https://example.com/long";
const PROXIED = { TRUSTED_PROXIES: "127.0.0.1" };

const times = (count: number) => Array.from({ length: count }, (_, nth) => nth);
const listOf = (text: string) => text.trim().split(/\s+/);
const from = (address: string) => ({ "X-Forwarded-For": address });

/** Counts the statuses of `count` requests, sent one after the other. */
async function statuses(count: number, send: (nth: number) => Promise<Response>) {
  const counts: Record<number, number> = {};
  for (const nth of times(count)) {
    const { status } = await send(nth);
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}

const create = (curt: LocalService, headers: Record<string, string> = {}) =>
  curt.shorten({ original_url: LONG }, headers);

async function retryAfter(response: Promise<Response>): Promise<number> {
  const { status, headers } = await response;
  expect(status).toBe(429);
  return Number(headers.get("retry-after"));
}

/** One service with a link for tests that let no time pass. Each gets two clients without any request so far. */
function shareLimited(limit: Settings) {
  const curt = shareService({ ...PROXIED, ...limit });
  let clients = 0;
  beforeAll(async () => void (await curt.shorten({ original_url: LONG, custom_code: "mine" })));
  const client = () => from(`198.51.100.${++clients}`);
  return () => ({ curt, headers: client(), others: client() });
}

describe("LIMIT_CREATE", () => {
  test("refuses creates over the limit, says when to retry, and doesn't affect other clients", async () => {
    await using curt = await startService({ ...PROXIED, LIMIT_CREATE: "5/1h" }, { standsStill: true });
    const busy = () => create(curt, from("192.0.2.1"));
    expect(await statuses(50, busy)).toEqual({ 201: 5, 429: 45 });
    for (const _ of times(3)) {
      const seconds = await retryAfter(busy());
      expect(seconds).toBeGreaterThan(2);
      curt.advance((seconds - 2) * 1000);
      expect(await retryAfter(busy())).toBeLessThanOrEqual(2);
      curt.advance(2000);
      expect((await busy()).status).toBe(201);
    }
    expect(await statuses(6, () => create(curt, from("192.0.2.2")))).toEqual({ 201: 5, 429: 1 });
  });

  test("doesn't count refused creates", async () => {
    await using curt = await startService({ LIMIT_CREATE: "3/1d" });
    await curt.shorten({ original_url: LONG, custom_code: "taken" });
    expect(
      await statuses(20, (nth) =>
        nth % 2 === 0
          ? curt.shorten({ original_url: LONG, custom_code: "taken" })
          : curt.shorten({ original_url: "ftp://x" }),
      ),
    ).toEqual({ 400: 10, 409: 10 });
    expect(await statuses(3, () => create(curt))).toEqual({ 201: 2, 429: 1 });
  });

  test("counts by the address of the connection and ignores X-Forwarded-For without TRUSTED_PROXIES", async () => {
    await using curt = await startService({ LIMIT_CREATE: "3/1d" });
    expect(await statuses(9, (nth) => create(curt, from(`192.0.2.${nth}`)))).toEqual({ 201: 3, 429: 6 });
  });

  test("warns once if a trusted proxy never sends X-Forwarded-For", async () => {
    const warnings = ({ logged }: LocalService) =>
      logged.filter((line) => line.includes("lack X-Forwarded-For")).length;
    await using curt = await startService({ ...PROXIED, LIMIT_CREATE: "100/1d" });
    await statuses(19, () => create(curt));
    expect(warnings(curt)).toBe(0);
    await statuses(30, () => create(curt));
    expect(warnings(curt)).toBe(1);
    await using right = await startService({ ...PROXIED, LIMIT_CREATE: "100/1d" });
    await create(right, from("192.0.2.1"));
    // Health checks on the same machine, for example.
    await statuses(30, () => create(right));
    expect(warnings(right)).toBe(0);
  });

  test("reports the remainder in headers", async () => {
    await using curt = await startService({ LIMIT_CREATE: "2/10m,9/1d" }, { standsStill: true });
    const first = await create(curt);
    expect(first.headers.get("ratelimit-policy")).toBe('"create";q=2;w=600, "create-2";q=9;w=86400');
    expect(first.headers.get("ratelimit")).toMatch(/^"create";r=1;t=\d{3}, "create-2";r=8;t=9\d{3}$/);
    const wrong = await curt.shorten({});
    expect(wrong.headers.get("ratelimit")).toStartWith('"create";r=1;');
    await create(curt);
    const refusal = await create(curt);
    expect(refusal.headers.get("ratelimit-policy")).toBe(first.headers.get("ratelimit-policy"));
    const [, t] = /^"create";r=0;t=(\d+)$/.exec(refusal.headers.get("ratelimit") ?? "") ?? [];
    expect(Number(t)).toBeGreaterThan(0);
    expect(Number(t)).toBeLessThanOrEqual(Number(refusal.headers.get("retry-after")));
  });

  test("counts the form, which keeps what was typed and says when to retry", async () => {
    await using curt = await startService({ LIMIT_CREATE: "1/1h" }, { standsStill: true });
    const send = (language: string) =>
      sendForm(curt, "/", { original_url: LONG, custom_code: "mine" }, { "Accept-Language": language });
    await create(curt);
    for (const [language, when] of [
      ["en", "Try again in 60 minutes."],
      ["ja", "60分後にもう一度お試しください。"],
      ["ko", "60분 후에 다시 시도해 주세요."],
    ] as const) {
      const refusal = await send(language);
      expect([refusal.status, refusal.headers.get("retry-after")]).toEqual([429, "3600"]);
      const page = await refusal.text();
      expect(page).toMatch(new RegExp(`<p class="error" role="alert">[^<]*${when}</p>`));
      expect(page).toContain(`value="${LONG}"`);
      expect(page).toContain('value="mine"');
    }
    curt.advance(3_600_000);
    expect((await send("en")).status).toBe(303);
  });
});

describe("LIMIT_UNKNOWN", () => {
  const LIMIT: Settings = { ...PROXIED, LIMIT_UNKNOWN: "3/31d" };

  /** A service with a link that is cached and one that isn't. */
  async function startWithLinks() {
    const curt = await startService(LIMIT);
    for (const custom_code of ["cold", "warm"]) await curt.shorten({ original_url: LONG, custom_code });
    await curt.fetch("/warm");
    return curt;
  }

  test("answers 429 instead of 404 over the limit, and keeps redirecting", async () => {
    await using curt = await startWithLinks();
    const miss = (nth: number) => curt.fetch(`/none${nth}`, { method: nth % 2 === 0 ? "GET" : "HEAD" });
    expect(await statuses(20, miss)).toEqual({ 404: 3, 429: 17 });
    expect(await statuses(9, () => curt.fetch("/warm"))).toEqual({ 302: 9 });
    expect((await curt.fetch("/cold")).status).toBe(302);
    const page = await curt.fetch("/none", { headers: HTML });
    expect(page.status).toBe(429);
    expect(await page.text()).toContain(en["page.limited.title"]);
    curt.advance((await retryAfter(miss(0))) * 1000);
    expect(await statuses(2, miss)).toEqual({ 404: 1, 429: 1 });
  });

  test("redirects a client until it has requested ten times as many unknown codes", async () => {
    await using curt = await startWithLinks();
    const scanner = { headers: from("192.0.2.1") };
    expect(await statuses(29, (nth) => curt.fetch(`/none${nth}`, scanner))).toEqual({ 404: 3, 429: 26 });
    for (const path of ["/cold", "/warm"]) expect((await curt.fetch(path, scanner)).status, path).toBe(302);
  });

  test("answers a client beyond that at the rate of the limit only, whether a link exists or not", async () => {
    await using curt = await startWithLinks();
    const scanner = { headers: from("192.0.2.1") };
    await statuses(30, (nth) => curt.fetch(`/none${nth}`, scanner));
    for (const path of ["/cold", "/cold+", "/cold.svg", "/api/v1/links/cold", "/api/v1/codes/cold", "/warm"])
      expect((await curt.fetch(path, scanner)).status, path).toBe(429);
    for (const method of ["HEAD", "POST"])
      expect((await curt.fetch("/warm", { ...scanner, method })).status, method).toBe(429);
    for (const path of ["/cold", "/warm"])
      expect((await curt.fetch(path, { headers: from("192.0.2.2") })).status, path).toBe(302);
    expect((await curt.fetch("/", scanner)).status).toBe(200);
    curt.advance((await retryAfter(curt.fetch("/warm", scanner))) * 1000);
    expect((await curt.fetch("/warm", scanner)).status).toBe(302);
    expect((await curt.fetch("/none", scanner)).status).toBe(404);
    expect((await curt.fetch("/warm", scanner)).status).toBe(429);
  });

  test("doesn't count ended links", async () => {
    await using curt = await startService(LIMIT);
    await curt.shorten({ original_url: LONG, custom_code: "ended", expire_duration: "24h" });
    curt.advance(DAY_MS);
    expect(await statuses(9, () => curt.fetch("/ended"))).toEqual({ 410: 9 });
  });

  const newcomer = shareLimited(LIMIT);

  const COUNTED = listOf(`
    /none /none/ /none+ /none.svg /none.png /no..code /no/such/address /api/v1/none
    /api/v1/links/none /api/v1/links/none/stats /api/v1/codes/none
  `);

  test.each(COUNTED)("counts GET %s", async (path) => {
    const { curt, headers } = newcomer();
    const first = await statuses(3, () => curt.fetch(path, { headers }));
    expect(Object.values(first)).toEqual([3]);
    const refusal = curt.fetch(path, { headers });
    expect(await retryAfter(refusal)).toBeGreaterThan(0);
    const isOfApi = path.startsWith("/api/");
    if (isOfApi) expect((await refusal).headers.get("ratelimit")).toMatch(/^"unknown";r=0;t=\d+$/);
  });

  test("counts availability checks of taken codes, because the response reveals free ones", async () => {
    const { curt, headers } = newcomer();
    const counts = await statuses(9, () => curt.fetch("/api/v1/codes/mine", { headers }));
    expect(counts).toEqual({ 200: 3, 429: 6 });
  });

  test("counts codes in refused forms, because the page reveals which are taken", async () => {
    const { curt, headers } = newcomer();
    const send = (custom_code: string) =>
      sendForm(curt, "/", { original_url: "nowhere", custom_code }, headers);
    expect(await (await send("mine")).text()).toContain('class="offers"');
    expect(await statuses(4, () => send("none"))).toEqual({ 400: 2, 429: 2 });
    expect(await (await send("mine")).text()).not.toContain('class="offers"');
    expect(await statuses(4, () => send(""))).toEqual({ 400: 4 });
  });

  test("counts each taken code of a batch", async () => {
    const { curt, headers } = newcomer();
    const items = times(3).map(() => ({ target: LONG, code: "mine" }));
    const body = JSON.stringify(items);
    const batch = await curt.fetch("/api/v1/links/batch", { method: "POST", headers, body });
    expect(batch.status).toBe(200);
    expect((await curt.fetch("/none", { headers })).status).toBe(429);
  });

  test("counts the taken codes of a batch even beyond the limit, and bars a client that sends many", async () => {
    await using curt = await startService({ ...PROXIED, LIMIT_UNKNOWN: "3/31d" });
    await curt.shorten({ original_url: LONG, custom_code: "mine" });
    const headers = from("192.0.2.9");
    const body = JSON.stringify(times(10).map(() => ({ target: LONG, code: "mine" })));
    const sendBatch = () => curt.fetch("/api/v1/links/batch", { method: "POST", headers, body });
    expect((await curt.fetch("/none", { headers })).status).toBe(404);
    expect((await sendBatch()).status).toBe(200);
    expect((await curt.fetch("/none", { headers })).status).toBe(429);
    expect(await statuses(3, sendBatch)).toEqual({ 200: 2, 429: 1 });
    expect((await curt.fetch("/mine", { headers })).status).toBe(429);
  });

  test("counts creates of taken codes, and bars a client at every address that takes a code", async () => {
    await using curt = await startService({ ...PROXIED, LIMIT_UNKNOWN: "1/31d" });
    await curt.shorten({ original_url: LONG, custom_code: "mine" });
    const headers = from("192.0.2.9");
    const createAs = (code: string) =>
      curt.fetch("/api/v1/shorten", {
        method: "POST",
        headers,
        body: JSON.stringify({ original_url: LONG, custom_code: code }),
      });
    expect(await statuses(10, () => createAs("mine"))).toEqual({ 409: 1, 429: 9 });
    for (const path of ["/mine", "/+report?address=mine", "/api/v1/codes/mine"])
      expect([path, (await curt.fetch(path, { headers })).status]).toEqual([path, 429]);
    expect((await createAs("free")).status).toBe(429);
  });
});

describe("LIMIT_VIEW", () => {
  const LIMIT: Settings = { ...PROXIED, LIMIT_VIEW: "2/1d" };

  const newcomer = shareLimited(LIMIT);

  const COUNTED = listOf(`
    /mine+ /mine.svg /mine.png /docs /?original_url=x /+reported?x /api/v1/shorten
    /api/v1/openapi.json /api/v1/links/mine /api/v1/links/mine/stats /api/v1/codes/mine
  `);

  test.each(COUNTED)("counts GET %s", async (path) => {
    const { curt, headers, others } = newcomer();
    const first = await curt.fetch(path, { headers });
    expect(first.status).toBe(200);
    expect(first.headers.get("ratelimit")).toMatch(/^"view";r=1;t=43\d{3}$/);
    const tag = { "If-None-Match": first.headers.get("etag") ?? "" };
    expect([200, 304]).toContain((await curt.fetch(path, { headers: { ...headers, ...tag } })).status);
    const refusal = await curt.fetch(path, { headers });
    expect(refusal.status).toBe(429);
    expect(refusal.headers.get("retry-after")).toMatch(/^43\d{3}$/);
    expect((await curt.fetch(path, { headers: others })).status).toBe(200);
  });

  test("counts a form that is shown again because it is invalid or over LIMIT_CREATE", async () => {
    await using curt = await startService({ ...LIMIT, LIMIT_CREATE: "1/1d" });
    const send = (original_url: string, address: string) =>
      sendForm(curt, "/", { original_url }, from(address));
    expect(await statuses(4, () => send("", "192.0.2.1"))).toEqual({ 400: 2, 429: 2 });
    expect((await send(LONG, "192.0.2.2")).status).toBe(303);
    const pages: string[] = [];
    for (const _ of times(4)) pages.push(await (await send(LONG, "192.0.2.2")).text());
    expect(pages.map((page) => page.includes(`value="${LONG}"`))).toEqual([true, true, false, false]);
  });

  const post = (path: string, body: unknown, headers = {}) => [path, body, headers] as const;
  const BATCH = "/api/v1/links/batch";

  test.each([
    ["an invalid shorten request", post("/api/v1/shorten", { original_url: "ftp://x" }), 400],
    ["a shorten request without a body", post("/api/v1/shorten", ""), 400],
    [
      "a shorten request for a taken code",
      post("/api/v1/shorten", { original_url: LONG, custom_code: "mine" }),
      409,
    ],
    ["an invalid link", post("/api/v1/links", { target: "ftp://x" }), 400],
    ["a link with a taken code", post("/api/v1/links", { target: LONG, code: "mine" }), 409],
    ["a batch that isn't an array", post(BATCH, {}), 400],
    ["a batch with two refused links", post(BATCH, [{ target: "x" }, { target: LONG, code: "mine" }]), 200],
    [
      "an invalid link with an Idempotency-Key",
      post("/api/v1/links", { target: "ftp://x" }, { "Idempotency-Key": "a-key-nobody-guesses" }),
      400,
    ],
    ["a malformed Idempotency-Key", post("/api/v1/links", { target: LONG }, { "Idempotency-Key": "" }), 400],
  ])("counts %s, and then refuses creates", async (_request, [path, body, more], status) => {
    const { curt, headers, others } = newcomer();
    const send = (client: Record<string, string>) =>
      curt.fetch(path, {
        method: "POST",
        headers: { "Content-Type": "application/json", ...more, ...client },
        body: JSON.stringify(body),
      });
    const allowed = status === 200 ? 1 : 2;
    expect(await statuses(allowed, () => send(headers))).toEqual({ [status]: allowed });
    const over = await send(headers);
    expect([over.status, over.headers.get("curt-reason")]).toEqual([429, "limit.view"]);
    expect((await curt.fetch("/mine+", { headers })).status).toBe(429);
    expect((await send(others)).status).toBe(status);
  });

  test("counts all refused links of a batch, even beyond the limit", async () => {
    await using curt = await startService({ ...PROXIED, LIMIT_VIEW: "2/2h" }, { standsStill: true });
    const body = JSON.stringify(times(9).map(() => ({ target: "ftp://x" })));
    const send = () => curt.fetch(BATCH, { method: "POST", body });
    expect((await send()).status).toBe(200);
    expect(await retryAfter(send())).toBe(8 * 3600);
  });

  test("counts creates without the token", async () => {
    await using curt = await startService({ ...LIMIT, CREATE_TOKEN: "a-secret-of-some-length" });
    expect(await statuses(4, () => create(curt))).toEqual({ 401: 2, 429: 2 });
  });

  test("doesn't count redirects, the home page, assets, health and creates", async () => {
    await using curt = await startService({ ...LIMIT, LIMIT_VIEW: "1/1d" });
    await curt.shorten({ original_url: LONG, custom_code: "mine" });
    for (const [path, status] of [
      ["/mine", 302],
      ["/", 200],
      ["/+reported", 200],
      ["/robots.txt", 200],
      ["/favicon.ico", 200],
      ["/livez", 200],
      ["/readyz", 200],
    ] as const)
      expect(await statuses(3, () => curt.fetch(path)), path).toEqual({ [status]: 3 });
    expect(await statuses(3, () => create(curt))).toEqual({ 201: 3 });
    expect((await curt.fetch("/mine+")).status).toBe(200);
  });
});

describe("a /48 of IPv6", () => {
  /** An address in the nth /64 of a /48. */
  const address = (nth: number, site = "2001:db8:1") => from(`${site}:${nth.toString(16)}::1`);

  test.each([
    ["LIMIT_CREATE", 201, create],
    [
      "LIMIT_UNKNOWN",
      404,
      (curt: LocalService, headers: Record<string, string>) => curt.fetch("/none", { headers }),
    ],
    [
      "LIMIT_VIEW",
      200,
      (curt: LocalService, headers: Record<string, string>) => curt.fetch("/docs", { headers }),
    ],
  ])("may use sixteen times %s with all its networks together", async (name, status, send) => {
    await using curt = await startService({ ...PROXIED, [name]: "2/1d" });
    expect(await statuses(50, (nth) => send(curt, address(nth)))).toEqual({ [status]: 32, 429: 18 });
    expect(await statuses(3, () => send(curt, address(1, "2001:db8:2")))).toEqual({ [status]: 2, 429: 1 });
    expect(await statuses(3, () => send(curt, from("192.0.2.1")))).toEqual({ [status]: 2, 429: 1 });
  });

  test("is barred once its networks together have requested 160 times the limit of unknown codes", async () => {
    await using curt = await startService({ ...PROXIED, LIMIT_UNKNOWN: "1/31d" });
    await curt.shorten({ original_url: LONG, custom_code: "mine" });
    expect((await curt.fetch("/mine", { headers: address(0) })).status).toBe(302);
    await statuses(160, (nth) => curt.fetch("/none", { headers: address(nth) }));
    expect((await curt.fetch("/mine", { headers: address(999) })).status).toBe(429);
    expect((await curt.fetch("/mine", { headers: address(0, "2001:db8:2") })).status).toBe(302);
  });
});

test("only requests without X-Forwarded-For that aren't health checks look like a proxy that doesn't append to it", async () => {
  await using curt = await startService(PROXIED);
  const warnings = () => curt.logged.filter((line) => line.includes("lack X-Forwarded-For")).length;
  await statuses(20, () => curt.fetch("/livez"));
  await statuses(20, () => curt.fetch("/readyz", { method: "HEAD" }));
  expect(warnings()).toBe(0);
  await statuses(20, () => curt.fetch("/none"));
  expect(warnings()).toBe(1);
});
