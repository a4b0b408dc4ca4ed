import { describe, expect, test } from "bun:test";

import { operationsOf } from "../../src/api/openapi/description.ts";
import { describeApi } from "../../src/api/openapi/openapi.ts";
import { createDomains } from "../../src/http/domain.ts";
import {
  BODIES,
  cookies,
  cut,
  type FieldName,
  FIELDS,
  header,
  HEADERS,
  type HeaderName,
  parseFields,
} from "../../src/lib/bounds.ts";
import { parseCode } from "../../src/links/code.ts";
import { MAX_TARGET_LENGTH } from "../../src/links/target.ts";
import { hasRightLength } from "../../src/links/terms/term-values.ts";
import { parseInstant } from "../../src/links/time.ts";
import { refuseNote } from "../../src/moderation/refusal.ts";
import { CURT } from "../../src/pages/assets/branding.ts";
import { PUBLIC } from "../../src/server/routes.ts";

const [domain] = createDomains({ baseUrl: "https://curt.example", domains: [], codeCase: "match" }, CURT);
const operations = operationsOf(
  describeApi(domain, "en", { version: "", endpoints: Object.values(PUBLIC), needsToken: false }),
);

describe("an operation of the API", () => {
  test.each(operations.map((one) => [`${one.method.toUpperCase()} ${one.path}`, one] as const))(
    "%s has a bound for its body and each parameter",
    (name, { requestBody, parameters = [] }) => {
      expect(name in BODIES).toBe(requestBody !== undefined);
      for (const { in: where, name: parameter } of parameters) {
        if (where === "query") expect(Object.keys(FIELDS)).toContain(parameter);
        if (where === "header") expect(Object.keys(HEADERS)).toContain(parameter.toLowerCase());
      }
    },
  );
});

describe("header", () => {
  test.each(Object.entries(HEADERS) as [HeaderName, number][])(
    "reads %s up to %d characters",
    (name, max) => {
      expect(header(new Headers({ [name]: "1".repeat(max) }), name)).toHaveLength(max);
      expect(header(new Headers({ [name]: "1".repeat(max + 1) }), name)).toBeNull();
    },
  );

  test("replaces a longer value by the caller's default", () => {
    expect(header(new Headers({ "If-Match": '"1"'.repeat(1000) }), "if-match", "")).toBe("");
  });
});

describe("cookies", () => {
  test("returns the first four values of a name", () => {
    const headers = new Headers({ Cookie: "a=0;b=1; b=2 ;xb=3;  b=4; b=; b=5; b=6" });
    expect(cookies(headers, "b")).toEqual(["1", "2", "4", ""]);
  });

  test("omits values above their bound", () => {
    expect(cookies(new Headers({ Cookie: `b=${"1".repeat(257)}; b=2` }), "b")).toEqual(["2"]);
  });
});

describe("a field above its bound", () => {
  const above = (name: FieldName, start = "") => cut(name, start.padEnd(100_000, "1"));

  test("stays above it after it is cut", () => {
    for (const name of Object.keys(FIELDS) as FieldName[]) expect(above(name)).toHaveLength(FIELDS[name] + 1);
  });

  test("stays above it after it is cut and trimmed", () => {
    const url = `https://example.com/${" ".repeat(9000)}end`;
    const fields = parseFields(`target=${encodeURIComponent(url)}`);
    expect(fields.get("target")?.trim()).toHaveLength(FIELDS.target + 1);
  });

  test("is refused even if its start and its end would be accepted", () => {
    const [base] = createDomains(
      { baseUrl: "https://curt.example", domains: ["https://go.example.com"], codeCase: "match" },
      CURT,
    );
    const host = `go.example.com${"\u00AD".repeat(300)}`;
    expect(base.find(cut("domain", host))).toBeUndefined();
    expect(parseInstant(cut("expires_at", `2030-01-01T00:00:00.${"0".repeat(60)}Z`))).toBeUndefined();
    expect(hasRightLength(parseFields(`password=x${"+".repeat(600)}`).get("password") ?? "")).toBe(false);
  });

  test("isn't cut because of white space around it", () => {
    expect(parseFields(`target=${"+".repeat(9000)}x`).get("target")).toBe("x");
  });

  test("is refused by its rule", () => {
    expect(above("target").length).toBeGreaterThan(MAX_TARGET_LENGTH);
    expect(parseCode(above("code"), "match")).toHaveProperty("refusals.0.rule", "code.too-long");
    expect(hasRightLength(above("password"))).toBe(false);
    expect(parseInstant(above("expires_at", "2026-01-01T00:00:00."))).toBeUndefined();
    expect(refuseNote(above("note"))).toHaveLength(1);
  });
});

describe("parseFields", () => {
  test("omits unknown fields, and no others", () => {
    const fields = parseFields(`q=1&unknown=2&${"x&".repeat(1000)}host=5`);
    expect([fields.get("q"), fields.get("host")]).toEqual(["1", "5"]);
    expect([...fields].some(([name]) => name === "unknown")).toBe(false);
  });
});
