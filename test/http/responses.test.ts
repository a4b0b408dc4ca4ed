import { beforeAll, describe, expect, test } from "bun:test";
import { renameSync } from "node:fs";
import { networkInterfaces } from "node:os";

import { shareService, startService } from "../support/service.ts";
import { sendRaw } from "./raw.ts";

const original_url = "https://example.com/";
const DAY_SECONDS = 86_400;

const curt = shareService();
beforeAll(async () => {
  await curt.shorten({ original_url, custom_code: "abc" });
  await curt.shorten({ original_url, custom_code: "brief", expire_duration: "24h" });
});

/** Returns the bytes as they are on the wire, without decompressing them. */
async function fetchBytes(path: string, acceptEncoding: string) {
  const headers = { "Accept-Encoding": acceptEncoding, Accept: "text/html" };
  const response = await curt.fetch(path, { headers, decompress: false });
  return { response, bytes: await response.bytes() };
}

describe("compression", () => {
  test.each(["/", "/docs", "/abc+", "/api/v1/openapi.json", "/api/v1/shorten"])(
    "gzips %s for exactly the clients that prefer gzip",
    async (path) => {
      const plain = await fetchBytes(path, "identity");
      expect(plain.response.headers.get("content-encoding")).toBeNull();
      for (const accepted of ["gzip", "gzip, deflate, br, zstd", "br;q=1, gzip;q=0.5, identity;q=0"]) {
        const { response, bytes } = await fetchBytes(path, accepted);
        expect(response.headers.get("content-encoding")).toBe("gzip");
        expect(bytes.length).toBeLessThan(plain.bytes.length / 1.5);
        expect(Bun.gunzipSync(new Uint8Array(bytes))).toEqual(new Uint8Array(plain.bytes));
        expect(response.headers.get("vary")).toContain("Accept-Encoding");
      }
      for (const refused of ["", "br", "gzip;q=0", "gzip;q=0.1, identity;q=0.9"])
        expect((await fetchBytes(path, refused)).bytes).toEqual(plain.bytes);
    },
  );

  test("leaves a response that fits into one packet uncompressed", async () => {
    const { response } = await fetchBytes("/livez", "gzip");
    expect(response.headers.get("content-encoding")).toBeNull();
  });
});

describe("a script of another origin", () => {
  const Origin = "https://a.example";

  test.each(["/abc.svg", "/abc.png", "/nobody.svg", "/abc.svg?size=1"])("may read %s", async (path) => {
    const response = await curt.fetch(path, { headers: { Origin } });
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
  });

  test("may read why there is no image now", async () => {
    await using own = await startService();
    own.expectFaults();
    // The views thread opens the store with the first image.
    renameSync(own.file, `${own.file}.away`);
    const response = await own.fetch("/abc.svg", { headers: { Origin } });
    renameSync(`${own.file}.away`, own.file);
    expect([response.status, response.headers.get("access-control-allow-origin")]).toEqual([503, "*"]);
  });
});

test("a HEAD that an address doesn't support gets the length of the response to GET", async () => {
  const [get, head] = await Promise.all(
    ["GET", "HEAD"].map((method) => curt.fetch("/api/v1/links", { method })),
  );
  expect(head?.status).toBe(405);
  expect(head?.headers.get("content-length")).toBe(get?.headers.get("content-length") ?? "");
});

describe("a client's cache", () => {
  test("gets 304 for a current OpenAPI document, and 200 in another language", async () => {
    const first = await curt.fetch("/api/v1/openapi.json");
    const etag = first.headers.get("etag") ?? "";
    expect(first.headers.get("cache-control")).toBe("no-cache");
    const repeated = await curt.fetch("/api/v1/openapi.json", { headers: { "If-None-Match": etag } });
    expect([repeated.status, await repeated.text()]).toEqual([304, ""]);
    const korean = { "If-None-Match": etag, "Accept-Language": "ko" };
    expect((await curt.fetch("/api/v1/openapi.json", { headers: korean })).status).toBe(200);
  });

  test("may keep a QR code for a day, but not beyond the end of its link", async () => {
    const seconds = async (path: string) =>
      Number(
        /^private, max-age=(\d+)$/.exec((await curt.fetch(path)).headers.get("cache-control") ?? "")?.[1],
      );
    expect(await seconds("/abc.png")).toBe(DAY_SECONDS);
    expect(await seconds("/brief.png")).toBeLessThan(DAY_SECONDS);
    expect(await seconds("/brief.png")).toBeGreaterThan(DAY_SECONDS - 600);
  });
});

describe("a body of several gigabytes", () => {
  const head = (length: string) =>
    `POST /api/v1/shorten HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${length}\r\n\r\n`;

  test.each([
    ["with Content-Length", head("Content-Length: 5000000000"), ""],
    ["in chunks", head("Transfer-Encoding: chunked"), `20000\r\n${"a".repeat(0x20000)}\r\n`],
  ])(
    "%s gets 413 in the envelope, and the connection closes without reading the rest",
    async (_, start, body) => {
      const response = await sendRaw(curt.origin, start + body);
      expect(response).toStartWith("HTTP/1.1 413 ");
      expect(response).toContain('{"status":"error","message":');
      expect(response.toLowerCase()).toContain("connection: close");
    },
  );
});

test("the service listens on both loopback addresses", async () => {
  const { port } = new URL(curt.origin);
  const local = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const hosts = local.some(({ address }) => address === "::1") ? ["127.0.0.1", "[::1]"] : ["127.0.0.1"];
  for (const host of hosts) expect((await fetch(`http://${host}:${port}/livez`)).status, host).toEqual(200);
});
