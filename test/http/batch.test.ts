import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { connect } from "node:net";

import en from "../../src/locales/en.json";
import ko from "../../src/locales/ko.json";
import { type LocalService, outcomeOf, shareService, startService, toDomain } from "../support/service.ts";

const LINKS = "/api/v1/links/batch";
const target = "https://example.com/many";
const times = (count: number) => Array.from({ length: count }, (_, nth) => nth);

const curt = shareService();

function send(path: string, body: unknown, headers: Record<string, string> = {}, on: LocalService = curt) {
  return on.fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

async function resultsOf(response: Response): Promise<Record<string, any>[]> {
  const { status, message, data } = (await response.json()) as Record<string, any>;
  expect([response.status, status, message]).toEqual([200, "success", en.batch]);
  expect(Object.keys(data)).toEqual(["results"]);
  return data.results;
}

/** Counts the commits in SQLite's log: a frame that ends one has the size of the database in its header. */
function countCommits(file: string): number {
  const log = readFileSync(`${file}-wal`);
  const page = log.readUInt32BE(8);
  let count = 0;
  for (let at = 32; at + 24 <= log.length; at += 24 + page) if (log.readUInt32BE(at + 4) !== 0) count++;
  return count;
}

describe("POST /api/v1/links/batch", () => {
  test("refuses a domain that would take minutes to normalize", async () => {
    const domain = "\u0345\u0334".repeat(512_000 / 4);
    const refusal = await resultsOf(
      await send(LINKS, [
        { target, domain },
        { target, domain: "a".repeat(254) },
      ]),
    );
    expect(refusal.map(({ errors }) => errors[0].reason)).toEqual(["domain.unknown", "domain.unknown"]);
  });

  test("creates links in order, and an invalid item doesn't affect the others", async () => {
    const results = await resultsOf(
      await send(LINKS, [
        { target: `${target}/0`, code: "처음" },
        { target: "ftp://x", code: "a b" },
        5,
        null,
        [],
        { target: `${target}/5` },
        { target: `${target}/6`, code: "처음" },
        { target: 7 },
        { target: `${target}/8`, expires_at: "24h" },
      ]),
    );
    const reasons = results.map(({ errors }) =>
      errors?.map(({ reason }: { reason: string }) => reason).join(", "),
    );
    expect(results.map(({ status_code }, nth) => [status_code, reasons[nth]])).toEqual([
      [201, undefined],
      [400, "target.scheme, code.space"],
      [400, "body.object"],
      [400, "body.object"],
      [400, "body.object"],
      [201, undefined],
      [409, "code.taken"],
      [400, "field.type"],
      [201, undefined],
    ]);
    expect(Object.keys(results[0] ?? {})).toEqual(["status_code", "status", "message", "data"]);
    expect(Object.keys(results[1] ?? {})).toEqual(["status_code", "status", "message", "errors"]);
    expect(results[0]).toMatchObject({ status: "success", message: en["link.made"], data: { code: "처음" } });
    expect(results[6]).toMatchObject({ status: "error", message: `code: ${en.taken}` });
    for (const [nth, { data }] of results.entries())
      if (data !== undefined) {
        expect(data.target).toBe(`${target}/${nth}`);
        const { headers } = await curt.fetch(`/${encodeURIComponent(data.code)}`);
        expect(headers.get("location")).toBe(`${target}/${nth}`);
      }
  });

  test("describes each link as a single create does, in the caller's language", async () => {
    const korean = { "Accept-Language": "ko" };
    const body = { target, max_visits: 3 };
    const response = await send(LINKS, [body, { target: "x" }], korean);
    expect(response.headers.get("content-language")).toBe("ko");
    const { data, message } = (await response.json()) as any;
    expect(message).toBe(ko.batch);
    const [created, refusal] = data.results;
    const single = (await (await send("/api/v1/links", body, korean)).json()) as any;
    expect(Object.keys(created.data)).toEqual(Object.keys(single.data));
    expect(created).toMatchObject({ status: "success", message: single.message, data: { max_visits: 3 } });
    expect(refusal.message).toBe(`target: ${ko["target.scheme"]}`);
  });

  test("creates up to 500 links in one commit", async () => {
    // Without visits, nothing else is written.
    await using own = await startService();
    const commitsFor = async (count: number) => {
      const before = countCommits(own.file);
      const bodies = times(count).map((nth) => ({ target: `${target}/${nth}` }));
      const results = await resultsOf(await send(LINKS, bodies, {}, own));
      expect(results.map(({ data }) => data?.target)).toEqual(bodies.map((body) => body.target));
      return countCommits(own.file) - before;
    };
    // The first link of a store also fixes CODE_CASE.
    expect(await commitsFor(1)).toBe(2);
    expect(await commitsFor(1)).toBe(1);
    expect(await commitsFor(500)).toBe(1);
  });

  test("refuses an array of no items, and of more than 500", async () => {
    for (const count of [0, 501])
      expect(
        await outcomeOf(
          send(
            LINKS,
            times(count).map(() => ({ target })),
          ),
        ),
      ).toBe("400 batch.length");
  });

  test("accepts a body of 1 MiB, and no longer one", async () => {
    const bytes = (size: number) => `[{"target":"${target}"}${" ".repeat(size - target.length - 15)}]`;
    expect(bytes(1024 * 1024)).toHaveLength(1024 * 1024);
    expect(await resultsOf(await send(LINKS, bytes(1024 * 1024)))).toHaveLength(1);
    expect(await outcomeOf(send(LINKS, bytes(1024 * 1024 + 1)))).toBe("413 body.too-large");
    // A single create may have fewer.
    expect((await send("/api/v1/links", bytes(65_537))).status).toBe(413);
  });

  test("doesn't hide the link with the code `batch`", async () => {
    await send("/api/v1/links", { target, code: "batch" });
    for (const path of [LINKS, `${LINKS}/`]) {
      const { data } = (await (await curt.fetch(path)).json()) as any;
      expect(data).toMatchObject({ code: "batch", target });
    }
    expect((await curt.fetch("/api/v1/links/batch/stats")).status).toBe(200);
  });
});

test("a redirect gets its turn among 30 batches whose items are all invalid", async () => {
  // In this process, both ends of each connection have their turns, however busy the machine is.
  await using own = await startService();
  const link = (await (await own.shorten({ original_url: target })).json()) as Record<string, any>;
  const arrays = 30;
  const body = JSON.stringify(times(500).map(() => ({})));
  let completed = 0;
  const all = times(arrays).map(async () => {
    const response = await own.fetch(LINKS, { method: "POST", body });
    completed++;
    expect(await resultsOf(response)).toHaveLength(500);
  });
  await Promise.any(all);
  expect((await own.fetch(`/${link["data"].code}`)).status).toBe(302);
  expect(completed).toBeLessThan(arrays / 2);
  await Promise.all(all);
});

test("slow batches of one client leave room for others, and hanging up frees their places", async () => {
  const settings = { TRUSTED_PROXIES: "127.0.0.1", DOMAINS: "https://go.example.com" };
  await using own = await startService(settings);
  own.expectFaults();
  // An empty array is refused without counting against a limit.
  const statusFor = async (client: string, at: LocalService = own) =>
    (await send(LINKS, [], { "X-Forwarded-For": client }, at)).status;
  const until = async (status: number) => {
    while ((await statusFor("192.0.2.1")) !== status) await Bun.sleep(2);
  };
  const { hostname, port } = new URL(own.origin);
  const head = `POST ${LINKS} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.1\r\nContent-Length: 9\r\n\r\n`;
  const slow = times(32).map(() => connect(Number(port), hostname).on("error", () => {}));
  for (const socket of slow) socket.write(`${head}[`);
  await until(503);
  expect(await statusFor("192.0.2.1", toDomain(own, "go.example.com"))).toBe(503);
  expect(await statusFor("192.0.2.2")).toBe(400);
  for (const socket of slow) socket.destroy();
  await until(400);
});

describe("LIMIT_CREATE", () => {
  const many = (count: number, wrong = 0) =>
    times(count).map((nth) => ({ target: nth < wrong ? "ftp://x" : target }));
  const countCreated = (results: Record<string, any>[]) =>
    results.filter(({ status_code }) => status_code === 201).length;

  test("counts each created link of a batch, and refuses a batch over the remainder as a whole", async () => {
    await using own = await startService({ LIMIT_CREATE: "10/1d" });
    const request = (count: number, wrong?: number) => send(LINKS, many(count, wrong), {}, own);
    expect(countCreated(await resultsOf(await request(6)))).toBe(6);
    const refusal = await request(5);
    expect(Number(refusal.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await outcomeOf(refusal)).toBe("429 limit.create");
    // Failed items don't count.
    const some = await request(4, 3);
    expect(some.headers.get("ratelimit")).toStartWith('"create";r=3;');
    expect(countCreated(await resultsOf(some))).toBe(1);
    expect(countCreated(await resultsOf(await request(3)))).toBe(3);
    expect((await request(1)).status).toBe(429);
    own.advance(Number(refusal.headers.get("retry-after")) * 1000);
    expect((await request(1)).status).toBe(200);
  });

  test("bounds the length of a batch", async () => {
    await using own = await startService({ LIMIT_CREATE: "8/1d" });
    const refusal = await send(LINKS, many(9), {}, own);
    expect(await outcomeOf(refusal)).toBe("400 batch.length");
    expect(((await refusal.json()) as { message: string }).message).toContain("1 to 8 links");
    expect(countCreated(await resultsOf(await send(LINKS, many(8), {}, own)))).toBe(8);
  });
});
