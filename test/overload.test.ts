import { describe, expect, test } from "bun:test";
import { join } from "node:path";

import { createDecision } from "../src/http/overload.ts";
import { REASON_HEADER } from "../src/http/reasons.ts";
import { testOnLinux } from "./linux.ts";
import { ROOT, type Running, startHere, startProgram, untilLogged } from "./service.ts";
import { signal } from "./signals.ts";

const TARGET = "https://example.com/";
const LIMITS_MS = [20, 40, 80];

describe("what is refused", () => {
  /** The levels after each of these samples that changed it. */
  function levels(samples: readonly number[], decide = createDecision(LIMITS_MS)): number[] {
    return samples.flatMap((lateMs) => decide(lateMs)?.level ?? []);
  }
  const samples = (count: number, lateMs: number) => Array.from({ length: count }, () => lateMs);

  test("grows by one step a second, as far as it has to", () => {
    expect(levels(samples(9, 100))).toEqual([]);
    expect(levels(samples(30, 100))).toEqual([1, 2, 3]);
    expect(levels(samples(90, 100))).toEqual([1, 2, 3]);
    expect(levels(samples(90, 50))).toEqual([1, 2]);
    expect(levels(samples(90, 19))).toEqual([]);
  });

  test("is nothing if the thread was held up now and then", () => {
    const heldUp = Array.from({ length: 100 }, (_, nth) => (nth % 10 < 4 ? 500 : 1));
    expect(levels(heldUp)).toEqual([]);
  });

  test("becomes less by one step in three seconds, and only if the thread is well below", () => {
    const decide = createDecision(LIMITS_MS);
    levels(samples(30, 100), decide);
    expect(levels(samples(90, 45), decide)).toEqual([]);
    expect(levels(samples(200, 1), decide)).toEqual([2, 1, 0]);
  });
});

async function statusesOf({ fetch, shorten }: Running) {
  const answers = {
    known: await fetch("/known"),
    cold: await fetch("/cold"),
    live: await fetch("/livez"),
    ready: await fetch("/readyz"),
    preview: await fetch("/known+", { headers: { Accept: "text/html" } }),
    statistics: await fetch("/api/v1/links/known/stats"),
    image: await fetch("/known.svg"),
    create: await shorten({ original_url: TARGET }),
    form: await fetch("/", { method: "POST", body: new URLSearchParams({ original_url: TARGET }) }),
    unknown: await fetch("/nowhere"),
    unknownPage: await fetch("/nowhere", { headers: { Accept: "text/html" } }),
  };
  for (const answer of Object.values(answers))
    if (answer.status === 503)
      expect([answer.headers.get(REASON_HEADER), answer.headers.get("retry-after")]).toEqual([
        "overloaded",
        "2",
      ]);
  return Object.fromEntries(Object.entries(answers).map(([name, { status }]) => [name, status]));
}

const SERVED = { known: 302, cold: 302, live: 200, ready: 200 };
const VIEWS = { preview: 200, statistics: 200, image: 200 };
const CREATES = { create: 201, form: 303 };
const UNKNOWN = { unknown: 404, unknownPage: 404 };
const refused = (answers: object) => Object.fromEntries(Object.keys(answers).map((name) => [name, 503]));

for (const [nth, expected] of [
  { ...SERVED, ...VIEWS, ...CREATES, ...UNKNOWN },
  { ...SERVED, ...refused(VIEWS), ...CREATES, ...UNKNOWN },
  { ...SERVED, ...refused(VIEWS), ...refused(CREATES), ...UNKNOWN },
  { ...SERVED, ...refused(VIEWS), ...refused(CREATES), ...refused(UNKNOWN) },
].entries())
  test(`at level ${nth}, only what comes first is refused`, async () => {
    // Each thread is later than that, and none as late as that.
    const lateMs = [-1, -1, -1].fill(Number.POSITIVE_INFINITY, nth);
    await using service = await startHere({}, { limits: { lateMs } });
    for (const custom_code of ["known", "cold"]) await service.shorten({ original_url: TARGET, custom_code });
    expect((await service.fetch("/known")).status).toBe(302);
    service.expectFaults();
    const last = ["", "views", "creates", "unknown"][nth] ?? "";
    if (last !== "") await untilLogged(service, `"${last}"],"lateMs"`);
    expect(await statusesOf(service)).toEqual(expected);
  });

test("a program that gets too little time says so, refuses previews, and recovers", async () => {
  await using program = await startProgram();
  await program.shorten({ original_url: TARGET, custom_code: "known" });
  program.expectFaults();
  const fed = new AbortController();
  const starving = (async () => {
    while (!fed.signal.aborted) {
      signal(program.pid, "SIGSTOP");
      await Bun.sleep(400);
      signal(program.pid, "SIGCONT");
      await Bun.sleep(5);
    }
  })();
  await untilLogged(program, "overloaded: some requests are refused");
  expect((await program.fetch("/known.svg")).status).toBe(503);
  expect((await program.fetch("/known")).status).toBe(302);
  fed.abort();
  await starving;
  await untilLogged(program, "no longer overloaded");
  expect((await program.fetch("/known.svg")).status).toBe(200);
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
    expect(program.logged.join()).toContain("few connections are possible");
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
