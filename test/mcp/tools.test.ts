import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { version } from "../../package.json";
import { INSTANCE_COMMANDS } from "../../src/cli/instance-commands.ts";
import { BASE_URL, disableLink, ROOT, shareService } from "../support/service.ts";
import { visit } from "../visits/visits.ts";
import { connect, shareTools } from "./connect.ts";

const curt = shareService({ STATS_SHOWN: "all" });
const mcp = shareTools(curt);

const TARGET = "https://example.com/a/long/address";
type Result = Record<string, string>;

const HOUR_MS = 3_600_000;
/** The tools' description of a link without terms and visits. */
const PLAIN = {
  state: "active",
  disabled_reason: null,
  created_at: expect.any(String),
  changed_at: null,
  starts_at: null,
  expires_at: null,
  max_visits: null,
  has_password: false,
  forward_query: false,
  forward_path: false,
  title: null,
  visits: 0,
};
/** Statistics are kept for this many days, so more can't be queried. */
const MAX_DAYS = 400;

describe("curt mcp", () => {
  test("speaks the protocol of 2025 and the newest one", async () => {
    for (const [opening, spoken] of [
      ["legacy", "2025-11-25"],
      ["auto", "2026-07-28"],
    ] as const) {
      await using one = await connect({ CURT_URL: curt.origin }, { opening });
      expect(one.client.getNegotiatedProtocolVersion()).toBe(spoken);
      expect(one.client.getServerVersion()).toMatchObject({ name: "curt", version });
      expect(one.client.getInstructions()).toContain(curt.origin);
      expect((await one.call("shorten", { target: TARGET })).isError).toBeFalse();
    }
  });

  test("describes each tool, its parameters, its result and its effects", async () => {
    const { tools } = await mcp.client.listTools();
    const writes = { readOnlyHint: false, openWorldHint: true };
    expect(tools.map(({ name, annotations }) => [name, annotations])).toEqual([
      ["shorten", { ...writes, destructiveHint: false, idempotentHint: false }],
      ["update", { ...writes, destructiveHint: true, idempotentHint: false }],
      ["withdraw", { ...writes, destructiveHint: true, idempotentHint: true }],
      ["look_inside", { readOnlyHint: true, openWorldHint: true }],
      ["statistics", { readOnlyHint: true, openWorldHint: true }],
    ]);
    for (const { title = "", description = "", inputSchema, outputSchema } of tools) {
      expect(title).not.toBeEmpty();
      expect(description.length).toBeGreaterThan(100);
      for (const parameter of Object.values(inputSchema.properties ?? {}))
        expect(parameter).toHaveProperty("description");
      expect(outputSchema?.["type"]).toBe("object");
    }
  });
});

test("docs/clients.md has a working configuration, and lists every tool with its parameters", async () => {
  const text = readFileSync(join(ROOT, "docs/clients.md"), "utf8");
  const [, json = ""] = /```json\n([\s\S]*?)```/.exec(text) ?? [];
  const { mcpServers } = JSON.parse(json) as {
    mcpServers: { curt: { args: string[]; env: Record<string, string> } };
  };
  const { args, env } = mcpServers.curt;
  expect(args).toEqual(["mcp"]);
  const { variables = {} } = INSTANCE_COMMANDS["mcp"] ?? {};
  expect(Object.keys(variables)).toContainValues(Object.keys(env));
  for (const name of Object.keys(variables)) expect(text).toContain(`\`${name}\``);
  for (const { name, inputSchema } of (await mcp.client.listTools()).tools) {
    const row = text.split(/\n(?=- )/).find((item) => item.startsWith(`- \`${name}\` takes `));
    for (const parameter of Object.keys(inputSchema.properties ?? {}))
      expect(row).toContain(`\`${parameter}\``);
  }
});

describe("shorten", () => {
  test("creates a link that redirects", async () => {
    const { result } = await mcp.call("shorten", { target: TARGET, code: "한글" });
    expect(result).toEqual({
      ...PLAIN,
      short_url: `${BASE_URL}/한글/`,
      code: "한글",
      target: TARGET,
      host: "example.com",
      manage_key: expect.stringMatching(/^[\w-]{22}$/),
    });
    expect((await curt.fetch("/한글")).headers.get("location")).toBe(TARGET);
    const { code } = (await mcp.call("shorten", { target: TARGET })).result as { code: string };
    expect((await curt.fetch(`/${code}`)).status).toBe(302);
  });

  test("creates a link with a start, an end, a limit of visits and a password", async () => {
    const terms = { expires_at: "24h", max_visits: 3, password: "correct horse" };
    const created = (await mcp.call("shorten", { target: TARGET, code: "terms", ...terms })).result as Result;
    expect(created).toMatchObject({ max_visits: 3, has_password: true, target: TARGET });
    expect(Date.parse(created["expires_at"] ?? "") - Date.parse(created["created_at"] ?? "")).toBe(
      24 * HOUR_MS,
    );
    expect((await mcp.call("look_inside", { link: "terms" })).result).toMatchObject({
      state: "active",
      max_visits: 3,
      has_password: true,
      target: null,
      host: null,
    });
    const starts_at = new Date(curt.nowMs() + HOUR_MS).toISOString();
    const later = await mcp.call("shorten", { target: TARGET, code: "later", starts_at });
    expect(later.result).toMatchObject({ state: "scheduled", starts_at });
    // Before its start, a link is unknown.
    expect((await mcp.call("look_inside", { link: "later" })).text).toStartWith("404 link.unknown: ");
  });
});

test("update and withdraw change a link with its manage key", async () => {
  const given = { target: TARGET, code: "keyed", max_visits: 3, password: "correct horse" };
  const { manage_key } = (await mcp.call("shorten", given)).result as Result;
  const link = `${BASE_URL}/keyed`;
  const other = "https://example.com/other";
  const changes = { target: other, max_visits: null, password: null };
  expect((await mcp.call("update", { link, manage_key, ...changes })).result).toMatchObject({
    target: other,
    max_visits: null,
    has_password: false,
    forward_query: false,
    forward_path: false,
    changed_at: expect.any(String),
  });
  expect((await curt.fetch("/keyed")).headers.get("location")).toBe(other);
  for (let nth = 0; nth < 2; nth++)
    expect((await mcp.call("withdraw", { link, manage_key })).result).toMatchObject({
      state: "withdrawn",
      manage_key,
    });
  expect((await curt.fetch("/keyed")).status).toBe(410);
});

describe("look_inside", () => {
  test("describes a link given in any form, without visiting it", async () => {
    const original_url = "https://раураl.example/?a=1";
    await curt.shorten({ original_url, custom_code: "inside", expire_duration: "24h" });
    for (const link of ["inside", `${curt.origin}/inside`, `${BASE_URL}/inside.svg`])
      expect((await mcp.call("look_inside", { link })).result, link).toEqual({
        ...PLAIN,
        short_url: `${BASE_URL}/inside/`,
        code: "inside",
        title: undefined,
        target: original_url,
        host: "xn--l-7sba6dbr.example",
        expires_at: expect.any(String),
      });
    await visit(curt, "inside");
    const statistics = await untilVisited("inside", 1);
    expect([statistics["visits"], statistics["bots"]]).toEqual([1, 0]);
  });

  test("reports a disabled link and an unknown one", async () => {
    await curt.shorten({ original_url: TARGET, custom_code: "stopped" });
    await disableLink(curt, "stopped", "phishing");
    expect((await mcp.call("look_inside", { link: "stopped" })).result).toMatchObject({
      state: "disabled",
      disabled_reason: "phishing",
    });
    for (const link of ["nothing", `${BASE_URL}/nothing`, "javascript:alert(1)"]) {
      const { isError, text } = await mcp.call("look_inside", { link });
      expect([isError, text], link).toEqual([true, expect.stringMatching(/^404 link\.unknown: /)]);
    }
  });

  test("refuses, like the other tools, addresses of other services and other texts", async () => {
    await curt.shorten({ original_url: TARGET, custom_code: "mine" });
    for (const tool of ["look_inside", "statistics", "update", "withdraw"]) {
      for (const link of ["bit.ly/mine", "http://curt.example:8080/mine"]) {
        const { isError, text } = await mcp.call(tool, { link, manage_key: "key" });
        expect(isError, link).toBe(true);
        expect(text, link).toContain(`is not the service that these tools ask, which is ${curt.origin}`);
      }
      for (const link of ["", "https://curt.example/", "https://curt.example/api/v1/shorten"])
        expect((await mcp.call(tool, { link, manage_key: "key" })).text, link).toEqual(
          expect.stringContaining("neither a code nor a short address"),
        );
    }
  });
});

/** The statistics of a link, once they have this many visits of people and bots together. */
async function untilVisited(code: string, visits: number): Promise<Record<string, unknown>> {
  for (;;) {
    const { result } = await mcp.call("statistics", { link: code, days: 1 });
    const statistics = result as Record<string, unknown>;
    if (Number(statistics["visits"]) + Number(statistics["bots"]) >= visits) return statistics;
    await Bun.sleep(20);
  }
}

describe("statistics", () => {
  test("return the visits of 1 to 400 days", async () => {
    await curt.shorten({ original_url: TARGET, custom_code: "counted" });
    await visit(curt, "counted", { Referer: "https://search.naver.com/?q=secret" });
    await curt.fetch("/counted", { headers: { "User-Agent": "curl/8" } });
    const today = new Date(curt.nowMs()).toISOString().slice(0, 10);
    expect(await untilVisited("counted", 2)).toEqual({
      code: "counted",
      from: today,
      to: today,
      visits: 1,
      bots: 1,
      visitors: 1,
      days: [{ day: today, visits: 1, bots: 1 }],
      most_frequent: expect.objectContaining({
        referrers: [{ value: "search.naver.com", visits: 1 }],
        browsers: [{ value: "Chrome", visits: 1 }],
      }),
    });
    const daysOf = async (given: object) => {
      const { from, to } = (await mcp.call("statistics", { link: "counted", ...given })).result as Result;
      return (Date.parse(to ?? "") - Date.parse(from ?? "")) / 86_400_000 + 1;
    };
    expect(await daysOf({})).toBe(30);
    expect(await daysOf({ days: MAX_DAYS })).toBe(MAX_DAYS);
    for (const days of [0, MAX_DAYS + 1, 1.5, "7"]) {
      const { isError, text } = await mcp.call("statistics", { link: "counted", days });
      expect([days, isError, text]).toEqual([days, true, expect.stringContaining("days")]);
    }
  });
});
