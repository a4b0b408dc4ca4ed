import { describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";

import { feedFile, type FeedsOptions, startFeeds } from "../../src/moderation/blocklist/feeds.ts";
import { temporaryFolder } from "../support/service.ts";

const HOUR_MS = 3_600_000;

/** Serves one list on loopback, and records the requests. */
function serveList(answer: (request: Request) => Response | Promise<Response>) {
  const requests: Request[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      requests.push(request);
      return answer(request);
    },
  });
  return { requests, url: `${server.url.href}list`, [Symbol.asyncDispose]: () => server.stop(true) };
}

/** Starts feeds on a clock that the test sets. They check every few milliseconds whether a fetch is due. */
function follow(folder: string, url: string, options: Partial<FeedsOptions> = {}) {
  const failures: string[] = [];
  let fetched = 0;
  let nowMs = Date.now();
  const feeds = startFeeds({
    urls: [url],
    folder,
    nowMs: () => nowMs,
    jitter: 0.5,
    feedPollMs: 5,
    doubtAbout: async () => undefined,
    onFetched: () => void fetched++,
    onFailure: (_, reason) => void failures.push(reason),
    onFault: (error) => {
      throw error;
    },
    ...options,
  });
  return {
    failures,
    fetched: () => fetched,
    fetches: feeds.fetches,
    advance: (ms: number) => void (nowMs += ms),
    file: feedFile(folder, url),
    [Symbol.asyncDispose]: () => feeds.close(),
  };
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await Bun.sleep(2);
}

describe("a feed", () => {
  test("is stored, and fetched again after an hour with a conditional request", async () => {
    using folder = temporaryFolder();
    let version = 1;
    await using server = serveList(({ headers }) => {
      const etag = `"${version}"`;
      if (headers.get("if-none-match") === etag) return new Response(null, { status: 304 });
      const validators = { ETag: etag, "Last-Modified": "Sun, 01 Nov 2026 00:00:00 GMT" };
      return new Response(`evil-${version}.example\n`, { headers: validators });
    });
    await using feeds = follow(folder.path, server.url);
    await until(() => feeds.fetched() === 1);
    expect(readFileSync(feeds.file, "utf8")).toBe("evil-1.example\n");
    expect(server.requests[0]?.headers.has("if-none-match")).toBeFalse();
    feeds.advance(HOUR_MS / 2);
    await Bun.sleep(30);
    expect(server.requests).toHaveLength(1);
    feeds.advance(HOUR_MS);
    await until(() => server.requests.length === 2);
    expect(server.requests[1]?.headers.get("if-modified-since")).toBe("Sun, 01 Nov 2026 00:00:00 GMT");
    version = 2;
    feeds.advance(HOUR_MS * 2);
    await until(() => feeds.fetched() === 2);
    expect(server.requests).toHaveLength(3);
    expect(readFileSync(feeds.file, "utf8")).toBe("evil-2.example\n");
    expect(feeds.failures).toEqual([]);
    expect(feeds.fetches).toEqual({ new: 2, unchanged: 1, failed: 0 });
  });

  test("is fetched by one of several processes, and not again after a restart", async () => {
    using folder = temporaryFolder();
    const hadNote: boolean[] = [];
    await using server = serveList(async ({ url }) => {
      hadNote.push(existsSync(`${feedFile(folder.path, url)}.json`));
      await Bun.sleep(50);
      return new Response("evil.example\n");
    });
    {
      await using one = follow(folder.path, server.url);
      await using two = follow(folder.path, server.url);
      // The clocks of the processes may differ a little.
      two.advance(500);
      await until(() => one.fetched() + two.fetched() > 0);
      await Bun.sleep(50);
    }
    await using three = follow(folder.path, server.url);
    await Bun.sleep(50);
    expect([server.requests.length, three.fetched()]).toEqual([1, 0]);
    expect(hadNote).toEqual([true]);
  });

  test("is fetched again immediately if its list is missing", async () => {
    using folder = temporaryFolder();
    await using server = serveList(() => new Response("evil.example\n", { headers: { ETag: '"1"' } }));
    const file = feedFile(folder.path, server.url);
    writeFileSync(`${file}.json`, '{"etag":"\\"1\\"","askedMs":0}');
    await using feeds = follow(folder.path, server.url);
    await until(() => feeds.fetched() === 1);
    expect(server.requests[0]?.headers.has("if-none-match")).toBeFalse();
  });

  test.each([
    ["long ago", 1e9],
    ["while the clock was ahead", 1e10],
  ])("is fetched even if a crash left an incomplete file %s", async (_, seconds) => {
    using folder = temporaryFolder();
    await using server = serveList(() => new Response("evil.example\n"));
    const part = `${feedFile(folder.path, server.url)}.part`;
    writeFileSync(part, "evil.exa");
    utimesSync(part, seconds, seconds);
    await using feeds = follow(folder.path, server.url);
    await until(() => feeds.fetched() === 1);
    expect(readFileSync(feeds.file, "utf8")).toBe("evil.example\n");
    await until(() => !existsSync(part));
  });

  test("is fetched again within twenty minutes of a crash during its first fetch", async () => {
    using folder = temporaryFolder();
    await using server = serveList(() => new Promise<Response>(() => {}));
    await using crashed = follow(folder.path, server.url);
    await until(() => server.requests.length === 1);
    // What a crash now would leave.
    using left = temporaryFolder();
    const file = feedFile(left.path, server.url);
    copyFileSync(`${crashed.file}.json`, `${file}.json`);
    await using feeds = follow(left.path, server.url);
    await Bun.sleep(30);
    expect(server.requests).toHaveLength(1);
    feeds.advance(HOUR_MS / 3);
    await until(() => server.requests.length === 2);
  });

  test("may be sent compressed, and is stored as text", async () => {
    using folder = temporaryFolder();
    await using server = serveList(({ headers }) => {
      expect(headers.get("accept-encoding")).toBe("gzip");
      return new Response(Bun.gzipSync("evil.example\n"), { headers: { "Content-Encoding": "gzip" } });
    });
    await using feeds = follow(folder.path, server.url);
    await until(() => feeds.fetched() === 1);
    expect(readFileSync(feeds.file, "utf8")).toBe("evil.example\n");
  });

  test("is limited in size after decompression", async () => {
    using folder = temporaryFolder();
    const bomb = Bun.gzipSync(Buffer.alloc(64 * 1024 * 1024));
    await using server = serveList(() => new Response(bomb, { headers: { "Content-Encoding": "gzip" } }));
    await using feeds = follow(folder.path, server.url, { downloadMaxBytes: 2 * bomb.length });
    await until(() => feeds.failures.length > 0);
    expect(feeds.failures).toEqual([`it has more than ${2 * bomb.length} bytes`]);
    expect(existsSync(feeds.file)).toBeFalse();
  });

  test("stores no incomplete response", async () => {
    using folder = temporaryFolder();
    const whole = Bun.gzipSync("evil.example\n".repeat(1000));
    for (const [head, body] of [
      ["Content-Length: 100", Buffer.from("evil.example\n")],
      ["Transfer-Encoding: chunked", Buffer.from("d\r\nevil.example\n\r\n")],
      [`Content-Encoding: gzip\r\nContent-Length: ${whole.length - 9}`, whole.subarray(0, -9)],
    ] as const) {
      using server = Bun.listen({
        hostname: "127.0.0.1",
        port: 0,
        socket: {
          data(socket) {
            socket.write(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n`);
            socket.end(body);
          },
        },
      });
      await using feeds = follow(folder.path, `http://127.0.0.1:${server.port}/list`);
      await until(() => feeds.failures.length > 0 || feeds.fetched() > 0);
      expect([head, feeds.fetched(), existsSync(feeds.file)]).toEqual([head, 0, false]);
    }
  });

  test.each([
    ["InvalidHTTPResponse", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"],
    ["ECONNRESET", ""],
  ])("reports %s without its address, which may contain a key", async (code, response) => {
    using folder = temporaryFolder();
    using server = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: { data: (socket) => void socket.end(response) },
    });
    await using feeds = follow(folder.path, `http://127.0.0.1:${server.port}/list?key=secret`);
    await until(() => feeds.failures.length > 0);
    expect(feeds.failures).toEqual([code]);
  });

  const FAILURES: Readonly<Record<string, (request: Request) => Response>> = {
    "it answers 503": () => new Response("busy", { status: 503 }),
    "it answers 304": () => new Response(null, { status: 304 }),
    "it has more than 1000 bytes": () => new Response("evil.example\n".repeat(1000)),
    "it is compressed, but not with gzip": () =>
      new Response(Bun.zstdCompressSync("evil.example\n"), { headers: { "Content-Encoding": "zstd" } }),
    "it redirects to an address that is not allowed": () => Response.redirect("http://127.0.0.1:1/"),
    "it redirects more than 5 times": ({ url }) => Response.redirect(`${url}/more`),
  };
  for (const [reason, answer] of Object.entries(FAILURES))
    test(`keeps its last list and reports once: ${reason}`, async () => {
      using folder = temporaryFolder();
      await using server = serveList(answer);
      const file = feedFile(folder.path, server.url);
      await mkdir(dirname(file), { recursive: true });
      writeFileSync(file, "old.example\n");
      const mayFollow = async (url: URL) => url.port === new URL(server.url).port;
      await using feeds = follow(folder.path, server.url, { downloadMaxBytes: 1000, mayFollow });
      await until(() => feeds.failures.length > 0);
      const firstRequests = server.requests.length;
      feeds.advance(HOUR_MS / 2);
      await until(() => server.requests.length >= 2 * firstRequests);
      await until(() => !existsSync(`${file}.part`));
      expect(feeds.failures).toEqual([reason]);
      expect(readFileSync(file, "utf8")).toBe("old.example\n");
      expect(readdirSync(folder.path)).toHaveLength(2);
    });

  test("stores no doubtful list", async () => {
    using folder = temporaryFolder();
    await using server = serveList(() => new Response("<html>"));
    const doubtAbout = async (path: string) => `doubtful: ${readFileSync(path, "utf8")}`;
    await using feeds = follow(folder.path, server.url, { doubtAbout });
    await until(() => feeds.failures.length > 0);
    expect(feeds.failures).toEqual(["doubtful: <html>"]);
    expect(existsSync(feeds.file)).toBeFalse();
  });

  test("can't redirect to this machine, a private network or an address without TLS", async () => {
    const locations = `https://127.0.0.1/ https://localhost/ https://[::1]/ https://10.0.0.1/
        https://169.254.169.254/latest http://203.0.113.9/ ftp://lists.example/`.split(/\s+/);
    for (const location of locations) {
      using folder = temporaryFolder();
      await using server = serveList(
        () => new Response(null, { status: 302, headers: { Location: location } }),
      );
      await using feeds = follow(folder.path, server.url);
      await until(() => feeds.failures.length > 0);
      expect(...feeds.failures, location).toEqual("it redirects to an address that is not allowed");
    }
  });

  test("is aborted when the service stops", async () => {
    using folder = temporaryFolder();
    await using server = serveList(() => new Promise<Response>(() => {}));
    {
      await using feeds = follow(folder.path, server.url);
      await until(() => server.requests.length === 1);
      expect(feeds.failures).toEqual([]);
    }
    expect(readdirSync(folder.path)).toHaveLength(1);
  });
});
