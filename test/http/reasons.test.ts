import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { type ProblemReason, REASON_HEADER, REASONS } from "../../src/http/problem-reasons.ts";
import { describe, type HttpProblem, malformed, nameFirst } from "../../src/http/problems.ts";
import { invalid } from "../../src/links/problem.ts";
import { LANGUAGES, message } from "../../src/locales/messages.ts";
import type { DecisionRefusal } from "../../src/moderation/operator.ts";
import { type ApiDescription, operationsOf } from "../../src/pages/reference/openapi.ts";
import { checkReasons, ROOT, type Running, startHere } from "../service.ts";

const refused = (refusal: DecisionRefusal) => ({ kind: "refused", refusals: [refusal] }) as HttpProblem;
const limited = (limit: Extract<HttpProblem, { kind: "limited" }>["limit"]): HttpProblem => ({
  kind: "limited",
  limit,
  seconds: 7,
});

const character = "!";
const host = "example.com";
const max = 9;
const example = "2026-11-21";
const values = "a, b";

/** A problem for each reason, and the field that its message begins with. The compiler finds the ones that are missing. */
const PROBLEMS: Readonly<Record<ProblemReason, readonly [HttpProblem, string?]>> = {
  "code.character": [invalid({ rule: "code.character", character }), "custom_code"],
  "code.ill-formed": [invalid({ rule: "code.ill-formed" }), "custom_code"],
  "code.invisible": [invalid({ rule: "code.invisible", character }), "custom_code"],
  "code.joiner": [invalid({ rule: "code.joiner", character }), "custom_code"],
  "code.mark": [invalid({ rule: "code.mark", character }), "custom_code"],
  "code.reserved": [invalid({ rule: "code.reserved", code: "api" }), "custom_code"],
  "code.space": [invalid({ rule: "code.space" }), "custom_code"],
  // The contract has the whole message.
  "code.taken": [{ kind: "taken" }],
  "code.too-long": [invalid({ rule: "code.too-long", max }), "custom_code"],
  "target.backslash": [invalid({ rule: "target.backslash" }), "original_url"],
  "target.blocked": [invalid({ rule: "target.blocked", host }), "original_url"],
  "target.chain": [invalid({ rule: "target.chain", host }), "original_url"],
  "target.control": [invalid({ rule: "target.control", character }), "original_url"],
  "target.credentials": [invalid({ rule: "target.credentials" }), "original_url"],
  "target.ill-formed": [invalid({ rule: "target.ill-formed" }), "original_url"],
  "target.own": [invalid({ rule: "target.own" }), "original_url"],
  "target.private": [invalid({ rule: "target.private" }), "original_url"],
  "target.scheme": [invalid({ rule: "target.scheme" }), "original_url"],
  "target.space": [invalid({ rule: "target.space" }), "original_url"],
  "target.too-long": [invalid({ rule: "target.too-long", max }), "original_url"],
  "target.unparsable": [invalid({ rule: "target.unparsable" }), "original_url"],
  "expires_at.before-start": [invalid({ rule: "expires_at.before-start" }), "expires_at"],
  "expires_at.format": [invalid({ rule: "expires_at.format" }), "expires_at"],
  "expires_at.past": [invalid({ rule: "expires_at.past" }), "expires_at"],
  "max_visits.range": [invalid({ rule: "max_visits.range", min: 1, max }), "max_visits"],
  "password.length": [invalid({ rule: "password.length", min: 1, max }), "password"],
  "starts_at.started": [invalid({ rule: "starts_at.started" }), "starts_at"],
  "starts_at.format": [invalid({ rule: "starts_at.format" }), "starts_at"],
  "starts_at.past": [invalid({ rule: "starts_at.past" }), "starts_at"],
  "batch.length": [malformed({ rule: "batch.length", max, count: 10 })],
  "body.array": [malformed({ rule: "body.array", example, received: "object" })],
  "body.coding": [{ kind: "body.coding" }],
  "body.encoding": [malformed({ rule: "body.encoding" })],
  "body.form": [{ kind: "body.form" }],
  "body.interrupted": [malformed({ rule: "body.interrupted" })],
  "body.json": [malformed({ rule: "body.json" })],
  "body.object": [malformed({ rule: "body.object", example, received: "array" })],
  "body.too-large": [{ kind: "body.too-large", max }],
  "body.type": [{ kind: "body.type" }],
  "field.fixed": [malformed({ rule: "field.fixed", field: "note" }), "note"],
  "field.required": [malformed({ rule: "field.required", field: "note" }), "note"],
  "field.type": [malformed({ rule: "field.type", field: "note", expected: "a", received: "b" }), "note"],
  "field.unknown": [
    malformed({ rule: "field.unknown", field: "note" }, { rule: "field.unknown", field: "note", meant: "x" }),
    "note",
  ],
  "field.values": [malformed({ rule: "field.values", field: "note", values }), "note"],
  "query.colour": [malformed({ rule: "query.colour", field: "light", example }), "light"],
  "query.date": [malformed({ rule: "query.date", field: "to", example }), "to"],
  "query.range": [malformed({ rule: "query.range", field: "size", min: 1, max }), "size"],
  "query.zone": [malformed({ rule: "query.zone", field: "tz", received: "x" }), "tz"],
  "qr.contrast": [malformed({ rule: "qr.contrast", min: 3 }), "dark"],
  "stats.order": [malformed({ rule: "stats.order" }), "from"],
  "stats.range": [malformed({ rule: "stats.range", max, interval: "day" }), "from"],
  "note.ill-formed": [refused({ rule: "note.ill-formed" }), "note"],
  "note.too-long": [refused({ rule: "note.too-long", max }), "note"],
  "cross-site": [{ kind: "cross-site" }],
  "link.disabled": [{ kind: "disabled", reason: "spam" }],
  "link.expired": [{ kind: "expired", endedMs: 0 }],
  "link.prefetch": [{ kind: "link.prefetch" }],
  "link.unknown": [{ kind: "unknown" }],
  "link.used-up": [{ kind: "expired", endedMs: 0, by: "visits" }],
  "link.withdrawn": [{ kind: "expired", endedMs: 0, by: "withdrawn" }],
  "edits.closed": [{ kind: "edits.closed" }],
  "key.missing": [{ kind: "key.missing" }],
  "key.wrong": [{ kind: "key.wrong" }],
  "precondition.failed": [{ kind: "precondition.failed", revision: "x" }],
  "idempotency.format": [{ kind: "idempotency.format" }],
  "idempotency.reused": [{ kind: "idempotency.reused" }],
  "limit.create": [limited("create")],
  "limit.password": [limited("password")],
  "limit.report": [limited("report")],
  "limit.token": [limited("token")],
  "limit.unknown": [limited("unknown")],
  "limit.view": [limited("view")],
  method: [{ kind: "method", method: "PUT", allow: "GET" }],
  "password.missing": [{ kind: "password.missing", shortUrl: "https://curt.example/한글/" }],
  "password.wrong": [{ kind: "password.wrong", shortUrl: "https://curt.example/한글/" }],
  "route.unknown": [{ kind: "not-found" }],
  "token.missing": [{ kind: "token.missing" }],
  "token.wrong": [{ kind: "token.wrong" }],
  internal: [{ kind: "internal" }],
  overloaded: [{ kind: "overloaded" }],
  "store.unavailable": [{ kind: "unavailable" }],
  "action.unknown": [refused({ rule: "action.unknown", values }), "action"],
  "host.invalid": [refused({ rule: "host.invalid" }), "host"],
  "host.own": [refused({ rule: "host.own" }), "host"],
  "host.suffix": [refused({ rule: "host.suffix", host }), "host"],
  "host.too-many": [refused({ rule: "host.too-many", max }), "host"],
  "operator.confirm": [malformed({ rule: "operator.confirm", field: "confirm", code: "x" }), "confirm"],
  "operator.count": [{ kind: "other-count", count: 2 }, "count"],
  "operator.missing": [{ kind: "operator.missing" }],
  "operator.no-case": [{ kind: "operator.no-case" }],
  "operator.too-many": [{ kind: "too-many", max }],
  "operator.wrong": [{ kind: "operator.wrong" }],
  "reason.unknown": [refused({ rule: "reason.unknown", values }), "reason"],
};

test("every reason is that of a problem, whose message is complete and begins with its field", () => {
  expect(Object.keys(PROBLEMS)).toEqual([...REASONS]);
  expect(new Set(REASONS).size).toBe(REASONS.length);
  for (const reason of REASONS) {
    expect(reason).toMatch(/^[a-z_-]+(?:\.[a-z_-]+)?$/);
    const [problem, field] = PROBLEMS[reason];
    const { status, messages, headers } = describe(problem);
    expect([reason, headers[REASON_HEADER]]).toEqual([reason, reason]);
    expect(status).toBeGreaterThanOrEqual(400);
    for (const language of LANGUAGES)
      for (const told of messages) {
        const text = nameFirst(told, message(language, told.key, told.values));
        expect(text).not.toMatch(/[{}]/);
        const [, first] = /^([a-z_]+): ./.exec(text) ?? [];
        expect([reason, first]).toEqual([reason, field]);
      }
  }
});

test("docs/api.md has each with its status, and the OpenAPI document lists them for every error", async () => {
  const rows = readFileSync(join(ROOT, "docs/api.md"), "utf8").matchAll(
    /^\| `([a-z_.-]+)` +\| (\d{3}) +\| /gm,
  );
  const listed = REASONS.map((reason) => [reason, String(describe(PROBLEMS[reason][0]).status)]);
  expect([...rows].map(([, reason, status]) => [reason, status])).toEqual(listed);
  await using curt = await startHere();
  const api = (await (await curt.fetch("/api/v1/openapi.json")).json()) as ApiDescription;
  expect(api.components.schemas["ProblemReason"]?.enum).toEqual([...REASONS]);
  const errors = operationsOf(api).flatMap(({ operationId, responses }) =>
    Object.entries(responses)
      .filter(([status]) => !/^[23]/.test(status))
      .map(([status, answer]) => [operationId, status, answer] as const),
  );
  expect(errors.length).toBeGreaterThan(20);
  for (const [operationId, status, { headers }] of errors) {
    const schema = status === "400" ? { type: "string" } : { $ref: "#/components/schemas/ProblemReason" };
    expect([operationId, status, headers?.[REASON_HEADER]]).toEqual([
      operationId,
      status,
      expect.objectContaining({
        required: true,
        schema: expect.objectContaining(schema),
      }),
    ]);
  }
});

test("several reasons are told once each, in the order of the messages", () => {
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

async function reasonOf(curt: Running, path: string, init: BunFetchRequestInit = {}): Promise<string> {
  const response = await curt.fetch(path, init);
  return `${response.status} ${response.headers.get(REASON_HEADER)}`;
}

const JSON_TYPE = { "Content-Type": "application/json" };
const HTML = { Accept: "text/html" };

test("every kind of error answer has its reason, for programs and for browsers", async () => {
  await using curt = await startHere({ ADMIN_TOKEN: "0123456789abcdef0123456789abcdef" });
  expect((await curt.shorten({ original_url: "https://example.com/", custom_code: "mine" })).status).toBe(
    201,
  );
  const post = (path: string, body: string, headers: Record<string, string> = JSON_TYPE) =>
    reasonOf(curt, path, { method: "POST", body, headers });
  const shorten = "/api/v1/shorten";
  const both = JSON.stringify({ original_url: "ftp://x", custom_code: "a b" });
  const taken = JSON.stringify({ original_url: "https://example.com/", custom_code: "mine" });
  expect(await post(shorten, "{")).toBe("400 body.json");
  expect(await post(shorten, "[]")).toBe("400 body.object");
  expect(await post(shorten, "{}")).toBe("400 field.required");
  expect(await post("/api/v1/links", '{"target":"https://example.com/","custom_code":"x"}')).toBe(
    "400 field.unknown",
  );
  expect(await post(shorten, both)).toBe("400 target.scheme, code.space");
  expect(await post(shorten, taken)).toBe("409 code.taken");
  expect(await post(shorten, taken, { "Content-Type": "image/png" })).toBe("415 body.type");
  expect(await post(shorten, " ".repeat(70_000))).toBe("413 body.too-large");
  expect(await reasonOf(curt, shorten, { method: "PATCH" })).toBe("405 method");
  expect(await reasonOf(curt, "/api/nothing")).toBe("404 route.unknown");
  expect(await reasonOf(curt, "/api/v1/codes/a%20b")).toBe("400 code.space");
  expect(await reasonOf(curt, "/mine.png?size=1&dark=x")).toBe("400 query.range, query.colour");
  expect(await reasonOf(curt, "/api/v1/admin/links")).toBe("401 operator.missing");
  expect(await reasonOf(curt, "/admin")).toBe("401 operator.missing");
  expect(await reasonOf(curt, "/admin", { headers: HTML })).toBe("401 operator.missing");
  for (const headers of [{}, HTML, HTML, { "Accept-Encoding": "gzip" }])
    for (const path of [
      "/nothing",
      "/nothing+",
      "/nothing.svg",
      "/nothing+qr",
      "/nothing+report",
      "/+report?address=nothing",
    ])
      for (const method of ["GET", "HEAD"])
        expect([path, await reasonOf(curt, path, { method, headers })]).toEqual([path, "404 link.unknown"]);
  expect(await reasonOf(curt, "/no/thing", { headers: HTML })).toBe("404 route.unknown");
  const form = { ...HTML, "Content-Type": "application/x-www-form-urlencoded" };
  expect(await post("/", "original_url=ftp://x&custom_code=mine", form)).toBe("400 target.scheme");
  expect(await post("/", "original_url=https://example.com&custom_code=mine", form)).toBe("409 code.taken");
  expect(await post("/", "x", { ...form, "Sec-Fetch-Site": "cross-site" })).toBe("403 cross-site");
  expect(await post("/mine+report", "reason=none", form)).toBe("400 field.values");
});

test("no answer that is not an error has one", async () => {
  await using curt = await startHere();
  await curt.shorten({ original_url: "https://example.com/", custom_code: "mine" });
  for (const path of ["/", "/mine", "/mine+", "/mine.svg", "/docs", "/api/v1/links/mine", "/livez"])
    expect([path, (await curt.fetch(path)).headers.has(REASON_HEADER)]).toEqual([path, false]);
  expect(() => checkReasons(new Response(null, { status: 404 }), "GET /")).toThrow();
  const made = { status: 404, headers: { [REASON_HEADER]: "link.made-up" } };
  expect(() => checkReasons(new Response(null, made), "GET /")).toThrow();
});

test("a limit names itself, and a wrong token too", async () => {
  const settings = {
    LIMIT_CREATE: "1/1d",
    LIMIT_UNKNOWN: "1/1d",
    LIMIT_VIEW: "3/1d",
    LIMIT_REPORT: "1/1d",
    CREATE_TOKEN: "correct-horse-battery",
    ADMIN_TOKEN: "0123456789abcdef0123456789abcdef",
  };
  await using curt = await startHere(settings, { standsStill: true });
  const token = { Authorization: "Bearer correct-horse-battery" };
  const create = async (headers: Record<string, string>, custom_code: string) => {
    const answer = await curt.shorten({ original_url: "https://example.com/", custom_code }, headers);
    return answer.headers.get(REASON_HEADER);
  };
  expect(await create({}, "one")).toBe("token.missing");
  expect(await create({ Authorization: "Bearer horse" }, "one")).toBe("token.wrong");
  expect(await create(token, "one")).toBeNull();
  expect(await create(token, "two")).toBe("limit.create");
  const report = { method: "POST", body: '{"reason":"spam"}', headers: JSON_TYPE };
  expect(await reasonOf(curt, "/api/v1/links/one/reports", report)).toBe("202 null");
  expect(await reasonOf(curt, "/api/v1/links/one/reports", report)).toBe("429 limit.report");
  expect(await reasonOf(curt, "/docs")).toBe("200 null");
  for (const headers of [{}, HTML]) expect(await reasonOf(curt, "/one+", { headers })).toBe("429 limit.view");
  expect(await reasonOf(curt, "/nothing")).toBe("404 link.unknown");
  for (const headers of [{}, HTML])
    expect(await reasonOf(curt, "/nothing", { headers })).toBe("429 limit.unknown");
  const wrong = { headers: { Authorization: "Bearer wrong" } };
  for (let tries = 0; tries < 10; tries++)
    expect(await reasonOf(curt, "/api/v1/admin/links", wrong)).toBe("401 operator.wrong");
  expect(await reasonOf(curt, "/api/v1/admin/links", wrong)).toBe("429 limit.token");
});

test("scripts of other origins read it, and may send what a route takes", async () => {
  await using curt = await startHere();
  const origin = { Origin: "https://other.example" };
  const { headers } = await curt.fetch("/api/v1/links/nothing", { headers: origin });
  const exposed = headers.get("access-control-expose-headers")?.split(",");
  for (const name of [
    REASON_HEADER,
    "RateLimit",
    "RateLimit-Policy",
    "Retry-After",
    "Link",
    "Location",
    "ETag",
  ])
    expect(exposed).toContain(name);
  const asked = "authorization,content-type,idempotency-key";
  for (const method of ["GET", "POST", "PATCH", "DELETE"]) {
    const preflight = await curt.fetch("/api/v1/links/mine", {
      method: "OPTIONS",
      headers: {
        ...origin,
        "Access-Control-Request-Method": method,
        "Access-Control-Request-Headers": asked,
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-methods")?.split(",")).toContain(method);
    expect(preflight.headers.get("access-control-allow-headers")).toBe(asked);
  }
});
