import { describe, expect, test } from "bun:test";

import { createOverload, type OverloadLimits, type RequestClass } from "../../src/http/overload.ts";
import { REASON_HEADER } from "../../src/http/problem-reasons.ts";
import { type Running, startHere, temporaryFolder, untilLogged } from "../service.ts";

const TARGET = "https://example.com/";
const KINDS = ["views", "creates", "unknown"] as const;

describe("turns", () => {
  const callOf = (hangsUp: AbortSignal) =>
    ({ client: () => ({ address: "", country: "" }), request: { signal: hangsUp } }) as Parameters<
      ReturnType<typeof createOverload>["takeTurns"]
    >[1];

  /** Each turn takes 10 ms. */
  function open(limits: OverloadLimits) {
    let nowMs = 0;
    const told: (readonly RequestClass[])[] = [];
    const overload = createOverload({
      ...limits,
      clock: { monotonicMs: () => nowMs },
      onChange: (refused) => told.push(refused),
    });
    const done: string[] = [];
    const ask = (what: RequestClass, hangsUp = new AbortController().signal) => {
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
    const { refusals, close } = overload;
    return { ask, turn, done, told, refusals, close, [Symbol.dispose]: close };
  }

  test("are at once while few ask", () => {
    using turns = open({});
    for (const what of KINDS) void turns.ask(what);
    expect(turns.done).toEqual([...KINDS]);
  });

  test("are given to unknown codes first, then to creates, then to views, whoever came first", async () => {
    using turns = open({ startsPerTurn: 1 });
    for (const what of [...KINDS, ...KINDS]) void turns.ask(what);
    for (let nth = 0; nth < 20; nth++) await turns.turn();
    expect(turns.done).toEqual(["views", "unknown", "unknown", "creates", "creates", "views"]);
  });

  for (const [startsPerTurn, refused] of [
    [3, []],
    [2, ["views"]],
    [1, ["creates", "views"]],
    [0, ["unknown", "creates", "views"]],
  ] as const)
    test(`are refused to ${refused.join(" and ") || "nobody"} if three ask and ${startsPerTurn} can be done`, async () => {
      using turns = open({ startsPerTurn });
      for (let nth = 0; nth < 300; nth++) {
        for (const what of KINDS) void turns.ask(what);
        await turns.turn();
      }
      expect(turns.told.at(-1) ?? []).toEqual(refused);
      for (const what of KINDS) {
        expect(turns.done.includes(`no ${what}`)).toBe(refused.some((one) => one === what));
        expect(turns.refusals[what]).toBe(turns.done.filter((how) => how === `no ${what}`).length);
      }
    });

  test("are not begun for those who have hung up, and that is no overload", async () => {
    using turns = open({ startsPerTurn: 1 });
    const client = new AbortController();
    void turns.ask("creates");
    void turns.ask("creates", client.signal);
    client.abort();
    await turns.turn();
    expect([turns.done, turns.told]).toEqual([["creates", "no creates"], []]);
    expect(turns.refusals.creates).toBe(0);
  });

  test("are not begun any more at the end, and whoever waits is refused, which is no overload", async () => {
    using turns = open({ startsPerTurn: 1 });
    const answers = KINDS.map((what) => turns.ask(what));
    turns.close();
    for (const answer of answers) await answer;
    await turns.turn();
    expect([turns.done, turns.told]).toEqual([["views", "no unknown", "no creates"], []]);
  });

  test("are waited for in a burst, and for half a second if there is no end to it", async () => {
    using turns = open({ startsPerTurn: 1 });
    const burst = Array.from({ length: 100 }, () => turns.ask("creates"));
    for (let nth = 0; nth < 120; nth++) await turns.turn();
    expect(turns.done).toEqual(Array.from({ length: 100 }, () => "creates"));
    expect(await (await burst.at(-1))?.text()).toBe("990");
    for (let nth = 0; nth < 300; nth++) {
      for (const what of ["creates", "creates"] as const) void turns.ask(what);
      await turns.turn();
    }
    const last = turns.ask("creates");
    for (let nth = 0; nth < 60; nth++) await turns.turn();
    expect(Number(await (await last).text())).toBeLessThanOrEqual(510);
  });
});

async function answersOf({ fetch, shorten }: Running) {
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

test("with room, everything is answered", async () => {
  await using service = await startHere();
  for (const custom_code of ["known", "cold"]) await service.shorten({ original_url: TARGET, custom_code });
  const answers = Object.entries(await answersOf(service)).map(([name, { status }]) => [name, status]);
  const views = { preview: 200, statistics: 200, image: 200, imageHead: 200 };
  expect(Object.fromEntries(answers)).toEqual({
    ...ALWAYS,
    ...views,
    create: 201,
    form: 303,
    unknownPage: 404,
  });
});

describe("without any room", () => {
  async function start(folder: string) {
    {
      await using before = await startHere({}, { folder });
      for (const custom_code of ["known", "cold"])
        await before.shorten({ original_url: TARGET, custom_code });
    }
    const limits = { overload: { startsPerTurn: 0, maxWaitMs: 0, overAfterMs: 1000 } };
    const service = await startHere({}, { folder, limits });
    service.expectFaults();
    return service;
  }

  test("links lead on, programs learn what is unknown, and all else is refused, and the log tells", async () => {
    using folder = temporaryFolder();
    await using service = await start(folder.path);
    const { preview, statistics, ...answers } = await answersOf(service);
    const statuses = Object.entries(answers).map(([name, { status }]) => [name, status]);
    const refused = Object.keys(answers).filter((name) => !(name in ALWAYS));
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
    // If more time passes between two refusals, the first one is over.
    const all = '"refused":["unknown","creates","views"]';
    while (!service.logged.some((line) => line.includes(all))) await answersOf(service);
    await untilLogged(service, "no longer overloaded");
  });

  test("each reader gets a language and a cookie of their own", async () => {
    using folder = temporaryFolder();
    await using service = await start(folder.path);
    const ask = async (query: string, cookie = "") => {
      const headers = { Accept: "text/html", "Accept-Language": "en", Cookie: cookie };
      const answer = await service.fetch(`/nowhere${query}`, { headers });
      return [/<html lang="(..)"/.exec(await answer.text())?.[1], answer.headers.has("set-cookie")];
    };
    expect(await ask("?language=ko")).toEqual(["ko", true]);
    expect(await ask("")).toEqual(["en", false]);
    expect(await ask("", "language=ja")).toEqual(["ja", false]);
    expect(await ask("")).toEqual(["en", false]);
  });
});
