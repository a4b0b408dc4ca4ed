import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { sendRaw } from "../http/raw.ts";
import { startService, startProgram, temporaryFolder, untilLogged } from "../support/service.ts";

const original_url = "https://example.com/";
/** The end of /livez's response. */
const LIVE = '"live"}';

test("SIGINT, as from a terminal, stops Curt in order", async () => {
  await using program = await startProgram();
  program.kill("SIGINT");
  expect(await program.exited).toBe(0);
});

describe("SIGTERM", () => {
  test("finishes open requests, empties the log and exits with 0", async () => {
    using folder = temporaryFolder();
    const program = await startProgram({}, { folder: folder.path });
    const creates = Array.from({ length: 200 }, (_, nth) =>
      program.shorten({ original_url, custom_code: `c${nth}` }),
    );
    await Promise.race(creates);
    const slow = await sendHalf(program.origin);
    program.kill("SIGTERM");
    await untilLogged(program, "stopping");
    expect(await slow.sendRest()).toStartWith("HTTP/1.1 201 ");
    expect(await program.exited).toBe(0);
    const statuses = (await Promise.allSettled(creates)).map((one) =>
      one.status === "fulfilled" ? one.value.status : "lost",
    );
    expect(existsSync(join(folder.path, "curt.db-wal"))).toBeFalse();
    using database = new Database(join(folder.path, "curt.db"), { readonly: true });
    const { count } = database.query("SELECT count(*) AS count FROM links WHERE code LIKE 'c%'").get() as {
      count: number;
    };
    expect(statuses.filter((status) => status === 201)).toHaveLength(count);
    expect(database.query("SELECT 1 FROM links WHERE code = 'slow'").get()).not.toBeNull();
  });

  test("leaves no log, although the views thread has the store open as well", async () => {
    // A thread that isn't waited for often closes its connection in time.
    for (let nth = 0; nth < 3; nth++) {
      using folder = temporaryFolder();
      const service = await startService({}, { folder: folder.path });
      await service.shorten({ original_url, custom_code: "abc" });
      expect((await service.fetch("/abc+")).status).toBe(200);
      await service[Symbol.asyncDispose]();
      expect(existsSync(join(folder.path, "curt.db-wal"))).toBeFalse();
    }
  });

  test("fails /readyz while draining, serves, and closes each connection", async () => {
    await using program = await startProgram({}, { holdsDrain: true });
    await program.shorten({ original_url, custom_code: "abc" });
    expect((await program.fetch("/readyz")).status).toBe(200);
    expect((await program.fetch("/abc")).headers.get("connection")).not.toBe("close");
    program.expectFaults();
    program.kill("SIGTERM");
    while ((await program.fetch("/readyz")).status === 200) await Bun.sleep(10);
    for (const path of ["/livez", "/api/v1/shorten", "/nothing"]) {
      expect(await sendRaw(program.origin, `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)).toContain(
        "Connection: close\r\n",
      );
    }
    const redirect = await sendRaw(program.origin, "GET /abc HTTP/1.1\r\nHost: x\r\n\r\n");
    expect(redirect).toStartWith("HTTP/1.1 302 ");
    expect(redirect).toContain("Connection: close\r\n");
    expect((await program.shorten({ original_url, custom_code: "late" })).status).toBe(201);
    program.endDrain();
    expect(await program.exited).toBe(0);
    expect(await fetch(program.origin).catch(() => "refused")).toBe("refused");
  });

  test("finishes a page that its thread is rendering", async () => {
    const program = await startProgram();
    // The first page takes a while: its thread has yet to start.
    const page = await sendBehindLive(program.origin, "GET /docs HTTP/1.1\r\nHost: x\r\n\r\n");
    program.kill("SIGTERM");
    expect(await page.answer).toStartWith("HTTP/1.1 200 ");
    expect(await program.exited).toBe(0);
  });

  test("ends Curt immediately if a second signal follows", async () => {
    await using program = await startProgram({ DRAIN_WAIT: "60s" });
    program.kill("SIGTERM");
    await untilLogged(program, "stopping");
    // The same signal would be merged with the first if it followed soon.
    program.kill("SIGINT");
    expect(await program.exited).not.toBe(0);
  });

  test("waits for an endless request no longer than its limit", async () => {
    const service = await startService({}, { limits: { server: { drainLimitMs: 100 } } });
    const endless = await sendHalf(service.origin);
    await service[Symbol.asyncDispose]();
    expect(await endless.answer).toBe("");
  });
});

/** Sends a create with half of its body. Resolves when the service has read that. */
async function sendHalf(origin: string) {
  const body = JSON.stringify({ original_url, custom_code: "slow" });
  const half = `POST /api/v1/shorten HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 10)}`;
  const { answer, send } = await sendBehindLive(origin, half);
  return {
    answer,
    sendRest(): Promise<string> {
      send(body.slice(10));
      return answer;
    },
  };
}

/** Sends `request` behind another one. Resolves when the service has read both. */
async function sendBehindLive(origin: string, request: string) {
  const { hostname, port } = new URL(origin);
  const { promise: started, resolve: start } = Promise.withResolvers<void>();
  const { promise: answer, resolve: end } = Promise.withResolvers<string>();
  let received = "";
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data(_, bytes) {
        received += bytes.toString();
        if (received.includes(LIVE)) start();
      },
      close: () => end(received.slice(received.indexOf(LIVE) + LIVE.length)),
    },
  });
  // The service reads both requests at once, so the answer to the first one shows that the second one has arrived.
  socket.write(`GET /livez HTTP/1.1\r\nHost: x\r\n\r\n${request}`);
  await started;
  return {
    /** Everything received behind the first answer, until the service closes the connection. */
    answer,
    send: (more: string) => void socket.write(more),
  };
}
