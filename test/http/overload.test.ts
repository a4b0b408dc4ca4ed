import { describe, expect, test } from "bun:test";

import { Overload, type OverloadLimits, type RequestClass } from "../../src/http/limits/overload.ts";
import { REASON_HEADER } from "../../src/http/problem-reasons.ts";
import { type RunningService, startService, temporaryFolder, untilLogged } from "../support/service.ts";

const TARGET = "https://example.com/";
const KINDS = ["views", "creates", "unknown"] as const;

describe("turns of expensive requests", () => {
  const callOf = (hangsUp: AbortSignal) =>
    ({ client: () => ({ address: "", country: "" }), request: { signal: hangsUp } }) as Parameters<
      Overload["takeTurns"]
    >[1];

  /** Each turn takes 10 ms. */
  function startTurns(limits: OverloadLimits) {
    let nowMs = 0;
    const changes: (readonly RequestClass[])[] = [];
    const overload = new Overload({
      ...limits,
      clock: { monotonicMs: () => nowMs },
      onChange: (refused) => changes.push(refused),
    });
    const done: string[] = [];
    const request = (what: RequestClass, hangsUp = new AbortController().signal) => {
      const atMs = nowMs;
      const end = (how: string) => () => {
        done.push(how);
        return new Response(String(nowMs - atMs));
      };
      return overload.takeTurns(what, callOf(hangsUp), end(what), end(`no ${what}`));
    };
    async function turn(): Promise<void> {
      nowMs += 10;
      await new Promise(setImmediate);
    }
    const close = () => overload.close();
    return { request, turn, done, changes, refusals: overload.refusals, close, [Symbol.dispose]: close };
  }

  test("start immediately while few requests wait", () => {
    using turns = startTurns({});
    for (const what of KINDS) void turns.request(what);
    expect(turns.done).toEqual([...KINDS]);
  });

  test("go to unknown codes first, then to creates, then to views, in any order of arrival", async () => {
    using turns = startTurns({ startsPerTurn: 1 });
    for (const what of [...KINDS, ...KINDS]) void turns.request(what);
    for (let nth = 0; nth < 20; nth++) await turns.turn();
    expect(turns.done).toEqual(["views", "unknown", "unknown", "creates", "creates", "views"]);
  });

  test.each<[number, string, RequestClass[]]>([
    [3, "nobody", []],
    [2, "views", ["views"]],
    [1, "creates and views", ["creates", "views"]],
    [0, "all classes", ["unknown", "creates", "views"]],
  ])("with room for %i of three arrivals, are refused to %s", async (startsPerTurn, _classes, refused) => {
    using turns = startTurns({ startsPerTurn });
    for (let nth = 0; nth < 300; nth++) {
      for (const what of KINDS) void turns.request(what);
      await turns.turn();
    }
    expect(turns.changes.at(-1) ?? []).toEqual(refused);
    for (const what of KINDS) {
      expect(turns.done.includes(`no ${what}`)).toBe(refused.some((one) => one === what));
      expect(turns.refusals[what]).toBe(turns.done.filter((how) => how === `no ${what}`).length);
    }
  });

  test("skip clients who hung up, without counting an overload", async () => {
    using turns = startTurns({ startsPerTurn: 1 });
    const client = new AbortController();
    void turns.request("creates");
    void turns.request("creates", client.signal);
    client.abort();
    await turns.turn();
    expect([turns.done, turns.changes]).toEqual([["creates", "no creates"], []]);
    expect(turns.refusals.creates).toBe(0);
  });

  test("end at shutdown, which refuses queued requests without counting an overload", async () => {
    using turns = startTurns({ startsPerTurn: 1 });
    const responses = KINDS.map((what) => turns.request(what));
    turns.close();
    for (const response of responses) await response;
    await turns.turn();
    expect([turns.done, turns.changes]).toEqual([["views", "no unknown", "no creates"], []]);
  });

  test("may be awaited for a second in a burst, but only for half a second under lasting overload", async () => {
    using turns = startTurns({ startsPerTurn: 1 });
    const burst = Array.from({ length: 100 }, () => turns.request("creates"));
    for (let nth = 0; nth < 120; nth++) await turns.turn();
    expect(turns.done).toEqual(Array.from({ length: 100 }, () => "creates"));
    expect(await (await burst.at(-1))?.text()).toBe("990");
    for (let nth = 0; nth < 300; nth++) {
      for (const what of ["creates", "creates"] as const) void turns.request(what);
      await turns.turn();
    }
    const last = turns.request("creates");
    for (let nth = 0; nth < 60; nth++) await turns.turn();
    expect(Number(await (await last).text())).toBeLessThanOrEqual(510);
  });
});

async function responsesOf({ fetch, shorten }: RunningService) {
  const page = { headers: { Accept: "text/html", "Accept-Language": "ko" } };
  return {
    known: await fetch("/known"),
    head: await fetch("/known", { method: "HEAD" }),
    cold: await fetch("/cold"),
    live: await fetch("/livez"),
    ready: await fetch("/readyz"),
    home: await fetch("/"),
    robots: await fetch("/robots.txt"),
    unknown: await fetch("/nowhere"),
    preview: await fetch("/known+", page),
    statistics: await fetch("/api/v1/links/known/stats"),
    image: await fetch("/known.svg"),
    imageHead: await fetch("/known.svg", { method: "HEAD" }),
    create: await shorten({ original_url: TARGET }),
    form: await fetch("/", { method: "POST", body: new URLSearchParams({ original_url: TARGET }) }),
    unknownPage: await fetch("/nowhere", page),
  };
}

const ALWAYS = {
  known: 302,
  head: 302,
  cold: 302,
  live: 200,
  ready: 200,
  home: 200,
  robots: 200,
  unknown: 404,
};

test("a service with room answers every request", async () => {
  await using service = await startService();
  for (const custom_code of ["known", "cold"]) await service.shorten({ original_url: TARGET, custom_code });
  const statuses = Object.entries(await responsesOf(service)).map(([name, { status }]) => [name, status]);
  const views = { preview: 200, statistics: 200, image: 200, imageHead: 200 };
  expect(Object.fromEntries(statuses)).toEqual({
    ...ALWAYS,
    ...views,
    create: 201,
    form: 303,
    unknownPage: 404,
  });
});

describe("a service without room", () => {
  async function start(folder: string) {
    {
      await using before = await startService({}, { folder });
      for (const custom_code of ["known", "cold"])
        await before.shorten({ original_url: TARGET, custom_code });
    }
    const limits = { overload: { startsPerTurn: 0, maxWaitMs: 0, overAfterMs: 1000 } };
    const service = await startService({}, { folder, limits });
    service.expectFaults();
    return service;
  }

  test("redirects links, answers 404 without a page, refuses all else with 503, and logs the overload and its end", async () => {
    using folder = temporaryFolder();
    await using service = await start(folder.path);
    const { preview, statistics, ...others } = await responsesOf(service);
    const statuses = Object.entries(others).map(([name, { status }]) => [name, status]);
    const refused = Object.keys(others).filter((name) => !(name in ALWAYS));
    expect(Object.fromEntries(statuses)).toEqual({
      ...ALWAYS,
      ...Object.fromEntries(refused.map((name) => [name, 503])),
    });
    for (const { status, headers } of [preview, statistics])
      expect([status, headers.get(REASON_HEADER), headers.get("retry-after")]).toEqual([
        503,
        "overloaded",
        "2",
      ]);
    expect(await preview.text()).toContain('<html lang="ko"');
    expect(await statistics.json()).toMatchObject({ status: "error" });
    expect(statistics.headers.get("access-control-allow-origin")).toBe("*");
    // The overload ends if more time passes between two refusals.
    const all = '"refused":["unknown","creates","views"]';
    while (!service.logged.some((line) => line.includes(all))) await responsesOf(service);
    await untilLogged(service, "no longer overloaded");
  });

  test("refuses each reader in their own language and with their own cookie", async () => {
    using folder = temporaryFolder();
    await using service = await start(folder.path);
    const read = async (query: string, cookie = "") => {
      const headers = { Accept: "text/html", "Accept-Language": "en", Cookie: cookie };
      const response = await service.fetch(`/nowhere${query}`, { headers });
      return [/<html lang="(..)"/.exec(await response.text())?.[1], response.headers.has("set-cookie")];
    };
    expect(await read("?language=ko")).toEqual(["ko", true]);
    expect(await read("")).toEqual(["en", false]);
    expect(await read("", "language=ja")).toEqual(["ja", false]);
    expect(await read("")).toEqual(["en", false]);
  });
});

describe("LIMIT_CREATE", () => {
  const limits = { overload: { startsPerTurn: 1, maxWaitMs: 0 } };

  test("refuses a create and a batch before they take a turn from others", async () => {
    await using curt = await startService({ LIMIT_CREATE: "1/1d" }, { limits });
    curt.expectFaults();
    expect((await curt.shorten({ original_url: TARGET })).status).toBe(201);
    const send = (path: string, body: object) =>
      curt.fetch(path, { method: "POST", body: JSON.stringify(body) });
    const responses = await Promise.all(
      Array.from({ length: 40 }, (_, nth) =>
        nth % 2 === 0
          ? send("/api/v1/links", { target: TARGET })
          : send("/api/v1/links/batch", [{ target: TARGET }]),
      ),
    );
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([429]));
  });

  test("doesn't count creates that are refused because others wait", async () => {
    const full = { overload: { ...limits.overload, startsPerTurn: 0 } };
    await using curt = await startService({ LIMIT_CREATE: "1/1d" }, { limits: full });
    curt.expectFaults();
    for (let nth = 0; nth < 3; nth++) expect((await curt.shorten({ original_url: TARGET })).status).toBe(503);
  });
});
