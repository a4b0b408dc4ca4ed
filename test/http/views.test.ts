import { expect, spyOn, test } from "bun:test";

import { createCalls } from "../../src/http/call.ts";
import { createDomains } from "../../src/http/domain.ts";
import type { View } from "../../src/http/endpoint.ts";
import { startThread } from "../../src/lib/thread.ts";
import { CURT } from "../../src/pages/assets/branding.ts";
import { showHome } from "../../src/pages/home/handler.ts";
import { interstitial } from "../../src/pages/interstitial/page.tsx";
import { showPreview } from "../../src/pages/preview/handler.ts";
import { answerProblem } from "../../src/pages/problem/answer.ts";
import { repeatSearch } from "../../src/views/reads.ts";
import type { ViewCalls } from "../../src/views/task.ts";
import { createViews } from "../../src/views/views.ts";
import { BASE_URL, startService } from "../support/service.ts";
import { untilCounted, visit } from "../visits/visits.ts";
import { HTML } from "./markup.ts";

const original_url = "https://example.com/";

const FOR_OPERATOR: View<unknown, never> = { isForOperator: true, render: () => () => new Response() };

/** Charts change every quarter of an hour. */
const BETWEEN_QUARTERS_MS = Date.UTC(2026, 10, 21, 16, 5);

/** Starts views of `view-worker.ts`, with a clock that the test sets. */
function startViews(sharedMs?: number) {
  const time = { nowMs: 1_000_000 };
  const clock = { nowMs: () => time.nowMs, monotonicMs: () => time.nowMs };
  const faults: unknown[] = [];
  let started = 0;
  let strangers = 0;
  const views = createViews({
    refuse: answerProblem,
    start() {
      started++;
      const worker = () => new Worker(new URL("./view-worker.ts", import.meta.url));
      return startThread<ViewCalls>(worker, {}, () => {});
    },
    clock,
    hostRules: { version: () => 0 },
    onFault: (error) => faults.push(error),
    limits: sharedMs === undefined ? {} : { sharedMs },
  });
  const callOf = createCalls({
    domain: createDomains({ baseUrl: BASE_URL, domains: [], codeCase: "match" }, CURT)[0],
    clientOf: ({ headers }) => ({
      address: headers.get("x-client") ?? `192.0.2.${++strangers}`,
      country: "",
    }),
  });
  return {
    time,
    faults,
    started: () => started,
    async showOperator(code: string): Promise<Response> {
      const call = callOf(new Request(`${BASE_URL}/`), undefined as never, code);
      return views.show({ at: "GET /admin", view: FOR_OPERATOR })(call, {});
    },
    async show(code: string, headers: Record<string, string> = {}, query = ""): Promise<Response> {
      const request = new Request(`${BASE_URL}/${query}`, { headers });
      return views.show(showPreview)(callOf(request, undefined as never, code));
    },
    async showInterstitial(query: string): Promise<Response> {
      return views.show(interstitial)(callOf(new Request(`${BASE_URL}/a${query}`), undefined as never, "a"));
    },
    async showHome(headers: Record<string, string>): Promise<Response> {
      const call = callOf(new Request(`${BASE_URL}/`, { headers }), undefined as never, "");
      return views.show(showHome)(call);
    },
    [Symbol.dispose]: () => views.close(),
  };
}

test("the first view starts a thread, which renders all views", async () => {
  using views = startViews();
  expect(views.started()).toBe(0);
  for (const code of ["a", "b", "c"]) expect((await views.show(code)).status).toBe(200);
  expect(views.started()).toBe(1);
});

test("equal requests within a second share one view", async () => {
  using views = startViews();
  const first = await (await views.show("a")).text();
  expect(first).toBe("1 at 1000000");
  const texts = await Promise.all([1, 2, 3].map(async () => (await views.show("a")).text()));
  expect(texts).toEqual([first, first, first]);
  // These headers select the same view.
  for (const header of ["en", "en-GB,en;q=0.9", "fr", "x".repeat(2000)])
    expect(await (await views.show("a", { "Accept-Language": header })).text()).toBe(first);
  views.time.nowMs += 1000;
  expect(await (await views.show("a")).text()).toBe("2 at 1001000");
});

test.each([
  ["code", "b", {}, ""],
  ["query", "a", {}, "?tz=Asia/Seoul"],
  ["range", "a", {}, "?range=7d"],
  ["language", "a", { "Accept-Language": "ko" }, ""],
  ["language cookie", "a", { Cookie: "x=y; language=ko" }, ""],
  ["Accept header", "a", HTML, ""],
  ["Accept-Encoding header", "a", { "Accept-Encoding": "gzip" }, ""],
  ["Sec-Fetch-Site header", "a", { "Sec-Fetch-Site": "cross-site" }, ""],
])("requests with another %s get another view", async (_difference, code, headers, query) => {
  using views = startViews();
  await views.show("a");
  expect(await (await views.show(code, headers, query)).text()).toStartWith("2 ");
});

test("requests with different ETags share the home page, and one with its ETag gets 304", async () => {
  await using curt = await startService();
  const home = (tag?: string) =>
    curt.fetch("/", { headers: { ...HTML, ...(tag !== undefined && { "If-None-Match": tag }) } });
  const first = await home();
  const tag = first.headers.get("etag") ?? "";
  expect(tag).not.toBe("");
  const repeated = await home(`"x", ${tag}`);
  expect([repeated.status, repeated.headers.get("content-type"), await repeated.text()]).toEqual([
    304,
    null,
    "",
  ]);
  using views = startViews();
  const texts = [1, 2, 3].map(async (nth) => (await views.showHome({ "If-None-Match": `"${nth}"` })).text());
  expect(await Promise.all(texts)).toEqual(texts.map(() => "1 at 1000000"));
});

test("an unchanged view isn't rendered again, and its ETag gets 304", async () => {
  using views = startViews();
  const first = await views.show("tagged");
  expect(await first.text()).toBe("1 at 1000000");
  views.time.nowMs += 5000;
  const cached = await views.show("tagged");
  expect([cached.status, await cached.text()]).toEqual([200, "1 at 1000000"]);
  const tag = first.headers.get("etag") ?? "";
  views.time.nowMs += 1000;
  const repeated = await views.show("tagged", { "If-None-Match": tag });
  expect([repeated.status, repeated.headers.get("etag"), await repeated.text()]).toEqual([304, tag, ""]);
  views.time.nowMs += 4000;
  const changed = await views.show("tagged", { "If-None-Match": tag });
  expect([changed.status, await changed.text()]).toEqual([200, "2 at 1010000"]);
  // A tag also gets 304 for a view that isn't cached.
  const alone = await views.show("tagged", { "If-None-Match": '"101"' }, "?tz=UTC");
  expect([alone.status, alone.headers.get("etag")]).toEqual([304, '"101"']);
  expect(await (await views.show("tagged", {}, "?tz=UTC")).text()).toBe("3 at 1010000");
});

test("a reader without If-None-Match never gets the 304 of a reader who waited for a failed rendering", async () => {
  using views = startViews();
  const failed = views.show("fails once").catch(() => undefined);
  const poller = await views.show("fails once", { "If-None-Match": '"100"' });
  expect([await failed, poller.status]).toEqual([undefined, 304]);
  const reader = await views.show("fails once");
  expect([reader.status, await reader.text()]).toEqual([200, "1 at 1000000"]);
});

test("requests that differ in parameters that the view ignores share one view", async () => {
  using views = startViews();
  const texts = ["", "?x=1", "?utm_source=a&language=xx", "?tz=&from=2026-01-01"].map(async (query) =>
    (await views.show("a", {}, query)).text(),
  );
  expect(await Promise.all(texts)).toEqual(texts.map(() => "1 at 1000000"));
});

test("requests with different queries share an interstitial, unless the language differs", async () => {
  using views = startViews();
  const textFor = async (query: string) => (await views.showInterstitial(query)).text();
  const texts = await Promise.all(["", "?1", "?2&language=xx"].map(textFor));
  expect(texts).toEqual(texts.map(() => "1 at 1000000"));
  expect(await textFor("?language=ko&3")).toBe("2 at 1000000");
});

test("a 404 is never shared, because the link may exist by now", async () => {
  using views = startViews();
  const responses = await Promise.all([1, 2, 3].map(() => views.show("missing")));
  const texts = [...responses, await views.show("missing")].map((response) => response.text());
  expect(new Set(await Promise.all(texts)).size).toBe(4);
});

test("a request gets 503 with Retry-After while 64 views wait", async () => {
  using views = startViews();
  for (let nth = 0; nth < 64; nth++) void views.show("never", {}, `?tz=${nth}`);
  const busy = await views.show("a");
  expect([busy.status, busy.headers.get("retry-after")]).toEqual([503, "2"]);
  expect(views.faults).toEqual([]);
});

test.each([
  ["client", () => "2001:db8:0:1::1"],
  ["/48 of IPv6", (nth: number) => `2001:db8:0:${nth.toString(16)}::1`],
])("one %s gets half of the places, and other clients the rest", async (_difference, addressOf) => {
  using views = startViews();
  const wait = (address: string, nth: number) =>
    views.show("never", { "X-Client": address }, `?tz=${address}${nth}`);
  const places = Array.from({ length: 32 }, (_, nth) => wait(addressOf(nth), nth));
  for (let nth = 32; nth < 40; nth++) expect((await wait(addressOf(nth), nth)).status).toBe(503);
  const others = Array.from({ length: 32 }, (_, nth) => wait(`198.51.100.${nth}`, nth));
  expect(await Promise.race([...places, ...others, Promise.resolve("waiting")])).toBe("waiting");
  expect((await wait("203.0.113.1", 0)).status).toBe(503);
});

test("a client gets its places back when its views are rendered", async () => {
  using views = startViews();
  const headers = { "X-Client": "192.0.2.1" };
  for (const round of [1, 2, 3]) {
    const requests = Array.from({ length: 32 }, (_, nth) => views.show("a", headers, `?tz=${round}.${nth}`));
    for (const { status } of await Promise.all(requests)) expect(status).toBe(200);
  }
});

test("the operator and visitors wait in separate places", async () => {
  using views = startViews();
  for (let nth = 0; nth < 64; nth++) void views.show("never", {}, `?tz=${nth}`);
  const operators = Array.from({ length: 16 }, () => views.showOperator("never"));
  expect((await views.showOperator("a")).status).toBe(503);
  // The others wait.
  expect(await Promise.race([...operators, Promise.resolve("waiting")])).toBe("waiting");
  using others = startViews();
  for (let nth = 0; nth < 16; nth++) void others.showOperator("never");
  expect(await Promise.race([others.show("never"), Bun.sleep(0).then(() => "waiting")])).toBe("waiting");
});

test("a view of the operator is never shared, not even with the operator", async () => {
  using views = startViews();
  const first = await (await views.showOperator("a")).text();
  expect(await (await views.showOperator("a")).text()).not.toBe(first);
});

test("a search reads on after a first part that took all of its time, as when the thread starts", async () => {
  let nowMs = 0;
  using now = spyOn(performance, "now").mockImplementation(() => nowMs);
  const parts = [[], ["found"], ["later"]].values();
  const found = await repeatSearch(1000, { limit: 9 }, async () => {
    nowMs += 1500;
    return { links: parts.next().value ?? [], cursor: "next", searched: 0 };
  });
  expect([found, now.mock.calls.length > 0]).toEqual([
    { links: ["found"], cursor: "next", searched: 0 },
    true,
  ]);
});

test("a crashed thread restarts after a second, and until then views get 503", async () => {
  using views = startViews();
  const waiting = [views.show("crash"), views.show("never")];
  for (const response of await Promise.all(waiting)) {
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
  }
  expect(views.faults).toHaveLength(1);
  expect((await views.show("a")).status).toBe(503);
  expect(views.started()).toBe(1);
  views.time.nowMs += 1000;
  expect((await views.show("a")).status).toBe(200);
  expect(views.started()).toBe(2);
});

test("an error in a view is thrown with its message and stack", async () => {
  using views = startViews();
  const error = (await views.show("fault").catch((thrown: unknown) => thrown)) as Error;
  expect(error.message).toBe("planted");
  expect(error.stack).toContain("view-worker.ts");
});

test("an unchanged preview gets 304, and a visit or another language gets 200", async () => {
  await using curt = await startService({}, { startMs: BETWEEN_QUARTERS_MS });
  await curt.shorten({ original_url, custom_code: "live" });
  const first = await curt.fetch("/live+", { headers: HTML });
  const tag = first.headers.get("etag") ?? "";
  expect(tag).toMatch(/^W\/"\w+"$/);
  const repeat = (headers = {}) =>
    curt.fetch("/live+", { headers: { ...HTML, "If-None-Match": tag, ...headers } });
  const same = await repeat();
  expect([same.status, await same.text(), same.headers.get("etag")]).toEqual([304, "", tag]);
  expect((await repeat({ "Accept-Language": "ko" })).status).toBe(200);
  await visit(curt, "live");
  await untilCounted(curt, "live", 1);
  expect((await repeat()).status).toBe(200);
});

test("unchanged statistics get 304, and a visit, another query or another language gets 200", async () => {
  await using curt = await startService({}, { startMs: BETWEEN_QUARTERS_MS });
  await curt.shorten({ original_url, custom_code: "live" });
  const read = (headers: Record<string, string> = {}, query = "") =>
    curt.fetch(`/api/v1/links/live/stats${query}`, { headers });
  const tag = (await read()).headers.get("etag") ?? "";
  expect(tag).toMatch(/^W\/"\w+"$/);
  const same = await read({ "If-None-Match": tag });
  expect([same.status, await same.text(), same.headers.get("etag")]).toEqual([304, "", tag]);
  for (const query of ["?tz=Asia/Seoul", "?interval=hour", "?from=2026-01-01"])
    expect((await read({ "If-None-Match": tag }, query)).status).toBe(200);
  expect((await read({ "If-None-Match": tag, "Accept-Language": "ko" })).status).toBe(200);
  await visit(curt, "live");
  await untilCounted(curt, "live", 1);
  const changed = await read({ "If-None-Match": tag });
  expect([changed.status, await changed.json()]).toMatchObject([200, { data: { visits: 1 } }]);
});

test("a refused form shows at most what its fields can hold", async () => {
  await using curt = await startService();
  const body = `original_url=${'"'.repeat(30_000)}&custom_code=${'"'.repeat(30_000)}`;
  const headers = { ...HTML, "Content-Type": "application/x-www-form-urlencoded" };
  const refusal = await curt.fetch("/", { method: "POST", headers, body });
  expect(refusal.status).toBe(400);
  const quotes = (await refusal.text()).match(/&quot;/g) ?? [];
  expect(quotes.length).toBeGreaterThan(2000);
  expect(quotes.length).toBeLessThan(10_000);
});

test("a header longer than any browser's is ignored", async () => {
  await using curt = await startService();
  const padding = (kind: string) => Array.from({ length: 100 }, (_, nth) => `a/${kind}${nth};q=0.1`).join();
  const accept = `text/html,${padding("x")}`;
  const page = await curt.fetch("/nothing", { headers: { Accept: accept.slice(0, 500) } });
  expect(page.headers.get("content-type")).toContain("text/html");
  const long = {
    Accept: accept,
    "Accept-Language": `ko,${padding("y")}`,
    "Accept-Encoding": `gzip,${padding("z")}`,
  };
  const plain = await curt.fetch("/nothing", { headers: long });
  expect(plain.headers.get("content-type")).toContain("application/json");
  const home = await curt.fetch("/", { headers: long });
  expect([home.headers.get("content-language"), home.headers.get("content-encoding")]).toEqual(["en", null]);
});

test("the views thread gets no secret", async () => {
  const secrets = {
    CURT_SECRET: "secret-of-the-instance-with-32-signs",
    ADMIN_TOKEN: "token-of-the-operator",
    CREATE_TOKEN: "token-of-the-service",
    EVENTS_SECRET: `whsec_${Buffer.from("a secret that signs events").toString("base64")}`,
    EVENTS_URL: "http://127.0.0.1:9/a-secret-path",
  };
  using send = spyOn(Worker.prototype, "postMessage");
  await using curt = await startService(secrets);
  await curt.fetch("/");
  const settings = send.mock.calls.filter(([task]) => task.type === "configure");
  expect(settings).toHaveLength(1);
  const sent = JSON.stringify(settings);
  expect(sent).toContain(BASE_URL);
  for (const [name, secret] of Object.entries(secrets))
    expect(sent.includes(secret.replace("whsec_", "")), name).toBeFalse();
});
