import { expect, test } from "bun:test";

import { createCalls } from "../../src/http/call.ts";
import { createDomains } from "../../src/http/domain.ts";
import type { View } from "../../src/http/endpoint.ts";
import { startThread } from "../../src/lib/thread.ts";
import { CURT } from "../../src/pages/assets/branding.ts";
import { showHome } from "../../src/pages/home/handler.ts";
import { interstitial } from "../../src/pages/interstitial/page.tsx";
import { showPreview } from "../../src/pages/preview/handler.ts";
import { answerProblem } from "../../src/pages/problem/answer.ts";
import type { ViewCalls } from "../../src/views/task.ts";
import { createViews } from "../../src/views/views.ts";
import { BASE_URL, startHere } from "../service.ts";
import { untilCounted, visit } from "../visits/visits.ts";
import { HTML } from "./markup.ts";

const original_url = "https://example.com/";

const FOR_OPERATOR: View<unknown, never> = { isForOperator: true, render: () => () => new Response() };

/** Charts change at the quarters of an hour. */
const BETWEEN_QUARTERS_MS = Date.UTC(2026, 10, 21, 16, 5);

/** Views of `view-worker.ts`, at a time that the test sets. */
function open(sharedMs?: number) {
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
    domain: createDomains({ baseUrl: BASE_URL, domains: [] }, CURT)[0],
    clientOf: ({ headers }) => ({
      address: headers.get("x-client") ?? `192.0.2.${++strangers}`,
      country: "",
    }),
  });
  return {
    time,
    faults,
    started: () => started,
    async askAsOperator(code: string): Promise<Response> {
      const call = callOf(new Request(`${BASE_URL}/`), undefined as never, code);
      return views.show({ at: "GET /admin", view: FOR_OPERATOR })(call, {});
    },
    async ask(code: string, headers: Record<string, string> = {}, query = ""): Promise<Response> {
      const request = new Request(`${BASE_URL}/${query}`, { headers });
      return views.show(showPreview)(callOf(request, undefined as never, code));
    },
    async askInterstitial(query: string): Promise<Response> {
      return views.show(interstitial)(callOf(new Request(`${BASE_URL}/a${query}`), undefined as never, "a"));
    },
    async askHome(headers: Record<string, string>): Promise<Response> {
      const call = callOf(new Request(`${BASE_URL}/`, { headers }), undefined as never, "");
      return views.show(showHome)(call);
    },
    [Symbol.dispose]: () => views.close(),
  };
}

test("no thread is started before a view is asked for, and one makes them all", async () => {
  using views = open();
  expect(views.started()).toBe(0);
  for (const code of ["a", "b", "c"]) expect((await views.ask(code)).status).toBe(200);
  expect(views.started()).toBe(1);
});

test("everybody who asks for the same within a second gets the same", async () => {
  using views = open();
  const first = await (await views.ask("a")).text();
  expect(first).toBe("1 at 1000000");
  const texts = await Promise.all([1, 2, 3].map(async () => (await views.ask("a")).text()));
  expect(texts).toEqual([first, first, first]);
  // Headers that choose between the same views are the same.
  for (const header of ["en", "en-GB,en;q=0.9", "fr", "x".repeat(2000)])
    expect(await (await views.ask("a", { "Accept-Language": header })).text()).toBe(first);
  views.time.nowMs += 1000;
  expect(await (await views.ask("a")).text()).toBe("2 at 1001000");
});

test.each([
  ["link", "b", {}, ""],
  ["query", "a", {}, "?tz=Asia/Seoul"],
  ["range", "a", {}, "?range=7d"],
  ["language", "a", { "Accept-Language": "ko" }, ""],
  ["remembered language", "a", { Cookie: "x=y; language=ko" }, ""],
  ["kind of answer", "a", HTML, ""],
  ["coding", "a", { "Accept-Encoding": "gzip" }, ""],
  ["origin", "a", { "Sec-Fetch-Site": "cross-site" }, ""],
])("who asks for another %s gets another view", async (_what, code, headers, query) => {
  using views = open();
  await views.ask("a");
  expect(await (await views.ask(code, headers, query)).text()).toStartWith("2 ");
});

test("who names other tags gets the same home page, or 304", async () => {
  await using curt = await startHere();
  const home = (tag?: string) =>
    curt.fetch("/", { headers: { ...HTML, ...(tag !== undefined && { "If-None-Match": tag }) } });
  const first = await home();
  const tag = first.headers.get("etag") ?? "";
  expect(tag).not.toBe("");
  const known = await home(`"x", ${tag}`);
  expect([known.status, known.headers.get("content-type"), await known.text()]).toEqual([304, null, ""]);
  using views = open();
  const texts = [1, 2, 3].map(async (nth) => (await views.askHome({ "If-None-Match": `"${nth}"` })).text());
  expect(await Promise.all(texts)).toEqual(texts.map(() => "1 at 1000000"));
});

test("a view that did not change is not made again", async () => {
  using views = open();
  const first = await views.ask("tagged");
  expect(await first.text()).toBe("1 at 1000000");
  views.time.nowMs += 5000;
  const again = await views.ask("tagged");
  expect([again.status, await again.text()]).toEqual([200, "1 at 1000000"]);
  const tag = first.headers.get("etag") ?? "";
  views.time.nowMs += 1000;
  const known = await views.ask("tagged", { "If-None-Match": tag });
  expect([known.status, known.headers.get("etag"), await known.text()]).toEqual([304, tag, ""]);
  views.time.nowMs += 4000;
  const changed = await views.ask("tagged", { "If-None-Match": tag });
  expect([changed.status, await changed.text()]).toEqual([200, "2 at 1010000"]);
  // Whoever has what nobody else asked for lately gets 304 as well.
  const alone = await views.ask("tagged", { "If-None-Match": '"101"' }, "?tz=UTC");
  expect([alone.status, alone.headers.get("etag")]).toEqual([304, '"101"']);
  expect(await (await views.ask("tagged", {}, "?tz=UTC")).text()).toBe("3 at 1010000");
});

test("a reader without If-None-Match never gets the 304 of somebody who waited for a failed rendering", async () => {
  using views = open();
  const failed = views.ask("fails once").catch(() => undefined);
  const poller = await views.ask("fails once", { "If-None-Match": '"100"' });
  expect([await failed, poller.status]).toEqual([undefined, 304]);
  const reader = await views.ask("fails once");
  expect([reader.status, await reader.text()]).toEqual([200, "1 at 1000000"]);
});

test("parameters that a view does not read get nobody another view", async () => {
  using views = open();
  const texts = ["", "?x=1", "?utm_source=a&language=xx", "?tz=&from=2026-01-01"].map(async (query) =>
    (await views.ask("a", {}, query)).text(),
  );
  expect(await Promise.all(texts)).toEqual(texts.map(() => "1 at 1000000"));
});

test("who adds a query to a short address gets the same interstitial, in the language of the query", async () => {
  using views = open();
  const ask = async (query: string) => (await views.askInterstitial(query)).text();
  const texts = await Promise.all(["", "?1", "?2&language=xx"].map(ask));
  expect(texts).toEqual(texts.map(() => "1 at 1000000"));
  expect(await ask("?language=ko&3")).toBe("2 at 1000000");
});

test("what is not there is asked for each time: it may have been made", async () => {
  using views = open();
  const asked = await Promise.all([1, 2, 3].map(() => views.ask("missing")));
  const texts = [...asked, await views.ask("missing")].map((response) => response.text());
  expect(new Set(await Promise.all(texts)).size).toBe(4);
});

test("when too many wait, others are asked to come again, and the first ones still wait", async () => {
  using views = open();
  for (let nth = 0; nth < 64; nth++) void views.ask("never", {}, `?tz=${nth}`);
  const busy = await views.ask("a");
  expect([busy.status, busy.headers.get("retry-after")]).toEqual([503, "2"]);
  expect(views.faults).toEqual([]);
});

test.each([
  ["client", () => "2001:db8:0:1::1"],
  ["/48 of IPv6", (nth: number) => `2001:db8:0:${nth.toString(16)}::1`],
])("a %s takes half of the places, and leaves the rest to others", async (_what, addressOf) => {
  using views = open();
  const wait = (address: string, nth: number) =>
    views.ask("never", { "X-Client": address }, `?tz=${address}${nth}`);
  const places = Array.from({ length: 32 }, (_, nth) => wait(addressOf(nth), nth));
  for (let nth = 32; nth < 40; nth++) expect((await wait(addressOf(nth), nth)).status).toBe(503);
  const others = Array.from({ length: 32 }, (_, nth) => wait(`198.51.100.${nth}`, nth));
  expect(await Promise.race([...places, ...others, Promise.resolve("waiting")])).toBe("waiting");
  expect((await wait("203.0.113.1", 0)).status).toBe(503);
});

test("a client gets its places back when its views are there", async () => {
  using views = open();
  const headers = { "X-Client": "192.0.2.1" };
  for (const round of [1, 2, 3]) {
    const asked = Array.from({ length: 32 }, (_, nth) => views.ask("a", headers, `?tz=${round}.${nth}`));
    for (const { status } of await Promise.all(asked)) expect(status).toBe(200);
  }
});

test("the operator has places that visitors cannot take, and the other way round", async () => {
  using views = open();
  for (let nth = 0; nth < 64; nth++) void views.ask("never", {}, `?tz=${nth}`);
  const operators = Array.from({ length: 16 }, () => views.askAsOperator("never"));
  expect((await views.askAsOperator("a")).status).toBe(503);
  // The others wait.
  expect(await Promise.race([...operators, Promise.resolve("waiting")])).toBe("waiting");
  using others = open();
  for (let nth = 0; nth < 16; nth++) void others.askAsOperator("never");
  expect(await Promise.race([others.ask("never"), Bun.sleep(0).then(() => "waiting")])).toBe("waiting");
});

test("what the operator gets is shared with nobody, and never older than the request", async () => {
  using views = open();
  const first = await (await views.askAsOperator("a")).text();
  expect(await (await views.askAsOperator("a")).text()).not.toBe(first);
});

test("a thread that crashed is started again after a while, and meanwhile views are unavailable", async () => {
  using views = open();
  const waiting = [views.ask("crash"), views.ask("never")];
  for (const response of await Promise.all(waiting)) {
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
  }
  expect(views.faults).toHaveLength(1);
  expect((await views.ask("a")).status).toBe(503);
  expect(views.started()).toBe(1);
  views.time.nowMs += 1000;
  expect((await views.ask("a")).status).toBe(200);
  expect(views.started()).toBe(2);
});

test("what a view throws is thrown, with the place where it happened", async () => {
  using views = open();
  const error = (await views.ask("fault").catch((thrown: unknown) => thrown)) as Error;
  expect(error.message).toBe("planted");
  expect(error.stack).toContain("view-worker.ts");
});

test("a preview that did not change is not sent again", async () => {
  await using curt = await startHere({}, { startMs: BETWEEN_QUARTERS_MS });
  await curt.shorten({ original_url, custom_code: "live" });
  const first = await curt.fetch("/live+", { headers: HTML });
  const tag = first.headers.get("etag") ?? "";
  expect(tag).toMatch(/^W\/"\w+"$/);
  const again = (headers = {}) =>
    curt.fetch("/live+", { headers: { ...HTML, "If-None-Match": tag, ...headers } });
  const same = await again();
  expect([same.status, await same.text(), same.headers.get("etag")]).toEqual([304, "", tag]);
  expect((await again({ "Accept-Language": "ko" })).status).toBe(200);
  await visit(curt, "live");
  await untilCounted(curt, "live", 1);
  expect((await again()).status).toBe(200);
});

test("statistics that did not change are not sent again", async () => {
  await using curt = await startHere({}, { startMs: BETWEEN_QUARTERS_MS });
  await curt.shorten({ original_url, custom_code: "live" });
  const ask = (headers: Record<string, string> = {}, query = "") =>
    curt.fetch(`/api/v1/links/live/stats${query}`, { headers });
  const tag = (await ask()).headers.get("etag") ?? "";
  expect(tag).toMatch(/^W\/"\w+"$/);
  const same = await ask({ "If-None-Match": tag });
  expect([same.status, await same.text(), same.headers.get("etag")]).toEqual([304, "", tag]);
  for (const query of ["?tz=Asia/Seoul", "?interval=hour", "?from=2026-01-01"])
    expect((await ask({ "If-None-Match": tag }, query)).status).toBe(200);
  expect((await ask({ "If-None-Match": tag, "Accept-Language": "ko" })).status).toBe(200);
  await visit(curt, "live");
  await untilCounted(curt, "live", 1);
  const changed = await ask({ "If-None-Match": tag });
  expect([changed.status, await changed.json()]).toMatchObject([200, { data: { visits: 1 } }]);
});

test("a refused form shows no more of what was sent than its fields can hold", async () => {
  await using curt = await startHere();
  const body = `original_url=${'"'.repeat(30_000)}&custom_code=${'"'.repeat(30_000)}`;
  const headers = { ...HTML, "Content-Type": "application/x-www-form-urlencoded" };
  const refused = await curt.fetch("/", { method: "POST", headers, body });
  expect(refused.status).toBe(400);
  const quotes = (await refused.text()).match(/&quot;/g) ?? [];
  expect(quotes.length).toBeGreaterThan(2000);
  expect(quotes.length).toBeLessThan(10_000);
});

test("a header that no browser sends is not read", async () => {
  await using curt = await startHere();
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
