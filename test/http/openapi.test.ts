import { beforeAll, describe, expect, test } from "bun:test";

import { createConfig, lintFromString } from "@redocly/openapi-core";

import { shareService } from "../support/service.ts";

const curt = shareService();
let document: string;
beforeAll(async () => void (document = await (await curt.fetch("/api/v1/openapi.json")).text()));

describe("the OpenAPI document", () => {
  test("follows Redocly's recommended rules", async () => {
    const config = await createConfig({ extends: ["recommended"] });
    const problems = await lintFromString({ source: document, absoluteRef: "/openapi.json", config });
    expect(problems.map(({ message, location }) => [message, location[0]?.pointer])).toEqual([]);
  });

  test("describes each operation, its tag and its errors", () => {
    const { paths, tags, security } = JSON.parse(document) as Record<string, any>;
    const operations = Object.values<Record<string, any>>(paths).flatMap((path) => Object.values<any>(path));
    const described = new Set(
      tags.filter(({ description }: any) => description !== "").map(({ name }: any) => name),
    );
    for (const operation of operations) {
      expect(operation.description).toBeString();
      expect(operation.tags).toHaveLength(1);
      expect(described).toContain(operation.tags[0]);
      const isFixed = ["shorten", "getApiInformation", "followLink"].includes(operation.operationId);
      const isOfCode = operation.operationId.startsWith("getQrCode");
      expect(operation.responses.default.content["application/json"].schema).toEqual({
        $ref: `#/components/schemas/${isFixed || isOfCode ? "ShortenProblem" : "Problem"}`,
      });
    }
    expect(security).toEqual([]);
  });

  test("has neither a URL format nor a maxLength, which would refuse valid requests, and no null in an enum", () => {
    const { schemas } = JSON.parse(document).components as { schemas: Record<string, any> };
    const { original_url } = schemas["ShortenRequest"].properties;
    // No maxLength: lengths are counted after normalisation, and decomposed Hangul may be three times as long before.
    expect(Object.keys(original_url)).not.toContain("format");
    expect(JSON.stringify(schemas)).not.toContain('"maxLength"');
    expect(document).toContain('"enum":["hour","day","month"]');
    expect(document).not.toMatch(/"enum":\[[^\]]*null/);
  });

  test("has no allOf, anyOf or placeholders, and a unique name for each value of an enum", () => {
    expect(document).not.toMatch(/"(?:allOf|anyOf)"/);
    expect(document).not.toMatch(/"example":"[^"]*\{[\w.-]+\}/);
    const { schemas } = JSON.parse(document).components as { schemas: Record<string, any> };
    const names = Object.values(schemas).flatMap((schema) => schema["x-enum-varnames"] ?? []);
    expect(new Set(names).size).toBe(names.length);
    for (const [name, schema] of Object.entries(schemas))
      if (schema.enum !== undefined)
        expect(schema["x-enum-varnames"]?.length, name).toEqual(schema.enum.length);
  });

  test("allows new fields, except in requests for links and in what the contract fixes", () => {
    const { schemas } = JSON.parse(document).components as { schemas: Record<string, any> };
    const closed = Object.keys(schemas).filter((name) => schemas[name].additionalProperties === false);
    const contract = ["ShortLink", "ShortenProblem", "ShortenResponse"];
    expect(closed.toSorted()).toEqual(["LinkChange", "LinkRequest", ...contract]);
  });
});
