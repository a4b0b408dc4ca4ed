import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";

import type { RequestClass } from "../../../src/http/limits/overload.ts";
import { addressOf, scrapeUntil } from "../../metrics/scrape.ts";
import { testOnLinux } from "../../support/linux.ts";
import { signal } from "../../support/processes.ts";
import { startProgram, untilLogged, PROGRAM } from "../../support/service.ts";

const TARGET = "https://example.com/";

test("a program with too little CPU time keeps redirecting, refuses views, and recovers", async () => {
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
  const request = async (at: number) => {
    await program.fetch(`/known.svg?size=${200 + at}`);
    answers++;
  };
  const requesting = (async () => {
    while (!fed.signal.aborted) await Promise.all(Array.from({ length: 200 }, (_, at) => request(at)));
  })();
  await untilLogged(program, "overloaded: some requests are refused");
  expect((await program.fetch("/known")).status).toBe(302);
  fed.abort();
  await starving;
  await requesting;
  await untilLogged(program, "no longer overloaded");
  expect((await program.fetch("/known.svg")).status).toBe(200);
  const series = (what: RequestClass) => `curt_overload_refused_total{what="${what}"}`;
  const scraped = await scrapeUntil(
    await addressOf(program),
    "there are refusals of views",
    (now) => now.of(series("views")) > 0,
  );
  expect(scraped.of(series("unknown"))).toBe(0);
});

/** Starts the program by a shell that first sets a limit. */
const withLimit = (limit: string) => ({
  command: ["sh", "-c", `${limit} && exec "$@"`, "sh", process.execPath, PROGRAM, "serve"],
});

testOnLinux(
  "with more connections than file descriptors, open ones are served, and the others once there is room",
  async () => {
    await using program = await startProgram({}, withLimit("ulimit -n 256"));
    await program.shorten({ original_url: TARGET, custom_code: "known" });
    await untilLogged(program, "the limit of open files is low");
    // Without a file descriptor, folding fails and is repeated later.
    program.expectFaults();
    const { hostname, port } = new URL(program.origin);
    const request = "GET /known HTTP/1.1\r\nHost: x\r\n\r\n";
    const statusLine = "HTTP/1.1 302 Found";
    const open = async () => {
      const { promise: answered, resolve } = Promise.withResolvers<void>();
      let answers = 0;
      const socket = await Bun.connect({
        hostname,
        port: Number(port),
        socket: {
          data(_, bytes) {
            answers += bytes.toString().split(statusLine).length - 1;
            resolve();
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
    // As many as possible are open now, and some wait.
    expect(others.filter(({ answers }) => answers() === 0).length).toBeGreaterThan(0);
    first.socket.write(request);
    while (first.answers() < 2) await Bun.sleep(5);
    for (const { socket } of first150) socket.end();
    await Promise.all(others.map(({ answered }) => answered));
    for (const { socket } of [first, ...others]) socket.end();
    expect((await program.shorten({ original_url: TARGET, custom_code: "after" })).status).toBe(201);
  },
);

testOnLinux(
  "without free file descriptors, links redirect and pages get 503, and both work again afterwards",
  async () => {
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
    const request = async (path: string) => {
      received.text = "";
      first.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
      while (!received.text.includes("\r\n\r\n")) await Bun.sleep(5);
      return received.text.slice(9, 12);
    };
    expect(await request("/readyz")).toBe("200");
    const others = await Promise.all(Array.from({ length: 200 }, connect));
    while (readdirSync(`/proc/${program.pid}/fd`).length < 128) await Bun.sleep(5);
    // Folding the visit and rendering the preview need a thread each.
    expect(await request("/known")).toBe("302");
    expect(await request("/known+")).toBe("503");
    await untilLogged(program, "too few file descriptors are free");
    expect(await request("/known")).toBe("302");
    for (const socket of others) socket.end();
    while ((await request("/known+")) !== "200") await Bun.sleep(50);
    first.end();
  },
);
