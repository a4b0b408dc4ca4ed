import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";

import * as fc from "fast-check";

import { readLines } from "../../src/http/api/lines.ts";
import { type Here, type Running, startHere, startProgram } from "../service.ts";

const PATH = "/api/v1/shorten/batch";
const TARGET = "https://example.com/line";
const MAX_LINE = 65_536;
/** As many as a process answers at once for a client. */
const MAX_STREAMS = 32;
const MAX_WAITS = 10_000;
const times = (count: number) => Array.from({ length: count }, (_, nth) => nth);
const lineOf = (nth: number) => JSON.stringify({ original_url: `${TARGET}/${nth}` });

interface Result {
  readonly status_code: number;
  readonly reason?: string;
  readonly retry_after?: number;
  readonly data?: { readonly code: string; readonly original_url: string };
}

let curt: Here;
beforeAll(async () => {
  curt = await startHere();
});
afterAll(() => curt[Symbol.asyncDispose]());

/** A connection on which lines go out and results come in, at the same time. */
function open({ origin }: Running, headers: Record<string, string> = {}) {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname).setEncoding("utf8");
  let received = "";
  socket.on("error", () => {});
  socket.on("data", (text) => (received += text));
  const all = {
    Host: "x",
    "Content-Type": "application/x-ndjson",
    "Transfer-Encoding": "chunked",
    ...headers,
  };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST ${PATH} HTTP/1.1\r\n${head.join("")}\r\n`);
  // What is after the last line break may be half a line.
  const results = () =>
    received
      .slice(0, received.lastIndexOf("\n"))
      .split("\r\n")
      .flatMap((chunk) => chunk.split("\n"))
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as Result);

  return {
    socket,
    send: (text: string) => socket.write(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`),
    end: () => socket.write("0\r\n\r\n"),
    results,
    isWhole: () => received.endsWith("\r\n0\r\n\r\n"),
    status: () => Number(received.split(" ", 2)[1]),
    async until(what: string, is: () => boolean): Promise<void> {
      for (let waits = 0; !is(); waits++) {
        if (waits > MAX_WAITS) throw new Error(`waited too long until ${what}`);
        await Bun.sleep(2);
      }
    },
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

async function post(body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}, on = curt) {
  const response = await on.fetch(PATH, {
    method: "POST",
    headers: { "Content-Type": "application/x-ndjson", ...headers },
    body,
  });
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/x-ndjson"]);
  const text = await response.text();
  expect(text === "" || text.endsWith("\n")).toBe(true);
  const results = text.split("\n").slice(0, -1);
  return results.map((line) => JSON.parse(line) as Result);
}

describe("lines of JSON", () => {
  test("are answered by a line each, in order, and a wrong one is no matter to the others", async () => {
    const bytes = Buffer.concat([
      Buffer.from(`${lineOf(0)}\n\r\n \n${lineOf(1)}\r\nno json\n[]\n`),
      Buffer.from([0x22, 0xff, 0x22, 0x0a]),
      Buffer.from(`${lineOf(2)}\n{"original_url":"${"x".repeat(MAX_LINE)}"}\n`),
      Buffer.from(`{"original_url":"${"x".repeat(MAX_LINE - 19)}"}\n${lineOf(4)}`),
    ]);
    const told = await post(new Uint8Array(bytes));
    expect(told.map(({ status_code, reason, data }) => [status_code, reason ?? data?.original_url])).toEqual([
      [201, `${TARGET}/0`],
      [201, `${TARGET}/1`],
      [400, "body.json"],
      [400, "body.object"],
      [400, "body.encoding"],
      [201, `${TARGET}/2`],
      [413, "body.too-large"],
      [400, "target.too-long"],
      [201, `${TARGET}/4`],
    ]);
    expect(await post("")).toEqual([]);
    expect(await post("\n\n")).toEqual([]);
  });

  test("may have any of the types in use", async () => {
    for (const type of ["application/x-ndjson; charset=utf-8", "Application/NDJSON", "application/jsonl"])
      expect(await post(lineOf(0), { "Content-Type": type })).toHaveLength(1);
  });

  test("are the same however they are cut into packets", async () => {
    const line = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.constantFrom("", "x".repeat(MAX_LINE), "x".repeat(MAX_LINE + 1), "가".repeat(MAX_LINE / 3)),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 12 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 30_000 })),
        fc.boolean(),
        fc.integer({ min: 1, max: 5 }),
        async (lines, sizes, fill, limit) => {
          const bytes = Buffer.from(lines.join("\n"));
          let at = 0;
          const body = new ReadableStream<Uint8Array>({
            pull(controller) {
              if (at >= bytes.length) return controller.close();
              const { value: size } = sizes.next();
              controller.enqueue(new Uint8Array(bytes.subarray(at, (at += size))));
            },
          });
          const reader = readLines(body, async () => {});
          const read: unknown[] = [];
          for (
            let group = await reader.next(limit, fill);
            group.length > 0;
            group = await reader.next(limit, fill)
          ) {
            expect(group.length).toBeLessThanOrEqual(limit);
            read.push(...group);
          }
          const expected = lines
            .flatMap((one) => one.split("\n"))
            .map((one) =>
              Buffer.byteLength(one) > MAX_LINE ? { kind: "body.too-large", max: MAX_LINE } : one,
            )
            .filter((one) => typeof one !== "string" || one.trim() !== "");
          expect(read).toEqual(expected);
        },
      ),
    );
  });

  test("are answered while the connection is open", async () => {
    using stream = open(curt);
    for (const nth of times(5)) {
      stream.send(`${lineOf(nth)}\n`);
      await stream.until("it is answered", () => stream.results().length === nth + 1);
    }
    stream.end();
    await stream.until("the answer ends", () => stream.results().length === 5);
    expect(stream.results().map(({ data }) => data?.original_url)).toEqual(
      times(5).map((nth) => `${TARGET}/${nth}`),
    );
  });

  test("are not read while their answers are not", async () => {
    using stream = open(curt);
    stream.socket.pause();
    // In each direction far more than the buffers of both ends: answers to many short lines, then long lines.
    const short = "0\n".repeat(100_000);
    const long = `"${"x".repeat(60_000)}"\n`.repeat(3);
    const blocks = [short, ...Array<string>(400).fill(long)];
    let sent = 0;
    let waits = 0;
    while (sent < blocks.length && waits < 200) {
      if (stream.socket.writableNeedDrain) {
        waits++;
        await Bun.sleep(5);
      } else {
        stream.send(blocks[sent] ?? "");
        sent++;
        waits = 0;
      }
    }
    expect(sent).toBeLessThan(blocks.length);
    stream.socket.resume();
    for (const block of blocks.slice(sent)) {
      stream.send(block);
      if (stream.socket.writableNeedDrain)
        await new Promise((resolve) => stream.socket.once("drain", resolve));
    }
    stream.end();
    await stream.until("the answer ends", stream.isWhole);
    expect(stream.results()).toHaveLength(100_000 + 400 * 3);
  });

  test("leave redirects their turn, also if nothing waits for the store", async () => {
    await using own = await startProgram();
    const { data } = (await (await own.shorten({ original_url: TARGET })).json()) as Result;
    const count = 200_000;
    const head = `POST ${PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\n`;
    const { hostname, port } = new URL(own.origin);
    const answers: string[] = [];
    const socket = connect(Number(port), hostname, () =>
      socket.write(`${head}Content-Length: ${2 * count}\r\n\r\n${"0\n".repeat(count)}`),
    );
    socket.setEncoding("utf8").on("data", (text) => answers.push(text.toString()));
    while (answers.length === 0) await Bun.sleep(1);
    expect((await own.fetch(`/${data?.code}`)).status).toBe(302);
    expect(answers.join("").split("body.object").length).toBeLessThan(count / 4);
    socket.destroy();
  });

  test("take their place until the client hangs up", async () => {
    await using own = await startHere({ TRUSTED_PROXIES: "127.0.0.1" });
    const streams = times(MAX_STREAMS).map(() => open(own));
    for (const [nth, stream] of streams.entries()) {
      stream.send(`${lineOf(nth)}\n`);
      await stream.until("it is answered", () => stream.results().length === 1);
    }
    own.expectFaults();
    {
      using over = open(own);
      await over.until("it is refused", () => over.status() === 503);
    }
    {
      using other = open(own, { "X-Forwarded-For": "192.0.2.1" });
      other.send(`${lineOf(0)}\n`);
      await other.until("another client is answered", () => other.results().length === 1);
    }
    for (const stream of streams) stream.socket.destroy();
    for (let waits = 0; ; waits++) {
      const response = await own.fetch(PATH, {
        method: "POST",
        headers: { "Content-Type": "application/x-ndjson" },
        body: lineOf(0),
      });
      await response.text();
      if (response.status === 200) break;
      expect(waits).toBeLessThan(MAX_WAITS);
      await Bun.sleep(2);
    }
  });

  test("beyond a limit are refused one by one", async () => {
    await using own = await startHere({ LIMIT_CREATE: "3/1d" });
    const told = await post(`${lineOf(0)}\n{}\n${times(4).map(lineOf).join("\n")}`, {}, own);
    expect(told.map(({ status_code, reason }) => [status_code, reason])).toEqual([
      [201, undefined],
      [400, "field.required"],
      [201, undefined],
      [201, undefined],
      [429, "limit.create"],
      [429, "limit.create"],
    ]);
    expect(told[4]?.retry_after).toBeGreaterThan(0);
    const refused = await own.fetch(PATH, {
      method: "POST",
      headers: { "Content-Type": "application/x-ndjson" },
      body: lineOf(0),
    });
    expect([refused.status, refused.headers.get("curt-reason")]).toEqual([429, "limit.create"]);
    own.advance((told[4]?.retry_after ?? 0) * 1000);
    expect((await post(lineOf(0), {}, own)).map(({ status_code }) => status_code)).toEqual([201]);
  });

  test("with an Idempotency-Key go on after a connection that broke", async () => {
    const key = { "Idempotency-Key": "broken" };
    const lines = times(1700).map(lineOf);
    let before: Result[];
    {
      using stream = open(curt, key);
      stream.send(`${lines.join("\n")}\n`);
      await stream.until("five blocks are answered", () => stream.results().length >= 1000);
      before = stream.results();
    }
    const all = await post(lines.join("\n"), key);
    expect(all.slice(0, before.length)).toEqual(before);
    expect(all.map(({ data }) => data?.original_url)).toEqual(times(1700).map((nth) => `${TARGET}/${nth}`));
    expect(await post(lines.join("\n"), key)).toEqual(all);
    const changed = await post([...lines.slice(0, 600), "x", ...lines.slice(601)].join("\n"), key);
    expect(changed.slice(0, 600)).toEqual(all.slice(0, 600));
    expect(changed.slice(600, 800).map(({ reason }) => reason)).toEqual(
      times(200).map((nth) => (nth === 0 ? "body.json" : "idempotency.reused")),
    );
    expect(changed.slice(800)).toEqual(all.slice(800));
  });
});
