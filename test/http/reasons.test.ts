import { expect, test } from "bun:test";

import { type ApiDescription, operationsOf } from "../../src/api/openapi/description.ts";
import { nameFirst } from "../../src/http/problem-messages.ts";
import { REASON_HEADER, PROBLEM_REASONS } from "../../src/http/problem-reasons.ts";
import { describe, type HttpProblem } from "../../src/http/problems.ts";
import { LANGUAGES, message } from "../../src/locales/messages.ts";
import { checkReasons, outcomeOf, startService } from "../support/service.ts";
import { PROBLEMS } from "./problems.ts";

test("every reason belongs to a problem with a complete message that starts with its field", () => {
  expect(Object.keys(PROBLEMS)).toEqual([...PROBLEM_REASONS]);
  expect(new Set(PROBLEM_REASONS).size).toBe(PROBLEM_REASONS.length);
  for (const reason of PROBLEM_REASONS) {
    expect(reason).toMatch(/^[a-z_-]+(?:\.[a-z_-]+)?$/);
    const [problem, field] = PROBLEMS[reason];
    const { status, messages, headers } = describe(problem);
    expect(headers[REASON_HEADER], reason).toEqual(reason);
    expect(status).toBeGreaterThanOrEqual(400);
    for (const language of LANGUAGES)
      for (const problemMessage of messages) {
        const text = nameFirst(problemMessage, message(language, problemMessage.key, problemMessage.values));
        expect(text).not.toMatch(/[{}]/);
        const [, first] = /^([a-z_]+): ./.exec(text) ?? [];
        expect(first, reason).toEqual(field);
      }
  }
});

test("the OpenAPI document lists every reason, and has them for every error", async () => {
  await using curt = await startService();
  const api = (await (await curt.fetch("/api/v1/openapi.json")).json()) as ApiDescription;
  expect(api.components.schemas["ProblemReason"]?.enum).toEqual([...PROBLEM_REASONS]);
  const errors = operationsOf(api).flatMap(({ operationId, responses }) =>
    Object.entries(responses)
      .filter(([status]) => !/^[23]/.test(status))
      .map(([status, response]) => [operationId, status, response] as const),
  );
  expect(errors.length).toBeGreaterThan(20);
  for (const [operationId, status, { headers }] of errors) {
    const schema = status === "400" ? { type: "string" } : { $ref: "#/components/schemas/ProblemReason" };
    expect(status, operationId).toBe(status);
    expect(headers?.[REASON_HEADER], operationId).toEqual(
      expect.objectContaining({ required: true, schema: expect.objectContaining(schema) }),
    );
  }
});

test("several reasons are listed once each, in the order of the messages", () => {
  const several: HttpProblem = {
    kind: "invalid",
    refusals: [
      { rule: "target.scheme" },
      { rule: "code.character", character: "!" },
      { rule: "code.space" },
      { rule: "code.character", character: "?" },
    ],
  };
  expect(describe(several).headers[REASON_HEADER]).toBe("target.scheme, code.character, code.space");
});

const JSON_TYPE = { "Content-Type": "application/json" };
const HTML = { Accept: "text/html" };

test("every kind of error response has its reason, rendered or cached", async () => {
  await using curt = await startService({ ADMIN_TOKEN: "0123456789abcdef0123456789abcdef" });
  const paths = "/nothing /nothing+ /nothing.svg /nothing+qr /nothing+report /+report?address=nothing".split(
    " ",
  );
  for (const headers of [{}, HTML, HTML, { "Accept-Encoding": "gzip" }])
    for (const path of paths)
      for (const method of ["GET", "HEAD"])
        expect(await outcomeOf(curt.fetch(path, { method, headers })), path).toBe("404 link.unknown");
  for (const [path, reason] of [
    ["/mine.png?size=1&dark=x", "400 query.range, query.colour"],
    ["/admin", "401 operator.missing"],
    ["/api/v1/admin/links", "401 operator.missing"],
    ["/no/thing", "404 route.unknown"],
    ["/api/nothing", "404 route.unknown"],
  ] as const)
    for (const headers of [{}, HTML])
      expect(await outcomeOf(curt.fetch(path, { headers })), path).toBe(reason);
});

test("a successful response has no reason, and checkReasons detects errors without a valid one", async () => {
  await using curt = await startService();
  await curt.shorten({ original_url: "https://example.com/", custom_code: "mine" });
  for (const path of ["/", "/mine", "/mine+", "/mine.svg", "/docs", "/api/v1/links/mine", "/livez"])
    expect((await curt.fetch(path)).headers.has(REASON_HEADER), path).toEqual(false);
  expect(() => checkReasons(new Response(null, { status: 404 }), "GET /")).toThrow();
  const invented = { status: 404, headers: { [REASON_HEADER]: "link.invented" } };
  expect(() => checkReasons(new Response(null, invented), "GET /")).toThrow();
});

test("each limit has its own reason", async () => {
  const settings = {
    LIMIT_UNKNOWN: "1/1d",
    LIMIT_VIEW: "3/1d",
    LIMIT_REPORT: "1/1d",
    ADMIN_TOKEN: "0123456789abcdef0123456789abcdef",
  };
  await using curt = await startService(settings, { standsStill: true });
  await curt.shorten({ original_url: "https://example.com/", custom_code: "one" });
  const report = { method: "POST", body: '{"reason":"spam"}', headers: JSON_TYPE };
  expect(await outcomeOf(curt.fetch("/api/v1/links/one/reports", report))).toBe("202");
  expect(await outcomeOf(curt.fetch("/api/v1/links/one/reports", report))).toBe("429 limit.report");
  expect(await outcomeOf(curt.fetch("/docs"))).toBe("200");
  for (const headers of [{}, HTML])
    expect(await outcomeOf(curt.fetch("/one+", { headers }))).toBe("429 limit.view");
  expect(await outcomeOf(curt.fetch("/nothing"))).toBe("404 link.unknown");
  for (const headers of [{}, HTML])
    expect(await outcomeOf(curt.fetch("/nothing", { headers }))).toBe("429 limit.unknown");
  const wrong = { headers: { Authorization: "Bearer wrong" } };
  for (let tries = 0; tries < 10; tries++)
    expect(await outcomeOf(curt.fetch("/api/v1/admin/links", wrong))).toBe("401 operator.wrong");
  expect(await outcomeOf(curt.fetch("/api/v1/admin/links", wrong))).toBe("429 limit.token");
});

test("scripts of other origins may read the reason and other headers, and send the methods and headers of a route", async () => {
  await using curt = await startService();
  const origin = { Origin: "https://other.example" };
  const { headers } = await curt.fetch("/api/v1/links/nothing", { headers: origin });
  const exposed = headers.get("access-control-expose-headers")?.split(",");
  for (const name of [
    REASON_HEADER,
    "Allow",
    "RateLimit",
    "RateLimit-Policy",
    "Retry-After",
    "Link",
    "Location",
    "ETag",
  ])
    expect(exposed).toContain(name);
  const requested = "authorization,content-type,idempotency-key,x-anything";
  for (const method of ["POST", "PATCH", "DELETE"]) {
    const wanted = { "Access-Control-Request-Method": method, "Access-Control-Request-Headers": requested };
    const preflight = await curt.fetch("/api/v1/links/mine", {
      method: "OPTIONS",
      headers: { ...origin, ...wanted },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-methods")?.split(",")).toContain(method);
    expect(preflight.headers.get("access-control-allow-headers")).toBe(requested);
  }
});
