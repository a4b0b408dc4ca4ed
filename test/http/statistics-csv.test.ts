import { beforeAll, describe, expect, test } from "bun:test";

import { type StatisticsData, statisticsCsv } from "../../src/api/get-statistics.ts";
import { DIMENSIONS } from "../../src/visits/days/dimensions.ts";
import { shareService } from "../support/service.ts";
import { addVisits, statisticsOf } from "../visits/visits.ts";

// The tests read the same statistics several times, and they change with the day.
const curt = shareService({ STATS_SHOWN: "all" }, { standsStill: true });
beforeAll(async () => {
  for (const custom_code of CODES) await curt.shorten({ original_url: "https://example.com/", custom_code });
  const people = (count: number, referrer: string) =>
    Array.from({ length: count }, (_, visitor) => ({ visitor, referrer }));
  await addVisits(curt, "한글", [
    ...people(12, "-1.example"),
    ...people(7, ""),
    ...people(3, "rare.example"),
  ]);
});

const CODES = ["abc", "한글", "*️⃣", "👨‍👩‍👧‍👦"];
const pathOf = (code: string, query = "") => `/api/v1/links/${encodeURIComponent(code)}/stats${query}`;

/** Parses RFC 4180, section 2, to the letter, and throws at anything outside its grammar. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
  let row: string[] = [];
  while (field.lastIndex < text.length) {
    const { lastIndex } = field;
    const [, quoted, bare, end] = field.exec(text) ?? [];
    if (end === undefined) throw new Error(`no CSV: ${text.slice(lastIndex, lastIndex + 40)}`);
    row.push(quoted?.replaceAll('""', '"') ?? bare ?? "");
    if (end === ",") continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

describe("GET /api/v1/links/{code}/stats as CSV", () => {
  test("has a row for each interval and each value of the JSON", async () => {
    const query = "?interval=day&tz=Asia/Seoul";
    const response = await curt.fetch(pathOf("한글", `${query}&format=csv`));
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8; header=present");
    const [header, ...rows] = readCsv(await response.text());
    expect(header).toEqual(["dimension", "value", "visits", "bots"]);
    const { series } = (await statisticsOf(curt, "한글", query)) as unknown as StatisticsData;
    expect(rows.slice(0, 30)).toEqual(
      series.map(({ start, visits, bots }) => ["day", start, String(visits), String(bots)]),
    );
    expect(rows.slice(30)).toEqual([
      ["referrers", "'-1.example", "12", ""],
      ["referrers", "(unknown)", "7", ""],
      ["referrers", "rare.example", "3", ""],
      ["countries", "KR", "22", ""],
      ["browsers", "Chrome", "22", ""],
      ["operating_systems", "Windows", "22", ""],
      ["devices", "desktop", "22", ""],
      ["languages", "ko", "22", ""],
    ]);
  });

  test("is negotiated by Accept, unless the query names a format", async () => {
    for (const [accept, query, type] of [
      ["text/csv", "", "text/csv"],
      ["text/csv, application/json;q=0.5", "", "text/csv"],
      ["text/*", "", "text/csv"],
      ["text/csv", "?format=json", "application/json"],
      ["application/json", "?format=csv", "text/csv"],
      ["application/json, text/csv;q=0.9", "", "application/json"],
      ["text/html,application/xhtml+xml,*/*;q=0.8", "", "application/json"],
      ["*/*", "", "application/json"],
    ] as const) {
      const { headers } = await curt.fetch(pathOf("abc", query), { headers: { Accept: accept } });
      expect([query, headers.get("content-type")?.split(";")[0]], accept).toEqual([query, type]);
      expect(headers.get("vary")).toContain("Accept, Accept-Language");
    }
  });

  test("is a download named after the code, and so is JSON with download=true", async () => {
    for (const [query, extension] of [
      ["?format=csv", "csv"],
      ["?download=true", "json"],
    ] as const) {
      const named = async (code: string) =>
        (await curt.fetch(pathOf(code, query))).headers.get("content-disposition");
      expect(await named("abc")).toBe(`attachment; filename="abc.${extension}"`);
      for (const [code, encoded] of [
        ["한글", "%ED%95%9C%EA%B8%80"],
        ["*️⃣", "%2A%E2%83%A3"],
        ["👨‍👩‍👧‍👦", encodeURIComponent("👨‍👩‍👧‍👦")],
      ] as const)
        expect(await named(code)).toBe(
          `attachment; filename="visits.${extension}"; filename*=UTF-8''${encoded}.${extension}`,
        );
    }
    for (const query of ["", "?format=json", "?download=false"])
      expect((await curt.fetch(pathOf("abc", query))).headers.get("content-disposition")).toBeNull();
  });

  test("answers 304 to its own ETag, which differs from that of JSON and of a download", async () => {
    const tags = new Set<string>();
    for (const query of ["", "?format=csv", "?download=true"]) {
      const tag = (await curt.fetch(pathOf("한글", query))).headers.get("etag") ?? "";
      tags.add(tag);
      const repeated = await curt.fetch(pathOf("한글", query), { headers: { "If-None-Match": tag } });
      expect([repeated.status, await repeated.text()]).toEqual([304, ""]);
    }
    expect(tags.size).toBe(3);
  });

  test("reports errors in JSON", async () => {
    for (const [path, status, reason] of [
      [pathOf("abc", "?format=xml"), 400, "field.values"],
      [pathOf("abc", "?format=csv&download=yes"), 400, "field.values"],
      [pathOf("abc", "?format=csv&from=2026-11-22&to=2026-11-21"), 400, "stats.order"],
      [pathOf("unknown-code", "?format=csv"), 404, "link.unknown"],
    ] as const) {
      const response = await curt.fetch(path, { headers: { Accept: "text/csv" } });
      expect([response.status, response.headers.get("curt-reason")], path).toEqual([status, reason]);
      expect(response.headers.get("content-type")).toBe("application/json");
      expect(response.headers.get("content-disposition")).toBeNull();
    }
  });
});

type Breakdowns = Pick<StatisticsData, (typeof DIMENSIONS)[number]>;

test("a CSV file has no formula in any cell, and every cell can be parsed", () => {
  const values = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", 'say "hi", you', "two\r\nlines", "a=1", ""];
  const csv = statisticsCsv({
    code: "abc",
    from: "2026-11-21",
    to: "2026-11-21",
    interval: "day",
    tz: "UTC",
    visits: 0,
    bots: 0,
    visitors: null,
    series: [],
    ...(Object.fromEntries(
      DIMENSIONS.map((name) => [name, { values: [], other: 0 }]),
    ) as unknown as Breakdowns),
    referrers: { values: values.map((value) => ({ value, visits: 1 })), other: 3 },
  });
  const cells = readCsv(csv).map(([, value]) => value);
  expect(cells).toEqual([
    "value",
    ...values.slice(0, 6).map((formula) => `'${formula}`),
    ...values.slice(6),
    "(other)",
  ]);
  expect(cells.filter((cell) => /^[=+\-@\t\r]/.test(cell ?? ""))).toEqual([]);
});
