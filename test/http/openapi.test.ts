import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { join } from "node:path";

import { createConfig, lintFromString } from "@redocly/openapi-core";
import { generateSource } from "oazapfts";

import { ROOT, type Running, startHere, temporaryFolder } from "../service.ts";

let curt: Running;
let document: string;
beforeAll(async () => {
  curt = await startHere();
  document = await (await curt.fetch("/api/v1/openapi.json")).text();
});
afterAll(() => curt[Symbol.asyncDispose]());

describe("the OpenAPI document, for generators of clients", () => {
  test("follows the recommended rules", async () => {
    const config = await createConfig({ extends: ["recommended"] });
    const found = await lintFromString({ source: document, absoluteRef: "/openapi.json", config });
    expect(found.map(({ message, location }) => [message, location[0]?.pointer])).toEqual([]);
  });

  test("names each operation with a verb, and describes it and its tag", () => {
    const { paths, tags, security } = JSON.parse(document) as Record<string, any>;
    const operations = Object.values<Record<string, any>>(paths).flatMap((path) => Object.values<any>(path));
    expect(operations.map(({ operationId }) => operationId)).toEqual([
      "shorten",
      "getApiInformation",
      "createLink",
      "createLinks",
      "getIndex",
      "getLink",
      "updateLink",
      "withdrawLink",
      "checkCode",
      "getStatistics",
      "reportLink",
      "followLink",
      "getQrCodeSvg",
      "getQrCodePng",
      "getOpenApiDocument",
    ]);
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

  test("refuses nothing that the service takes, and has no null among the values of an enum", () => {
    const { schemas } = JSON.parse(document).components as { schemas: Record<string, any> };
    const { original_url } = schemas["ShortenRequest"].properties;
    // No maxLength: lengths are counted after normalisation, and decomposed Hangul may be three times as long before.
    expect(Object.keys(original_url)).not.toContain("format");
    expect(JSON.stringify(schemas)).not.toContain('"maxLength"');
    expect(document).toContain('"enum":["hour","day","month"]');
    expect(document).not.toMatch(/"enum":\[[^\]]*null/);
  });

  test("has only what generators read: whole schemas, names for values, and examples without placeholders", () => {
    expect(document).not.toMatch(/"(?:allOf|anyOf)"/);
    expect(document).not.toMatch(/"example":"[^"]*\{[\w.-]+\}/);
    const { schemas } = JSON.parse(document).components as { schemas: Record<string, any> };
    const names = Object.values(schemas).flatMap((schema) => schema["x-enum-varnames"] ?? []);
    expect(new Set(names).size).toBe(names.length);
    for (const [name, schema] of Object.entries(schemas))
      if (schema.enum !== undefined)
        expect(schema["x-enum-varnames"]?.length, name).toEqual(schema.enum.length);
  });

  test("leaves room for new fields, except in what the contract fixes", () => {
    const { schemas } = JSON.parse(document).components as { schemas: Record<string, any> };
    const closed = Object.keys(schemas).filter((name) => schemas[name].additionalProperties === false);
    expect(closed.toSorted()).toEqual([
      "LinkChange",
      "LinkRequest",
      "ShortLink",
      "ShortenProblem",
      "ShortenResponse",
    ]);
  });
});

/** A program that uses the generated client. */
const PROGRAM = `import * as curt from "./curt.ts";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
export const types: [
  Same<curt.ExpireDuration, "24h" | "48h" | "1week" | "1month">,
  Same<curt.Interval, "hour" | "day" | "month">,
  Same<curt.ShortenRequest["custom_code"], string | null | undefined>,
  Same<curt.ShortenRequest["expire_duration"], curt.ExpireDuration | null | undefined>,
  Same<curt.ShortenResponse["data"], curt.ShortLink>,
  Same<curt.BreakdownValue["value"], string | null>,
  Same<curt.ShortenProblem, { status: "error"; message: string }>,
] = [true, true, true, true, true, true, true];

curt.defaults.baseUrl = process.argv[2] ?? "";
const request: curt.ShortenRequest = {
  original_url: "https://example.com/",
  custom_code: "한글",
  expire_duration: "1week",
};
const made = await curt.shorten(request);
if (made.data.status === "error") throw new Error(made.data.message);
const { code } = made.data.data;
const again = await curt.shorten({ ...request, expire_duration: null });
const problem: curt.ShortenProblem | undefined = again.status === 409 ? again.data : undefined;
const own = await curt.createLink({ target: "https://example.com/", expires_at: "24h", max_visits: 5 });
if (own.data.status === "error") throw new Error(own.data.message);
const headers = { Authorization: "Bearer " + own.data.data.manage_key };
const changed = await curt.updateLink(own.data.data.code, { expires_at: null, max_visits: null }, {}, { headers });
const expires_at: string | null | undefined = changed.data.status === "success" ? changed.data.data.expires_at : "";
const ended = await curt.withdrawLink(own.data.data.code, {}, { headers });
const state: curt.LinkState | undefined = ended.data.status === "success" ? ended.data.data.state : undefined;
const link = await curt.getLink(code);
const visits: number | undefined = link.data.status === "success" ? link.data.data.visits : undefined;
const statistics = await curt.getStatistics(code, { interval: "day", to: "2026-01-30" });
const days = statistics.data.status === "success" ? statistics.data.data.series.length : undefined;
const check = await curt.checkCode(code);
const available: boolean | undefined = check.data.status === "success" ? check.data.data.available : undefined;
const followed = await curt.followLink(code, { redirect: "manual" });
console.log(JSON.stringify({ code, problem, visits, days, available, followed: followed.status, expires_at, state }));
`;

test("a client generated from the document compiles, and works", async () => {
  using folder = temporaryFolder();
  const path = (name: string) => join(folder.path, name);
  symlinkSync(join(ROOT, "node_modules"), path("node_modules"));
  await Bun.write(path("openapi.json"), document);
  await Bun.write(path("curt.ts"), await generateSource(path("openapi.json")));
  await Bun.write(path("program.ts"), PROGRAM);
  // Uses this project's strict flags, except one that the generator's own code fails.
  const compilerOptions = { exactOptionalPropertyTypes: false };
  const tsconfig = { extends: join(ROOT, "tsconfig.json"), compilerOptions, include: ["*.ts"], exclude: [] };
  await Bun.write(path("tsconfig.json"), JSON.stringify(tsconfig));

  const run = async (...command: string[]) => {
    const child = Bun.spawn(command, { cwd: folder.path, stdout: "pipe", stderr: "inherit" });
    return (await new Response(child.stdout).text()).trim();
  };
  expect(await run(join(ROOT, "node_modules/.bin/tsc"))).toBe("");
  expect(JSON.parse(await run(process.execPath, "program.ts", curt.origin))).toEqual({
    code: "한글",
    problem: { status: "error", message: "This short code is already in use." },
    visits: 0,
    days: 30,
    available: false,
    followed: 302,
    expires_at: null,
    state: "withdrawn",
  });
});
