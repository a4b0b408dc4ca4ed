import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";

import type { LinkStore } from "../../src/links/link-store.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { writeDetail } from "../../src/visits/days/detail.ts";
import type { VisitStore } from "../../src/visits/days/visit-store.ts";
import type { Visibility } from "../../src/visits/statistics/day-reader.ts";
import {
  createStatistics,
  type RangeRefusal,
  type Statistics,
  type StatisticsRequest,
} from "../../src/visits/statistics/statistics.ts";
import { newLink } from "../stores/links.ts";
import { createManagedLink } from "../support/managed-links.ts";
import { startService, temporaryFolder } from "../support/service.ts";
import { slicesOf, type TestVisit } from "./slices.ts";
import { statisticsOf, untilCounted, visit } from "./visits.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A Saturday. */
const NOW = Date.UTC(2026, 10, 21, 16, 30);

describe("statistics", () => {
  const folder = temporaryFolder();
  let store: LinkStore & VisitStore;
  beforeAll(async () => {
    store = await openSqliteStore(join(folder.path, "curt.db"));
  });
  afterAll(async () => {
    await store.close();
    folder[Symbol.dispose]();
  });

  /** Stores visits of a link at instants of UTC. */
  async function addVisits(
    code: string,
    visits: Readonly<Record<string, Partial<TestVisit>[]>>,
  ): Promise<void> {
    for (const [time, some] of Object.entries(visits)) {
      const hour = Math.floor(Date.parse(time) / HOUR_MS);
      const all = some.map((one) => ({ code, createdMs: 5, ...one }));
      for (const slice of slicesOf({ hour, visits: all })) await store.add(slice);
    }
  }

  function read(
    code: string,
    request: Partial<StatisticsRequest> = {},
    shown: Visibility = "all",
    nowMs: number = NOW,
  ) {
    const { statistics } = createStatistics({ store, clock: { nowMs: () => nowMs }, shown, noise: () => 0 });
    return statistics(newLink(code, { createdMs: 5 }), { interval: "day", timeZone: "UTC", ...request });
  }

  async function series(code: string, request: Partial<StatisticsRequest>): Promise<Record<string, number>> {
    const result = (await read(code, request)) as Statistics;
    return Object.fromEntries(
      result.series.filter(({ visits }) => visits > 0).map(({ start, visits }) => [start, visits]),
    );
  }

  const people = (count: number, more: Partial<TestVisit> = {}): Partial<TestVisit>[] =>
    Array.from({ length: count }, (_, nth) => ({ visitor: nth * 1000, ...more }));

  test("cover each of the last thirty days, including empty ones", async () => {
    await addVisits("month", {
      "2026-11-20T10:00Z": people(3),
      "2026-11-21T01:00Z": [...people(2), { bot: true }],
    });
    const result = (await read("month")) as Statistics;
    expect(result).toMatchObject({ from: "2026-10-23", to: "2026-11-21", visits: 5, bots: 1, visitors: 5 });
    expect(result.series).toHaveLength(30);
    expect(result.series[0]).toEqual({ start: "2026-10-23", visits: 0, bots: 0 });
    expect(result.series.at(-1)).toEqual({ start: "2026-11-21", visits: 2, bots: 1 });
  });

  test("use the days, hours and months of the reader's time zone", async () => {
    await addVisits("zone", {
      "2026-11-20T14:59Z": people(1),
      "2026-11-20T15:00Z": people(2),
      "2026-11-21T14:00Z": people(4),
      "2026-11-21T15:00Z": people(8),
    });
    expect(await series("zone", { timeZone: "Asia/Seoul" })).toEqual({
      "2026-11-20": 1,
      "2026-11-21": 6,
      "2026-11-22": 8,
    });
    expect(await series("zone", { timeZone: "America/New_York" })).toEqual({
      "2026-11-20": 3,
      "2026-11-21": 12,
    });
    expect(
      await series("zone", {
        timeZone: "Asia/Seoul",
        interval: "hour",
        from: "2026-11-21",
        to: "2026-11-21",
      }),
    ).toEqual({ "2026-11-21T00:00:00+09:00": 2, "2026-11-21T23:00:00+09:00": 4 });
    expect(await series("zone", { timeZone: "Asia/Kolkata", interval: "hour" })).toMatchObject({
      "2026-11-20T20:30:00+05:30": 2,
    });
    expect(await series("zone", { interval: "month" })).toEqual({ "2026-11": 15 });
  });

  test("have 23 or 25 hours for a day on which clocks change", async () => {
    const request = {
      timeZone: "America/New_York",
      interval: "hour",
      from: "2026-11-01",
      to: "2026-11-01",
    } as const;
    const result = (await read("clocks", request)) as Statistics;
    expect(result.series).toHaveLength(25);
    const spring = { ...request, from: "2026-03-08", to: "2026-03-08" };
    expect(((await read("clocks", spring)) as Statistics).series).toHaveLength(23);
  });

  test("of a closed day use the reader's time zone", async () => {
    await addVisits("aged", {
      "2026-02-12T19:13Z": people(3),
      "2026-02-13T15:00Z": people(4),
    });
    while ((await store.age({ closeBefore: 20_763, forgetBefore: 0 }, 100)) === 100);
    const range = { timeZone: "Asia/Seoul", from: "2026-02-01", to: "2026-03-01" };
    expect(await series("aged", range)).toEqual({ "2026-02-13": 3, "2026-02-14": 4 });
    expect(await series("aged", { ...range, interval: "hour" })).toEqual({
      "2026-02-13T04:00:00+09:00": 3,
      "2026-02-14T00:00:00+09:00": 4,
    });
  });

  test("of a day without known hours use the day of UTC", async () => {
    using database = new Database(join(folder.path, "curt.db"));
    const detail = writeDetail({ visitors: 3, values: {}, others: {} });
    database.run("INSERT INTO visits VALUES (?, 'coarse', 5, 3, 0, ?)", [
      Date.parse("2026-11-02") / DAY_MS,
      detail,
    ]);
    expect(await series("coarse", { timeZone: "Asia/Seoul" })).toEqual({ "2026-11-02": 3 });
  });

  test("never show more visitors than visits", async () => {
    // Hashes that are small by chance: the estimate from 256 of them is 511.
    await addVisits("lucky", {
      "2026-11-20T10:00Z": Array.from({ length: 300 }, (_, nth) => ({ visitor: nth * 2 ** 23 })),
    });
    expect(await read("lucky")).toMatchObject({ visits: 300, visitors: 300 });
    // One person's many visits on another day add one visitor.
    await addVisits("lucky", { "2026-11-19T10:00Z": people(100).map((one) => ({ ...one, visitor: 1 })) });
    expect(await read("lucky")).toMatchObject({ visits: 400, visitors: 301 });
    // Only one of the two hours is on the 20th in Seoul.
    await addVisits("split", { "2026-11-20T10:00Z": people(1), "2026-11-20T16:00Z": people(9) });
    const day = { timeZone: "Asia/Seoul", from: "2026-11-20", to: "2026-11-20" };
    expect(await read("split", day)).toMatchObject({ visits: 1, visitors: 1 });
  });

  test("sum up values beyond the hundred most common of a day and the fifty of a range", async () => {
    const from = (day: string, count: number) =>
      Array.from({ length: count }, (_, nth) => people(2, { referrer: `site-${nth}.${day}.example` })).flat();
    await addVisits("varied", {
      "2026-11-20T01:00Z": from("friday", 103),
      "2026-11-21T01:00Z": from("saturday", 7),
    });
    const { breakdowns } = (await read("varied")) as Statistics;
    expect(breakdowns.referrers.values).toHaveLength(50);
    expect(breakdowns.referrers.other).toBe(2 * (103 + 7 - 50));
  });

  test("contain only totals if Curt shows only counts", async () => {
    await addVisits("totals", { "2026-11-20T01:00Z": [...people(60), { bot: true }] });
    const { series: points, breakdowns, ...totals } = (await read("totals", {}, "count")) as Statistics;
    expect(totals).toMatchObject({ visits: 60, bots: 1, visitors: null });
    expect(points).toEqual([]);
    for (const breakdown of Object.values(breakdowns)) expect(breakdown).toEqual({ values: [], other: 0 });
  });

  test("exclude days outside the range", async () => {
    await addVisits("around", {
      "2026-11-09T12:00Z": people(5, { referrer: "before.example" }),
      "2026-11-15T12:00Z": people(6, { referrer: "within.example" }),
      "2026-11-21T12:00Z": people(7, { referrer: "after.example" }),
    });
    const range = { from: "2026-11-10", to: "2026-11-20" };
    for (const interval of ["day", "month"] as const) {
      expect(await read("around", { ...range, interval })).toMatchObject({ visits: 6, visitors: 6 });
    }
    const { breakdowns } = (await read("around", range)) as Statistics;
    expect(breakdowns.referrers).toEqual({
      values: [{ value: "within.example", visits: 6 }],
      other: 0,
    });
    // The evening of the 20th in New York is the 21st of UTC.
    await addVisits("evening", { "2026-11-21T02:00Z": people(1) });
    expect(await series("evening", { ...range, timeZone: "America/New_York" })).toEqual({ "2026-11-20": 1 });
  });

  test("show null for unknown values", async () => {
    await addVisits("direct", { "2026-11-21T01:00Z": people(6, { referrer: "" }) });
    const { breakdowns } = (await read("direct")) as Statistics;
    expect(breakdowns.referrers).toEqual({ values: [{ value: null, visits: 6 }], other: 0 });
  });

  test("refuse reversed ranges and ranges that are too long", async () => {
    const problemOf = (refusal: RangeRefusal) => ({ kind: "malformed" as const, refusals: [refusal] });
    expect(await read("x", { from: "2026-11-22", to: "2026-11-21" })).toEqual(
      problemOf({ rule: "stats.order" }),
    );
    expect(await read("x", { from: "2025-10-17", to: "2026-11-21" })).toEqual(
      problemOf({ rule: "stats.range", max: 400, interval: "day" }),
    );
    expect(await read("x", { from: "2025-10-18", to: "2026-11-21" })).toMatchObject({ visits: 0 });
    const hours = { from: "2026-01-01", interval: "hour" } as const;
    expect(await read("x", { ...hours, to: "2026-03-04" })).toEqual(
      problemOf({ rule: "stats.range", max: 62, interval: "hour" }),
    );
    expect(await read("x", { ...hours, to: "2026-03-03" })).toMatchObject({ visits: 0 });
  });
});

describe("GET /api/v1/links/{code}/stats", () => {
  test("breaks visits down by what their headers say", async () => {
    await using service = await startService({
      STATS_SHOWN: "all",
      TRUSTED_PROXIES: "127.0.0.1",
    });
    await createManagedLink(service, { code: "sources" });
    for (let nth = 0; nth < 6; nth++) {
      await visit(service, "sources", {
        Referer: "https://search.naver.com/search?q=secret",
        "Accept-Language": "ko-KR,ko;q=0.9",
        "X-Forwarded-For": `168.126.${60 + nth}.1`,
      });
    }
    await untilCounted(service, "sources", 6);
    const data = await statisticsOf(service, "sources", "?tz=Asia/Seoul&interval=hour");
    expect(data).toMatchObject({
      code: "sources",
      interval: "hour",
      tz: "Asia/Seoul",
      visits: 6,
      bots: 0,
      visitors: 6,
      referrers: { values: [{ value: "search.naver.com", visits: 6 }], other: 0 },
      countries: { values: [{ value: "KR", visits: 6 }], other: 0 },
      browsers: { values: [{ value: "Chrome", visits: 6 }], other: 0 },
      operating_systems: { values: [{ value: "Windows", visits: 6 }], other: 0 },
      devices: { values: [{ value: "desktop", visits: 6 }], other: 0 },
      languages: { values: [{ value: "ko", visits: 6 }], other: 0 },
    });
  });

  test("looks up countries in the bundled database, and believes only trusted proxies", async () => {
    await using service = await startService({ STATS_SHOWN: "all", TRUSTED_PROXIES: "127.0.0.1" });
    await createManagedLink(service, { code: "where" });
    for (let nth = 0; nth < 5; nth++) {
      // A Korean carrier, regardless of the visitor's own headers.
      await visit(service, "where", {
        "X-Forwarded-For": `8.8.8.8, 168.126.${60 + nth}.1`,
        "CF-IPCountry": "JP",
      });
    }
    await untilCounted(service, "where", 5);
    expect(await statisticsOf(service, "where")).toMatchObject({
      visitors: 5,
      countries: { values: [{ value: "KR", visits: 5 }], other: 0 },
    });
    await using open = await startService({ STATS_SHOWN: "all" }, { startMs: NOW });
    await createManagedLink(open, { code: "where" });
    for (let nth = 0; nth < 5; nth++) await visit(open, "where", { "X-Forwarded-For": `168.126.63.${nth}` });
    await untilCounted(open, "where", 5);
    // Nobody is trusted: one visitor, from an address without a country.
    expect(await statisticsOf(open, "where")).toMatchObject({
      visitors: 1,
      countries: { values: [{ value: null, visits: 5 }], other: 0 },
    });
  });

  test("stores neither addresses nor user agents nor queries of referrers", async () => {
    await using service = await startService({ TRUSTED_PROXIES: "127.0.0.1" });
    await createManagedLink(service, { code: "private" });
    const headers = {
      "X-Forwarded-For": "198.51.100.77",
      // The store writes well-known referrers as numbers.
      Referer: "https://forum.example/a?token=s3cret",
      "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/130.0 Distinct77",
    };
    await visit(service, "private", headers);
    const folder = `${service.file}-visits`;
    const readFiles = async () => {
      const journal = [...new Bun.Glob("*").scanSync(folder)].map((name) => join(folder, name));
      const contents: Uint8Array[] = [];
      // In the order in which visits move. A segment that was folded meanwhile is gone: the store has it.
      for (const path of [...journal, `${service.file}-wal`, service.file])
        contents.push(
          await Bun.file(path)
            .bytes()
            .catch(() => new Uint8Array()),
        );
      return Buffer.concat(contents).toString("latin1");
    };
    const expectOnlyHost = async () => {
      const contents = await readFiles();
      expect(contents).toContain("forum.example");
      expect(contents).not.toMatch(/198\.51\.100|Distinct77|s3cret/);
    };
    await expectOnlyHost();
    await untilCounted(service, "private", 1);
    await expectOnlyHost();
  });

  test("refuses invalid parameters and unknown codes, and ignores empty parameters", async () => {
    await using service = await startService();
    await createManagedLink(service, { code: "refused" });
    const outcomeFor = async (query: string) => {
      const response = await service.fetch(`/api/v1/links/refused/stats${query}`);
      return [response.status, response.headers.get("curt-reason")];
    };
    for (const [query, reason] of [
      ["?from=yesterday", "query.date"],
      ["?from=2026-02-30&to=x", "query.date"],
      ["?interval=week", "field.values"],
      ["?tz=Mars/Olympus", "query.zone"],
      ["?from=2026-11-21&to=2026-11-20", "stats.order"],
      ["?from=2020-01-01&interval=hour", "stats.range"],
    ] as const)
      expect([query, await outcomeFor(query)]).toEqual([query, [400, reason]]);
    expect((await outcomeFor("?from=&to=&tz=&interval=&else=1"))[0]).toBe(200);
    for (const path of ["nothing/stats", "nothing", "%FF%FE"])
      expect([path, (await service.fetch(`/api/v1/links/${path}`)).status]).toEqual([path, 404]);
  });
});
