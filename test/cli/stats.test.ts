import { beforeAll, describe, expect, test } from "bun:test";

import { bar, bars } from "../../src/cli/stats.ts";
import { NOW } from "../stores/links.ts";
import { shareService } from "../support/service.ts";
import { untilCounted, visit } from "../visits/visits.ts";
import { ended, HEAD, linkLine } from "./export-file.ts";
import { run, runAlone, runInTerminal } from "./run.ts";

const curt = shareService({ STATS_SHOWN: "all" });
let environment: { CURT_URL: string; TZ: string };
beforeAll(async () => {
  environment = { CURT_URL: curt.origin, TZ: "UTC" };
  await curt.shorten({ original_url: "https://example.com/", custom_code: "한글" });
  for (const Referer of ["https://search.naver.com/", "https://search.naver.com/", "https://example.org/x"])
    await visit(curt, "한글", { Referer });
  await untilCounted(curt, "한글", 3);
});

describe("curt stats", () => {
  test("shows totals, a chart, referrers and countries within the terminal's width", async () => {
    const { code, shown } = await runInTerminal(["stats", "한글"], environment, { columns: 60 });
    expect(code).toBe(0);
    const lines = shown.split("\n");
    expect(lines[0]).toBe("한글: 3 visits in total");
    expect(lines[1]).toMatch(/^\d{4}-\d\d-\d\d to \d{4}-\d\d-\d\d \(UTC\)$/);
    expect(lines[2]).toBe("3 visits, 1 visitor, 0 by bots");
    expect(lines[4]).toMatch(/^3 │ +█$/);
    expect(shown).toMatch(/\nReferrers\n {2}search\.naver\.com {2}2 {2}█+\n {2}example\.org {7}1 {2}█+/);
    expect(shown).toContain("\nCountries\n  unknown");
    for (const line of lines) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(60);
  });

  test("counts visits whose days are unknown in the total", async () => {
    const created_at = new Date(NOW).toISOString();
    const day = JSON.stringify({ kind: "day", code: "moved", created_at, day: null, visits: 5, bots: 2 });
    const file = ended([HEAD, linkLine("moved"), day], { link: 1, day: 1 });
    const settings = { DATABASE_URL: curt.databaseUrl, PORT: "1" };
    expect(await run(["import", "-"], settings, file)).toMatchObject({ code: 0 });
    const { stdout } = await run(["stats", "moved"], environment);
    expect(stdout).toMatch(/^moved: 5 visits in total\n.*\n0 visits, 0 visitors, 0 by bots\n$/);
  });

  test("queries 1 to 400 days in the time zone of the terminal", async () => {
    const query = async (days: string, TZ: string) => {
      const { stdout } = await runAlone(["stats", "한글", "--days", days, "--json"], { ...environment, TZ });
      const { tz, interval, series } = JSON.parse(stdout);
      return [tz, interval, series.length];
    };
    expect(await query("7", "Asia/Seoul")).toEqual(["Asia/Seoul", "day", 7]);
    expect(await query("1", "UTC")).toEqual(["UTC", "hour", 24]);
    for (const days of ["0", "401", "x", "1.5"])
      expect(await run(["stats", "한글", "--days", days], environment)).toEqual({
        code: 2,
        stdout: "",
        stderr: "curt: --days must be a whole number from 1 to 400\n",
      });
  });

  test("refuses the address of a domain that the instance doesn't have", async () => {
    for (const command of ["stats", "info"]) {
      const { code, stdout, stderr } = await run([command, "https://elsewhere.example/한글"], environment);
      expect([code, stdout, stderr]).toEqual([
        1,
        "",
        `curt: ${curt.origin} has no link https://elsewhere.example/한글\n`,
      ]);
    }
  });

  test("accepts a short address in any form, and queries its instance if CURT_URL is unset", async () => {
    const host = curt.origin.replace("http://", "");
    const visits = async (link: string, CURT_URL = "") => {
      const { stdout, stderr } = await runAlone(["stats", link, "--json"], { TZ: "UTC", CURT_URL });
      return stdout === "" ? stderr : (JSON.parse(stdout) as { visits: number }).visits;
    };
    for (const path of ["/한글", "/%ED%95%9C%EA%B8%80/", "/한글+", "/한글+report", "/한글?q#f"])
      expect(await visits(`${curt.origin}${path}`), path).toEqual(3);
    expect(await visits(`${host}/한글`, curt.origin)).toBe(3);
    expect(await visits("https://curt.example/한글/", curt.origin)).toBe(3);
    expect(await visits("https://curt.example/", curt.origin)).toContain(
      "neither a code nor a short address",
    );
  });

  test("refuses counts below zero", async () => {
    const counts = { visits: -1e9, bots: 0 };
    const breakdown = { values: [], other: 0 };
    const data = { code: "a", from: "", to: "", tz: "", ...counts, visitors: null, series: [counts] };
    const response = {
      status: "success",
      message: "",
      data: { ...data, referrers: breakdown, countries: breakdown },
    };
    using hostile = Bun.serve({ port: 0, fetch: () => Response.json(response) });
    const { code, stdout, stderr } = await run(["stats", "a"], { CURT_URL: hostile.url.href });
    expect([code, stdout, stderr]).toEqual([1, "", `curt: ${hostile.url.href} sent counts below zero\n`]);
  });

  test("reports an unknown link, and prints no control character of a response", async () => {
    const unknown = await run(["stats", "nothing"], environment);
    expect([unknown.code, unknown.stdout]).toEqual([1, ""]);
    expect(unknown.stderr).toBe(
      `curt: There is no link with this code. (instance: ${environment.CURT_URL})\n`,
    );
    const evil = "\u001b]0;owned\u0007\u009b2J\u202e";
    const counts = { visits: 1, bots: 0 };
    const breakdown = { values: [{ value: evil, visits: 1 }], other: 0 };
    const names = { code: evil, from: evil, to: evil, tz: evil };
    const series = [{ start: evil, ...counts }];
    const data = { ...names, ...counts, visitors: null, series, referrers: breakdown, countries: breakdown };
    const response = { status: "success", message: "", data };
    using hostile = Bun.serve({ port: 0, fetch: () => Response.json(response) });
    for (const flags of [[], ["--json"]]) {
      const { stdout } = await run(["stats", "a", ...flags], { CURT_URL: hostile.url.href });
      expect(stdout).toContain("owned");
      expect(stdout.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
    }
  });
});

describe("a chart", () => {
  test("scales to its largest value, and shows every value above zero", () => {
    expect(bars([0, 1, 50, 100], { width: 8, height: 2 })).toEqual(["100 │      █", "  0 │  ▁ █ █"]);
    expect(bars([1, 1, 2, 2], { width: 2, height: 1 })).toEqual(["4 │▄█"]);
    expect([bar(0, 10, 10), bar(1, 1000, 10), bar(5, 10, 10), bar(10, 10, 3)]).toEqual([
      "",
      "▏",
      "█████",
      "███",
    ]);
  });
});
