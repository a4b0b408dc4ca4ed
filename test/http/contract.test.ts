import { beforeAll, describe, expect, test } from "bun:test";

import * as fc from "fast-check";

import { TERM_NAMES } from "../../src/links/terms/terms.ts";
import en from "../../src/locales/en.json";
import ko from "../../src/locales/ko.json";
import { SAMPLES } from "../links/term-samples.ts";
import { BASE_URL, type RunningService, shareService, toDomain } from "../support/service.ts";

const service = shareService({ DOMAINS: "https://한글.example" });

const original_url = "https://example.com/";
const json = async (response: Response) => (await response.json()) as Record<string, any>;

/** Checks the exact error envelope and returns its message. */
async function messageOf(response: Response, status: number): Promise<string> {
  const body = await json(response);
  expect([response.status, body]).toEqual([status, { status: "error", message: expect.any(String) }]);
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(response.headers.get("cache-control")).toBe("no-store");
  return body["message"];
}

// Both have the same tests, because nothing in the contract depends on the domain.
describe.each([BASE_URL, "https://한글.example"])("the contract at %s", (origin) => {
  const { origin: ascii } = new URL(origin);
  let curt: RunningService;
  beforeAll(() => {
    curt = toDomain(service, origin);
  });

  describe("POST /api/v1/shorten", () => {
    test("answers 201 with exactly the contract's keys, a Location header and no-store", async () => {
      const before = Date.now();
      const response = await curt.shorten({ original_url, custom_code: "한글", expire_duration: "24h" });
      const after = Date.now();
      const body = await json(response);
      expect(response.status).toBe(201);
      expect(body).toEqual({
        status: "success",
        message: "URL shortened successfully.",
        data: {
          short_url: `${origin}/한글/`,
          original_url,
          code: "한글",
          expiration_date: expect.any(String),
        },
      });
      expect(response.headers.get("location")).toBe(`${ascii}/%ED%95%9C%EA%B8%80/`);
      expect(response.headers.get("cache-control")).toBe("no-store");
      expect(body["data"].expiration_date).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      const createdMs = Date.parse(body["data"].expiration_date) - 86_400_000;
      expect(createdMs).toBeWithin(before, after + 1);
    });

    test.each([
      ["24h", 1],
      ["48h", 2],
      ["1week", 7],
      ["1month", 30],
    ])("ends a link with expire_duration %s after %i × 24 hours", async (expire_duration, days) => {
      const before = Date.now();
      const { data } = await json(await curt.shorten({ original_url, expire_duration }));
      const createdMs = Date.parse(data.expiration_date) - days * 86_400_000;
      expect(createdMs).toBeWithin(before, Date.now() + 1);
    });

    test("echoes the URL and the code exactly as sent, and redirects to the normalized URL", async () => {
      const request = {
        original_url: "HTTP://Example.com:80/a/../한글?q=%ea%b0%80 x#f",
        custom_code: "각️".normalize("NFD").replace("\uFE0F", ""),
      };
      const { data } = await json(await curt.shorten(request));
      const { original_url: url, custom_code: code } = request;
      expect(data).toMatchObject({ original_url: url, code, short_url: `${origin}/${code}/` });
      const link = await curt.fetch(`/${encodeURIComponent("각")}/`);
      expect(link.headers.get("location")).toBe(new URL(request.original_url).href);
    });

    test("generates a code of seven characters when none is sent, null or empty, and no expiry", async () => {
      for (const custom_code of [undefined, null, ""]) {
        const { data } = await json(await curt.shorten({ original_url, custom_code }));
        expect(data.code).toMatch(/^[2-9bcdfghjkmnp-tv-zBCDFGHJ-NP-TV-Z]{7}$/);
        expect(data.expiration_date).toBe("9999-12-31T00:00:00.000Z");
      }
    });

    test("answers 409 in the caller's language when the code is in use with or without U+FE0F, but not in another case", async () => {
      await curt.shorten({ original_url, custom_code: "각인" });
      const taken = { original_url, custom_code: "각인" };
      const korean = await curt.shorten(taken, { "Accept-Language": "ko" });
      expect(await messageOf(korean, 409)).toBe("이미 사용 중인 단축 코드입니다.");
      await curt.shorten({ original_url, custom_code: "❤️" });
      expect((await curt.shorten({ original_url, custom_code: "❤" })).status).toBe(409);
      expect((await curt.shorten({ original_url, custom_code: "Taken" })).status).toBe(201);
      expect((await curt.shorten({ original_url, custom_code: "taken" })).status).toBe(201);
    });

    test("ignores unknown keys and __proto__, and uses the last of duplicate keys", async () => {
      const body = `{"__proto__":{"custom_code":"polluted"},"constructor":1,"kind":"taken","id":7,"clicks":9,"original_url":"ftp://x","original_url":"${original_url}"}`;
      const { data } = await json(await curt.shorten(body));
      expect(data.original_url).toBe(original_url);
      expect(data.code).toHaveLength(7);
      expect(({} as Record<string, unknown>)["custom_code"]).toBeUndefined();
      const inherited = await curt.shorten(`{"__proto__":{"original_url":"${original_url}"}}`);
      expect(await messageOf(inherited, 400)).toBe("original_url: It is required.");
    });

    test.each(TERM_NAMES)("refuses %s, which only our own endpoint takes", async (name) => {
      const [value] = SAMPLES[name].values;
      const refusal = await curt.shorten({ original_url, [name]: value });
      expect(refusal.headers.get("curt-reason")).toBe("field.unknown");
      expect(await messageOf(refusal, 400)).toBe(
        `${name}: Only POST /api/v1/links has this field. Send the request there.`,
      );
      expect((await curt.shorten({ original_url, [name]: null })).status).toBe(201);
    });

    test("reads escapes in JSON, and a byte order mark", async () => {
      const bom = new Uint8Array(Buffer.from(`\uFEFF${JSON.stringify({ original_url })}`));
      expect((await curt.shorten(bom)).status).toBe(201);
      const surrogate = await curt.shorten(`{"original_url":"https://e.com/","custom_code":"\\ud800"}`);
      expect(await messageOf(surrogate, 400)).toBe(`custom_code: ${en["code.ill-formed"]}`);
      const nul = await curt.shorten(`{"original_url":"https://e.com/\\u0000"}`);
      expect(await messageOf(nul, 400)).toBe(
        "original_url: " + en["target.control"].replace("{character}", "U+0000"),
      );
    });

    test("accepts 16 levels", async () => {
      const levels = `${"[".repeat(15)}"\\"[{"${"]".repeat(15)}`;
      expect((await curt.shorten(`{"original_url":"${original_url}","ignored":${levels}}`)).status).toBe(201);
    });

    test("accepts a body of 57 KiB and refuses a longer one, with or without Content-Length", async () => {
      for (const [bytes, status] of [
        [58_368, 201],
        [58_369, 413],
        [3_000_000, 413],
      ] as const) {
        const frame = JSON.stringify({ original_url, padding: "" });
        const text = frame.replace('""', `"${"x".repeat(bytes - frame.length)}"`);
        expect((await curt.shorten(text)).status).toBe(status);
        const body = new ReadableStream({
          start(controller) {
            controller.enqueue(Buffer.from(text.slice(0, 100)));
            controller.enqueue(Buffer.from(text.slice(100)));
            controller.close();
          },
        });
        const headers = { "Content-Type": "application/json" };
        const chunked = await curt.fetch("/api/v1/shorten", { method: "POST", body, headers });
        expect(chunked.status).toBe(status);
      }
    });

    test("accepts JSON, plain text or no content type", async () => {
      const types = ["application/json; charset=utf-8", "Application/JSON", "text/plain;charset=UTF-8"];
      for (const type of [...types, "text/plain", "application/ld+json"])
        expect((await curt.shorten({ original_url }, { "Content-Type": type })).status, type).toEqual(201);
      const body = new Uint8Array(Buffer.from(JSON.stringify({ original_url })));
      expect((await curt.fetch("/api/v1/shorten", { method: "POST", body })).status).toBe(201);
    });

    test("answers any body with 201, 400 or 409 in the envelope", async () => {
      const value = fc.oneof(
        fc.jsonValue(),
        fc.string({ unit: "binary" }),
        fc.constantFrom("24h", original_url, "한글", null),
      );
      const body = fc.oneof(
        fc
          .record({ original_url: value, custom_code: value, expire_duration: value }, { requiredKeys: [] })
          .map((one) => JSON.stringify(one)),
        fc.jsonValue().map((one) => JSON.stringify(one)),
        fc.uint8Array({ maxLength: 300 }),
        fc.string({ unit: "binary", maxLength: 300 }),
      );
      await fc.assert(
        fc.asyncProperty(body, async (sent) => {
          const response = await curt.shorten(sent);
          expect([201, 400, 409]).toContain(response.status);
          const envelope = await json(response);
          expect(Object.keys(envelope).toSorted()).toEqual(
            response.status === 201 ? ["data", "message", "status"] : ["message", "status"],
          );
        }),
        { numRuns: 100 },
      );
    });
  });

  describe("GET /api/v1/shorten", () => {
    test("describes every parameter with its limits, and an example that works", async () => {
      const response = await curt.fetch("/api/v1/shorten");
      const { status, message, data } = await json(response);
      expect([response.status, status, message]).toEqual([200, "success", en.info]);
      expect(data.endpoint).toBe(`${origin}/api/v1/shorten`);
      expect(data.parameters).toMatchObject([
        { name: "original_url", type: "string", required: true, max_length: 8192 },
        { name: "custom_code", type: "string", required: false, max_length: 64 },
        {
          name: "expire_duration",
          type: "string",
          required: false,
          allowed_values: ["24h", "48h", "1week", "1month"],
          default: "never",
        },
      ]);
      const created = await json(
        await curt.shorten({ ...data.example.request, custom_code: `${data.example.request.custom_code}2` }),
      );
      expect(Object.keys(created["data"])).toEqual(Object.keys(data.example.response.data));
      expect(created["message"]).toBe(data.example.response.message);
      expect(data.openapi).toBe(`${origin}/api/v1/openapi.json`);
    });

    test("answers with and without a trailing slash, to HEAD, and in Korean", async () => {
      expect((await curt.fetch("/api/v1/shorten/")).status).toBe(200);
      const head = await curt.fetch("/api/v1/shorten", { method: "HEAD" });
      expect([head.status, await head.text()]).toEqual([200, ""]);
      const korean = await curt.fetch("/api/v1/shorten", { headers: { "Accept-Language": "ko" } });
      expect((await json(korean))["data"].parameters[1].description).toBe(ko["info.custom_code"]);
      const slashed = await curt.fetch("/api/v1/shorten/", {
        method: "POST",
        body: JSON.stringify({ original_url }),
      });
      expect(slashed.status).toBe(201);
    });
  });

  test("GET /api/v1 lists addresses that exist, and /api redirects to it", async () => {
    const response = await curt.fetch("/api/v1");
    expect(response.headers.get("link")).toContain(`<${ascii}/api/v1/openapi.json>; rel="service-desc"`);
    for (const address of Object.values<string>((await json(response))["data"]))
      expect((await curt.fetch(new URL(address).pathname, { method: "OPTIONS" })).status, address).toEqual(
        204,
      );
    const redirected = await curt.fetch("/api");
    expect([redirected.status, redirected.headers.get("location")]).toEqual([308, "/api/v1"]);
  });

  describe("the language of a response", () => {
    const cases: [string | undefined, string][] = [
      [undefined, "en"],
      ["KO", "ko"],
      ["ko-Kore-KR", "ko"],
      ["en-US,ko;q=0.9", "en"],
      ["fr,ko;q=0.5", "ko"],
      ["*", "en"],
      ["ko;q=0", "en"],
      ["ja-JP,ja;q=0.9,en;q=0.8", "ja"],
      ["ja;q=0,ko;q=0.1", "ko"],
      ["kok", "en"],
      ["fr-FR, ko;q=0.4, en;q=0.5", "en"],
      [",,,;;q=,", "en"],
      ["x".repeat(9000), "en"],
      [`${"fr,".repeat(150)}ko`, "ko"],
      // No browser sends so much, and reading it would cost more than many redirects.
      [`${"fr,".repeat(2000)}ko`, "en"],
    ];
    test("is negotiated by Accept-Language", async () => {
      for (const [accepted, language] of cases) {
        const response = await curt.shorten(
          {},
          accepted === undefined ? {} : { "Accept-Language": accepted },
        );
        expect(response.headers.get("content-language"), accepted?.slice(0, 20)).toBe(language);
        expect(response.headers.get("vary")).toContain("Accept-Language");
      }
    });
  });

  test("a script of another origin may send preflights, call the API and read its errors", async () => {
    const preflight = await curt.fetch("/api/v1/shorten", {
      method: "OPTIONS",
      headers: {
        Origin: "https://a.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
    expect(preflight.headers.get("access-control-allow-methods")).toContain("POST");
    expect(preflight.headers.get("access-control-allow-headers")?.toLowerCase()).toContain("content-type");
    expect(preflight.headers.get("access-control-allow-credentials")).toBeNull();
    const plain = await curt.fetch("/api/v1/shorten", { method: "OPTIONS" });
    expect([plain.status, plain.headers.get("allow")]).toEqual([204, "GET, HEAD, POST, OPTIONS"]);
    expect((await curt.fetch("/api/nothing", { method: "OPTIONS" })).status).toBe(404);
    const responses = await Promise.all([
      curt.shorten({ original_url }),
      curt.shorten({}),
      curt.shorten("x".repeat(70_000)),
      curt.shorten("{}", { "Content-Type": "text/html" }),
      curt.fetch("/api/v1/shorten", { method: "DELETE" }),
      curt.fetch("/api/nothing"),
    ]);
    expect(responses.map(({ status }) => status)).toEqual([201, 400, 413, 415, 405, 404]);
    for (const { headers } of responses) expect(headers.get("access-control-allow-origin")).toBe("*");
  });
});
