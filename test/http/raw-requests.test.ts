import { beforeAll, describe, expect, test } from "bun:test";

import * as fc from "fast-check";

import { linkRequest } from "../../src/api/create-link.ts";
import { readJson } from "../../src/api/json-body.ts";
import { BODIES } from "../../src/lib/bounds.ts";
import { BASE_URL, shareService } from "../support/service.ts";
import { breakOff, sendRaw } from "./raw.ts";

const curt = shareService();
beforeAll(async () => {
  await curt.shorten({ original_url: "https://example.com/", custom_code: "abc" });
});

const BODY = JSON.stringify({ original_url: "https://example.com/" });
const close = "Connection: close\r\n\r\n";

test("a refusal closes the connection if more than 1 MiB of the request is unread", async () => {
  const head = `POST /api/v1/shorten HTTP/1.1\r\nHost: x\r\nContent-Length: ${1024 * 1024 + 1}\r\n\r\n`;
  const received = await sendRaw(curt.origin, head);
  expect(received).toStartWith("HTTP/1.1 413 ");
  expect(received).toMatch(/^Connection: close\r$/im);
});

describe("a response", () => {
  const forged = [
    ["Host", "evil.example"],
    ["X-Forwarded-Host", "evil.example"],
    ["X-Forwarded-Proto", "evil"],
    ["X-Forwarded-Port", "61666"],
    ["X-Forwarded-Prefix", "/evil"],
    ["Forwarded", "host=evil.example;proto=evil"],
    ["X-Original-URL", "/evil"],
    ["X-Rewrite-URL", "/evil"],
    ["X-HTTP-Method-Override", "DELETE"],
    ["X-Host", "evil.example"],
    ["Origin", "https://evil.example"],
    ["Referer", "https://evil.example/"],
  ] as const;

  test("contains no forged header", async () => {
    for (const [name, value] of forged) {
      const headers = { "Content-Type": "application/json", [name]: value };
      const responses = [
        await fetch(`${curt.origin}/api/v1/shorten`, { method: "POST", headers, body: BODY }),
        await fetch(`${curt.origin}/api/v1/shorten`, { headers }),
        await fetch(`${curt.origin}/abc`, { headers, redirect: "manual" }),
        await fetch(`${curt.origin}/nothing`, { headers: { ...headers, Accept: "text/html" } }),
        await fetch(`${curt.origin}/`, { headers }),
      ];
      expect(responses.map(({ status }) => status)).toEqual([201, 200, 302, 404, 200]);
      for (const response of responses) {
        expect([name, JSON.stringify([...response.headers]), await response.text()].join()).not.toMatch(
          /evil|:61666/i,
        );
      }
    }
  });

  test("contains no host of an absolute request target", async () => {
    const length = `Content-Type: application/json\r\nContent-Length: ${BODY.length}\r\n`;
    const created = await sendRaw(
      curt.origin,
      `POST http://evil.example/api/v1/shorten HTTP/1.1\r\nHost: evil.example\r\n${length}${close}${BODY}`,
    );
    expect(created).toStartWith("HTTP/1.1 201 ");
    expect(created).toContain(`"short_url":"${BASE_URL}/`);
    expect(created).not.toContain("evil");
    const followed = await sendRaw(
      curt.origin,
      `GET http://evil.example/abc HTTP/1.1\r\nHost: evil.example\r\n${close}`,
    );
    expect(followed).toStartWith("HTTP/1.1 302 ");
    expect(followed).not.toContain("evil");
  });
});

describe("an unusual but well-formed request", () => {
  test("is served if it is HTTP/1.0 without a Host", async () => {
    expect(await sendRaw(curt.origin, "GET /abc HTTP/1.0\r\n\r\n")).toStartWith("HTTP/1.1 302 ");
    expect(await sendRaw(curt.origin, "GET /api/v1/shorten HTTP/1.0\r\n\r\n")).toStartWith("HTTP/1.1 200 ");
    expect(await sendRaw(curt.origin, "GET /nothing/at/all HTTP/1.0\r\n\r\n")).toStartWith("HTTP/1.1 404 ");
    const created = await sendRaw(
      curt.origin,
      `POST /api/v1/shorten HTTP/1.0\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`,
    );
    expect(created).toStartWith("HTTP/1.1 201 ");
  });

  test("gets 2xx to 4xx, whatever its method and target", async () => {
    for (const [line, status] of [
      ["CONNECT example.com:443", /^HTTP\/1\.1 (404|405|400) /],
      ["OPTIONS *", /^HTTP\/1\.1 (204|400) /],
      ["QUERY /abc", /^HTTP\/1\.1 405 /],
      ["PROPFIND /abc", /^HTTP\/1\.1 405 /],
      ["GET /x/../abc", /^HTTP\/1\.1 404 /],
      ["GET /./abc", /^HTTP\/1\.1 404 /],
      ["GET abc", /^HTTP\/1\.1 400 /],
      ["TRACE /livez", /^HTTP\/1\.1 405 /],
      ["GET http://", /^HTTP\/1\.1 [24]/],
      ["GET /abc?", /^HTTP\/1\.1 302 /],
    ] as const) {
      expect(await sendRaw(curt.origin, `${line} HTTP/1.1\r\nHost: x\r\n${close}`), line).toEqual(
        expect.stringMatching(status),
      );
    }
  });

  test("gets the same response with dot segments in its path as without", async () => {
    const json = (length: number) => `Content-Type: application/json\r\nContent-Length: ${length}\r\n`;
    const duplicate = JSON.stringify({ original_url: "https://example.com/", custom_code: "abc" });
    for (const [method, path, rest] of [
      ["GET", "/", close],
      ["GET", "/livez", close],
      ["HEAD", "/livez", close],
      ["GET", "/docs/", close],
      ["GET", "/robots.txt", close],
      ["GET", "/api/v1/openapi.json", close],
      ["DELETE", "/api/v1/shorten", close],
      ["POST", "/api/v1/shorten", `${json(2)}${close}{}`],
      ["POST", "/api/v1/shorten/", `${json(duplicate.length)}${close}${duplicate}`],
      ["POST", "/api/v1/shorten", `${json(2 * 1024 * 1024)}\r\n`],
    ] as const) {
      const [plain, normalized] = await Promise.all(
        [path, `/x/..${path}`].map((spelling) =>
          sendRaw(
            curt.origin,
            `${method} ${spelling} HTTP/1.1\r\nHost: x\r\nRequest-Id: 12345678\r\n${rest}`,
          ),
        ),
      );
      const sorted = (text = "") =>
        text
          .replace(/^Date:.*\r\n/m, "")
          .split("\r\n")
          .toSorted();
      expect(sorted(normalized)).toEqual(sorted(plain));
      expect(plain).toStartWith("HTTP/1.1 ");
    }
  });

  test("is answered in order if it is pipelined", async () => {
    const get = (path: string, end = "\r\n") => `GET ${path} HTTP/1.1\r\nHost: x\r\n${end}`;
    const requests = get("/abc") + get("/nothing") + get("/abc") + get("/livez", close);
    const responses = await sendRaw(curt.origin, requests);
    const statuses = [...responses.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    expect(statuses).toEqual(["302", "404", "302", "200"]);
  });

  test("leaves its connection usable if its body is refused", async () => {
    const body = "x".repeat(70_000);
    const oversized = `POST /api/v1/shorten HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const responses = await sendRaw(curt.origin, `${oversized}GET /abc HTTP/1.1\r\nHost: x\r\n${close}`);
    expect([...responses.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(["413", "302"]);
  });
});

const CHUNKED = `Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n`;
const chunk = (data: string) => `${data.length.toString(16)}\r\n${data}\r\n`;

test("a chunked body is read whatever the Host header contains", async () => {
  for (const host of ["x", "[", "x:99999", ""]) {
    const head = `POST /api/v1/shorten HTTP/1.1\r\nHost: ${host}\r\n${CHUNKED}`;
    expect(await sendRaw(curt.origin, `${head}${close}${chunk(BODY)}0\r\n\r\n`), host).toEqual(
      expect.stringMatching(/^HTTP\/1\.1 (201|400) /),
    );
  }
});

describe("an interrupted body", () => {
  test.each([
    ["in chunks", {}],
    ["of a known length", { "Content-Length": "50" }],
  ])("is reported as interrupted (%s)", async (_length, headers) => {
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"original_url":')),
      pull: (controller) => controller.error(new Error("the connection was lost")),
    });
    const request = new Request(curt.origin, { method: "POST", headers, body });
    expect(await readJson(request, BODIES["POST /api/v1/links"], linkRequest, {})).toEqual({
      kind: "malformed",
      refusals: [{ rule: "body.interrupted" }],
    });
  });

  const bodyFor = (custom_code: string) =>
    JSON.stringify({ original_url: "https://example.com/", custom_code });
  const post = (headers: string) => `POST /api/v1/shorten HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
  // Where possible, the JSON is already complete when the rest is missing.
  const INTERRUPTED = {
    "in the middle of a chunk": (code: string) => post(CHUNKED) + chunk(bodyFor(code)).slice(0, 30),
    "before its last chunk": (code: string) => post(CHUNKED) + chunk(bodyFor(code)),
    "before its length": (code: string) =>
      post(`Content-Length: ${bodyFor(code).length + 1}\r\n`) + bodyFor(code),
  };
  const cases = Object.entries(INTERRUPTED).flatMap(([where, request]) =>
    (["FIN", "RST"] as const).map((how) => [where, how, request] as const),
  );
  test.each(cases)("creates no link and logs no fault: %s, by %s", async (where, how, request) => {
    const custom_code = `half-${how}-${Object.keys(INTERRUPTED).indexOf(where)}`;
    expect(await breakOff(curt.origin, request(custom_code), how)).not.toContain("HTTP/1.1 201");
    expect((await curt.fetch("/abc")).status).toBe(302);
    // Links are created in order. A link of the interrupted request would exist by now.
    expect((await curt.shorten(BODY)).status).toBe(201);
    expect((await curt.fetch(`/${custom_code}`)).status).toBe(404);
    expect(curt.logged.filter((line) => /"level":"(?:warn|error)"/.test(line))).toEqual([]);
  });
});

test("header values of any bytes never cause a 5xx", async () => {
  const common = [
    "Accept",
    "Accept-Language",
    "Content-Type",
    "Content-Encoding",
    "Origin",
    "Host",
    "Expect",
  ];
  const name = fc.constantFrom(...common, "Access-Control-Request-Headers");
  const parts = ["text/html", "ko", "en-US", ";q=", "0.5", ",", "*", "/", ";", "=", '"', " ", "q", "-"];
  const value = fc.oneof(
    fc
      .uint8Array({ maxLength: 60 })
      .map((bytes) => Buffer.from(bytes.filter((byte) => byte > 31 && byte !== 127)).toString("latin1")),
    fc.array(fc.constantFrom(...parts), { maxLength: 12 }).map((some) => some.join("")),
  );
  const line = fc.constantFrom(
    "GET /nothing",
    "GET /api/v1/shorten",
    "OPTIONS /api/v1/shorten",
    "POST /api/v1/shorten",
  );
  await fc.assert(
    fc.asyncProperty(line, name, value, async (requestLine, header, text) => {
      const host = header === "Host" ? "" : "Host: x\r\n";
      const request = `${requestLine} HTTP/1.1\r\n${host}${header}: ${text}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`;
      expect(await sendRaw(curt.origin, Buffer.from(request, "latin1"))).toMatch(
        /^(HTTP\/1\.1 100 Continue\r\n\r\n)?HTTP\/1\.1 [24]/,
      );
    }),
    { numRuns: 80 },
  );
});

test.each([
  ["two Host headers", "Host: a.example\r\nHost: b.example"],
  ["a Host of 300 characters", `Host: ${"a".repeat(300)}`],
])("a request with %s gets 400", async (_hosts, host) => {
  for (const path of ["/api/v1/shorten", "/docs", "/livez", "/abc+"]) {
    const response = await sendRaw(curt.origin, `GET ${path} HTTP/1.1\r\n${host}\r\n${close}`);
    expect(response, path).toStartWith("HTTP/1.1 400 ");
  }
});
