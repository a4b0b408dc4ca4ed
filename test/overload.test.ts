import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";

import { createOverload, type OverloadLimits, type RequestClass } from "../src/http/overload.ts";
import { REASON_HEADER } from "../src/http/problem-reasons.ts";
import { testOnLinux } from "./linux.ts";
import { addressOf, scrapeUntil } from "./metrics/scrape.ts";
import { ROOT, type Running, startHere, startProgram, temporaryFolder, untilLogged } from "./service.ts";
import { signal } from "./signals.ts";

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
    const limits = { startsPerTurn: 0, maxWaitMs: 0, overAfterMs: 1000 };
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

test("a program that gets too little time redirects, refuses what is too much, and recovers", async () => {
  await using program = await startProgram({ METRICS_PORT: "0" });
  await program.shorten({ original_url: TARGET, custom_code: "known" });
  program.expectFaults();
  const fed = new AbortController();
  let answers = 0;
  const starving = (async () => {
    for (let fedMs = 5; !fed.signal.aborted;) {
      const before = answers;
      signal(program.pid, "SIGSTOP");
      await Bun.sleep(400);
      signal(program.pid, "SIGCONT");
      await Bun.sleep(fedMs);
      // On a busy machine, others may have run in this time.
      fedMs = answers === before ? 2 * fedMs : 5;
    }
  })();
  const ask = async (at: number) => {
    await program.fetch(`/known.svg?size=${200 + at}`);
    answers++;
  };
  const asking = (async () => {
    while (!fed.signal.aborted) await Promise.all(Array.from({ length: 200 }, (_, at) => ask(at)));
  })();
  await untilLogged(program, "overloaded: some requests are refused");
  expect((await program.fetch("/known")).status).toBe(302);
  fed.abort();
  await starving;
  await asking;
  await untilLogged(program, "no longer overloaded");
  expect((await program.fetch("/known.svg")).status).toBe(200);
  const series = (what: RequestClass) => `curt_overload_refused_total{what="${what}"}`;
  const told = await scrapeUntil(
    await addressOf(program),
    "refusals are told",
    (now) => now.of(series("views")) > 0,
  );
  expect(told.of(series("unknown"))).toBe(0);
});

/** Starts the program by a shell that first sets a limit. */
const withLimit = (limit: string) => ({
  command: ["sh", "-c", `${limit} && exec "$@"`, "sh", process.execPath, join(ROOT, "src/main.ts"), "serve"],
});

testOnLinux(
  "more connections than file descriptors: open ones are served, and the others once there is room",
  async () => {
    await using program = await startProgram({}, withLimit("ulimit -n 256"));
    await program.shorten({ original_url: TARGET, custom_code: "known" });
    await untilLogged(program, "few connections are possible");
    // If its turn comes while there is no file descriptor, a visit is folded later.
    program.expectFaults();
    const { hostname, port } = new URL(program.origin);
    const request = "GET /known HTTP/1.1\r\nHost: x\r\n\r\n";
    const statusLine = "HTTP/1.1 302 Found";
    const open = async () => {
      const { promise: answered, resolve: tell } = Promise.withResolvers<void>();
      let answers = 0;
      const socket = await Bun.connect({
        hostname,
        port: Number(port),
        socket: {
          data(_, bytes) {
            answers += bytes.toString().split(statusLine).length - 1;
            tell();
          },
        },
      });
      return { socket, answered, answers: () => answers };
    };
    const [first] = [await open()];
    first.socket.write(request);
    await first.answered;
    const others = await Promise.all(Array.from({ length: 300 }, open));
    for (const { socket } of others) socket.write(request);
    const first150 = others.slice(0, 150);
    await Promise.all(first150.map(({ answered }) => answered));
    // All that fit are open now, and some wait.
    expect(others.filter(({ answers }) => answers() === 0).length).toBeGreaterThan(0);
    first.socket.write(request);
    while (first.answers() < 2) await Bun.sleep(5);
    for (const { socket } of first150) socket.end();
    await Promise.all(others.map(({ answered }) => answered));
    for (const { socket } of [first, ...others]) socket.end();
    expect((await program.shorten({ original_url: TARGET, custom_code: "after" })).status).toBe(201);
  },
);

testOnLinux("without file descriptors, no thread is started, and the process lives on", async () => {
  await using program = await startProgram({}, withLimit("ulimit -n 128"));
  await program.shorten({ original_url: TARGET, custom_code: "known" });
  program.expectFaults();
  const { hostname, port } = new URL(program.origin);
  const received = { text: "" };
  const connect = () =>
    Bun.connect({
      hostname,
      port: Number(port),
      socket: { data: (_, bytes) => void (received.text += bytes.toString()) },
    });
  const first = await connect();
  const ask = async (path: string) => {
    received.text = "";
    first.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    while (!received.text.includes("\r\n\r\n")) await Bun.sleep(5);
    return received.text.slice(9, 12);
  };
  expect(await ask("/readyz")).toBe("200");
  const others = await Promise.all(Array.from({ length: 200 }, connect));
  while (readdirSync(`/proc/${program.pid}/fd`).length < 128) await Bun.sleep(5);
  // The visit has to be folded, and the preview has to be made.
  expect(await ask("/known")).toBe("302");
  expect(await ask("/known+")).toBe("503");
  await untilLogged(program, "too few file descriptors are free");
  expect(await ask("/known")).toBe("302");
  for (const socket of others) socket.end();
  while ((await ask("/known+")) !== "200") await Bun.sleep(50);
  first.end();
});
