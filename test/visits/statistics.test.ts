import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";

import type { LinkStore } from "../../src/links/store.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import {
  createStatistics,
  type RangeRefusal,
  type Statistics,
  type StatisticsRequest,
} from "../../src/visits/statistics.ts";
import type { VisitStore } from "../../src/visits/store.ts";
import type { Shown } from "../../src/visits/told.ts";
import { type Running, startHere, temporaryFolder } from "../service.ts";
import { newLink } from "../stores/links.ts";
import { slicesOf, type Told } from "./slices.ts";
import { statisticsOf, untilCounted, visit, WINDOWS_CHROME } from "./visits.ts";

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

  /** Visits of a link at instants of UTC. */
  async function visited(code: string, visits: Readonly<Record<string, Partial<Told>[]>>): Promise<void> {
    for (const [time, told] of Object.entries(visits)) {
      const hour = Math.floor(Date.parse(time) / HOUR_MS);
      const all = told.map((one) => ({ code, createdMs: 5, ...one }));
      for (const slice of slicesOf({ hour, visits: all })) await store.add(slice);
    }
  }

  function read(
    code: string,
    request: Partial<StatisticsRequest> = {},
    shown: Shown = "all",
    nowMs: number = NOW,
  ) {
    const { statistics } = createStatistics({ store, clock: { nowMs: () => nowMs }, shown });
    return statistics(newLink(code, { createdMs: 5 }), { interval: "day", timeZone: "UTC", ...request });
  }

  async function series(code: string, request: Partial<StatisticsRequest>): Promise<Record<string, number>> {
    const found = (await read(code, request)) as Statistics;
    return Object.fromEntries(
      found.series.filter(({ visits }) => visits > 0).map(({ start, visits }) => [start, visits]),
    );
  }

  const people = (count: number, more: Partial<Told> = {}): Partial<Told>[] =>
    Array.from({ length: count }, (_, nth) => ({ visitor: nth * 1000, ...more }));

  test("tell every day of the last thirty, empty ones too", async () => {
    await visited("month", {
      "2026-11-20T10:00Z": people(3),
      "2026-11-21T01:00Z": [...people(2), { bot: true }],
    });
    const found = (await read("month")) as Statistics;
    expect(found).toMatchObject({ from: "2026-10-23", to: "2026-11-21", visits: 5, bots: 1, visitors: 5 });
    expect(found.series).toHaveLength(30);
    expect(found.series[0]).toEqual({ start: "2026-10-23", visits: 0, bots: 0 });
    expect(found.series.at(-1)).toEqual({ start: "2026-11-21", visits: 2, bots: 1 });
  });

  test("go by the days, hours and months of the reader's time zone", async () => {
    await visited("zone", {
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

  test("of a day whose clocks change have 23 or 25 hours", async () => {
    const request = {
      timeZone: "America/New_York",
      interval: "hour",
      from: "2026-11-01",
      to: "2026-11-01",
    } as const;
    const found = (await read("clocks", request)) as Statistics;
    expect(found.series).toHaveLength(25);
    const spring = { ...request, from: "2026-03-08", to: "2026-03-08" };
    expect(((await read("clocks", spring)) as Statistics).series).toHaveLength(23);
  });

  test("of an old day still go by the reader's time zone", async () => {
    await visited("aged", {
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

  test("of a day whose hours an earlier version forgot count as a day of UTC", async () => {
    using database = new Database(join(folder.path, "curt.db"));
    const day = Date.parse("2026-11-02") / DAY_MS;
    database.run(
      `INSERT INTO old_visits (day, code, created_ms, visits, bots, stage, detail)
        VALUES (${day}, 'coarse', 5, 3, 0, 2, '{"visitors":3,"values":{},"others":{}}')`,
    );
    expect(await series("coarse", { timeZone: "Asia/Seoul" })).toEqual({ "2026-11-02": 3 });
  });

  test("never tell more visitors than visits", async () => {
    // Hashes that are small by chance: the estimate from 256 of them is 511.
    await visited("lucky", {
      "2026-11-20T10:00Z": Array.from({ length: 300 }, (_, nth) => ({ visitor: nth * 2 ** 23 })),
    });
    expect(await read("lucky")).toMatchObject({ visits: 300, visitors: 300 });
    // Nor by what one person's many visits of another day leave room for.
    await visited("lucky", { "2026-11-19T10:00Z": people(100).map((one) => ({ ...one, visitor: 1 })) });
    expect(await read("lucky")).toMatchObject({ visits: 400, visitors: 301 });
    // On the 20th of Seoul there is only one of two hours of the 20th of UTC.
    await visited("split", { "2026-11-20T10:00Z": people(1), "2026-11-20T16:00Z": people(9) });
    const day = { timeZone: "Asia/Seoul", from: "2026-11-20", to: "2026-11-20" };
    expect(await read("split", day)).toMatchObject({ visits: 1, visitors: 1 });
  });

  test("show a value only when visits from five networks or more have it", async () => {
    await visited("few", {
      "2026-11-21T01:00Z": [
        ...people(5, { referrer: "naver.com", country: "KR" }),
        ...people(4, { referrer: "intranet.example", country: "JP" }),
        ...people(30, { network: 1, referrer: "one-person.example", country: "" }),
      ],
    });
    const { breakdowns } = (await read("few", {}, "safe")) as Statistics;
    expect(breakdowns.referrers).toEqual({
      values: [{ value: "naver.com", visits: 5 }],
      other: 34,
      hidden: 34,
    });
    expect(breakdowns.countries).toEqual({ values: [{ value: "KR", visits: 5 }], other: 34, hidden: 34 });
    expect(breakdowns.devices).toEqual({ values: [{ value: "desktop", visits: 39 }], other: 0, hidden: 0 });
    expect(JSON.stringify(breakdowns)).not.toMatch(/intranet|one-person/);
  });

  test("tell values beyond the fifty most common ones apart from hidden ones, of a day and of a range", async () => {
    const from = (day: string, count: number) =>
      Array.from({ length: count }, (_, nth) => people(5, { referrer: `site-${nth}.${day}.example` })).flat();
    const hidden = people(2, { referrer: "rare.example" });
    await visited("varied", {
      "2026-11-20T01:00Z": from("friday", 53),
      "2026-11-21T01:00Z": [...from("saturday", 7), ...hidden],
    });
    const { breakdowns } = (await read("varied", {}, "safe")) as Statistics;
    const { values, ...others } = breakdowns.referrers;
    expect(values).toHaveLength(50);
    // Three sites of Friday are beyond the fifty of their day, and seven of the 57 that were kept beyond those of the range.
    expect(others).toEqual({ other: 5 * 3 + 5 * 7 + 2, hidden: 2 });
  });

  test("leave out of what everyone sees the hour that is not over, and tell visits live", async () => {
    await visited("running", {
      "2026-11-21T15:59Z": people(12, { referrer: "over.example" }),
      "2026-11-21T16:00Z": Array.from({ length: 12 }, (_, nth) => ({
        visitor: nth,
        referrer: "now.example",
      })),
    });
    const over = { value: "over.example", visits: 12 };
    const now = { value: "now.example", visits: 12 };
    const last = { start: "2026-11-21", visits: 24, bots: 0 };
    const safe = (await read("running", {}, "safe")) as Statistics;
    expect(safe).toMatchObject({ visits: 24, visitors: 12 });
    expect(safe.series.at(-1)).toEqual(last);
    expect(safe.breakdowns.referrers).toEqual({ values: [over], other: 0, hidden: 0 });
    const all = (await read("running", {}, "all")) as Statistics;
    // Visitor 0 came in both hours.
    expect(all).toMatchObject({ visits: 24, visitors: 23 });
    expect(all.breakdowns.referrers).toEqual({ values: [over, now], other: 0, hidden: 0 });
    const afterwards = (await read("running", {}, "safe", NOW + HOUR_MS / 2)) as Statistics;
    expect(afterwards).toMatchObject({ visits: 24, visitors: 23 });
    expect(afterwards.breakdowns.referrers).toEqual({ values: [over, now], other: 0, hidden: 0 });
  });

  test("tell everyone rounded visitors, and those of few networks not at all", async () => {
    for (const [count, told] of [
      [9, null],
      [10, 10],
      [99, 99],
      [129, 120],
    ] as const) {
      await visited(`round${count}`, { "2026-11-21T01:00Z": people(count) });
      expect(await read(`round${count}`, {}, "safe")).toMatchObject({ visits: count, visitors: told });
    }
    const fourNetworks = people(40).map((one, nth) => ({ ...one, network: nth % 4 }));
    await visited("house", { "2026-11-20T01:00Z": fourNetworks, "2026-11-21T01:00Z": people(12) });
    expect(await read("house", {}, "safe")).toMatchObject({ visits: 52, visitors: 12 });
    expect(await read("house", {}, "all")).toMatchObject({ visits: 52, visitors: 52 });
  });

  test("that are totals only tell nothing else", async () => {
    await visited("totals", { "2026-11-20T01:00Z": [...people(60), { bot: true }] });
    const { series: points, breakdowns, ...told } = (await read("totals", {}, "count")) as Statistics;
    expect(told).toMatchObject({ visits: 60, bots: 1, visitors: null });
    expect(points).toEqual([]);
    for (const breakdown of Object.values(breakdowns))
      expect(breakdown).toEqual({ values: [], other: 0, hidden: 0 });
  });

  test("do not show one person who came on five days", async () => {
    const visits = ["17", "18", "19", "20", "21"].map((day) => [
      `2026-11-${day}T01:00Z`,
      people(1, { referrer: "home.example" }),
    ]);
    await visited("daily", Object.fromEntries(visits));
    const { breakdowns, visitors } = (await read("daily", {}, "safe")) as Statistics;
    expect(visitors).toBeNull();
    expect(breakdowns.referrers).toEqual({ values: [], other: 5, hidden: 5 });
  });

  test("tell nothing of the days around the range", async () => {
    await visited("around", {
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
      hidden: 0,
    });
    // The evening of the 20th in New York is the 21st of UTC.
    await visited("evening", { "2026-11-21T02:00Z": people(1) });
    expect(await series("evening", { ...range, timeZone: "America/New_York" })).toEqual({ "2026-11-20": 1 });
  });

  test("say null for what visits did not tell", async () => {
    await visited("direct", { "2026-11-21T01:00Z": people(6, { referrer: "" }) });
    const { breakdowns } = (await read("direct")) as Statistics;
    expect(breakdowns.referrers).toEqual({ values: [{ value: null, visits: 6 }], other: 0, hidden: 0 });
  });

  test("refuse ranges that cannot be told", async () => {
    const refused = (refusal: RangeRefusal) => ({ kind: "malformed" as const, refusals: [refusal] });
    expect(await read("x", { from: "2026-11-22", to: "2026-11-21" })).toEqual(
      refused({ rule: "stats.order" }),
    );
    expect(await read("x", { from: "2025-10-17", to: "2026-11-21" })).toEqual(
      refused({ rule: "stats.range", max: 400, interval: "day" }),
    );
    expect(await read("x", { from: "2025-10-18", to: "2026-11-21" })).toMatchObject({ visits: 0 });
    const hours = { from: "2026-01-01", interval: "hour" } as const;
    expect(await read("x", { ...hours, to: "2026-03-04" })).toEqual(
      refused({ rule: "stats.range", max: 62, interval: "hour" }),
    );
    expect(await read("x", { ...hours, to: "2026-03-03" })).toMatchObject({ visits: 0 });
  });
});

describe("GET /api/v1/links/{code}/stats", () => {
  const made = async (service: Running, code: string) =>
    expect((await service.shorten({ original_url: "https://example.com/", custom_code: code })).status).toBe(
      201,
    );

  test("tells where visits came from, by what their headers say", async () => {
    await using service = await startHere({
      STATS_SHOWN: "all",
      TRUSTED_PROXIES: "127.0.0.1",
      COUNTRY_HEADER: "CF-IPCountry",
    });
    await made(service, "told");
    for (let nth = 0; nth < 6; nth++) {
      await visit(service, "told", {
        Referer: "https://search.naver.com/search?q=secret",
        "Accept-Language": "ko-KR,ko;q=0.9",
        "X-Forwarded-For": `198.51.${nth}.7`,
        "CF-IPCountry": "KR",
      });
    }
    await untilCounted(service, "told", 6);
    const data = await statisticsOf(service, "told", "?tz=Asia/Seoul&interval=hour");
    expect(data).toMatchObject({
      code: "told",
      interval: "hour",
      tz: "Asia/Seoul",
      visits: 6,
      bots: 0,
      visitors: 6,
      referrers: { values: [{ value: "search.naver.com", visits: 6 }], other: 0, hidden: 0 },
      countries: { values: [{ value: "KR", visits: 6 }], other: 0, hidden: 0 },
      browsers: { values: [{ value: "Chrome", visits: 6 }], other: 0, hidden: 0 },
      operating_systems: { values: [{ value: "Windows", visits: 6 }], other: 0, hidden: 0 },
      devices: { values: [{ value: "desktop", visits: 6 }], other: 0, hidden: 0 },
      languages: { values: [{ value: "ko", visits: 6 }], other: 0, hidden: 0 },
    });
  });

  test("of a public service tell in which hour somebody came, and more only when it is over", async () => {
    await using service = await startHere({ TRUSTED_PROXIES: "127.0.0.1" }, { startMs: NOW });
    await made(service, "public");
    for (let nth = 0; nth < 12; nth++) await visit(service, "public", { "X-Forwarded-For": `10.0.${nth}.7` });
    await untilCounted(service, "public", 12);
    const none = { values: [], other: 0, hidden: 0 };
    expect(await statisticsOf(service, "public")).toMatchObject({
      visits: 12,
      visitors: null,
      browsers: none,
    });
    service.advance(HOUR_MS);
    expect(await statisticsOf(service, "public")).toMatchObject({
      visits: 12,
      visitors: 12,
      browsers: { values: [{ value: "Chrome", visits: 12 }], other: 0, hidden: 0 },
    });
    // Many browsers at one address are many visitors, but one network.
    await made(service, "veiled");
    const agents = Array.from({ length: 12 }, (_, nth) => `${WINDOWS_CHROME} Edg/131.0.0.${nth}`);
    for (const agent of agents) await visit(service, "veiled", { "User-Agent": agent });
    await untilCounted(service, "veiled", 12);
    service.advance(HOUR_MS);
    expect(await statisticsOf(service, "veiled")).toMatchObject({
      visits: 12,
      visitors: null,
      browsers: { values: [], other: 12, hidden: 12 },
    });
  });

  test("finds countries in the database that comes with the program, and believes nobody else", async () => {
    await using service = await startHere({ STATS_SHOWN: "all", TRUSTED_PROXIES: "127.0.0.1" });
    await made(service, "where");
    for (let nth = 0; nth < 5; nth++) {
      // A Korean carrier, whatever the visitor says of himself.
      await visit(service, "where", {
        "X-Forwarded-For": `8.8.8.8, 168.126.${60 + nth}.1`,
        "CF-IPCountry": "JP",
      });
    }
    await untilCounted(service, "where", 5);
    expect(await statisticsOf(service, "where")).toMatchObject({
      visitors: 5,
      countries: { values: [{ value: "KR", visits: 5 }], other: 0, hidden: 0 },
    });
    await using open = await startHere({ STATS_SHOWN: "all" }, { startMs: NOW });
    await made(open, "where");
    for (let nth = 0; nth < 5; nth++) await visit(open, "where", { "X-Forwarded-For": `168.126.63.${nth}` });
    await untilCounted(open, "where", 5);
    // Nobody is trusted: one visitor, from an address that is in no country.
    expect(await statisticsOf(open, "where")).toMatchObject({
      visitors: 1,
      countries: { values: [{ value: null, visits: 5 }], other: 0, hidden: 0 },
    });
  });

  test("believes only the proxies that are named", async () => {
    const settings = { STATS_SHOWN: "all", TRUSTED_PROXIES: "10.0.0.1", COUNTRY_HEADER: "CF-IPCountry" };
    await using service = await startHere(settings, { startMs: NOW });
    await made(service, "liar");
    for (let nth = 0; nth < 5; nth++) {
      await visit(service, "liar", { "X-Forwarded-For": `168.126.63.${nth}`, "CF-IPCountry": "KR" });
    }
    await untilCounted(service, "liar", 5);
    expect(await statisticsOf(service, "liar")).toMatchObject({
      visitors: 1,
      countries: { values: [{ value: null, visits: 5 }], other: 0, hidden: 0 },
    });
  });

  test("keeps no address and no user agent anywhere", async () => {
    await using service = await startHere({ TRUSTED_PROXIES: "127.0.0.1" });
    await made(service, "private");
    const headers = {
      "X-Forwarded-For": "198.51.100.77",
      Referer: "https://www.naver.com/a?token=s3cret",
      "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/130.0 Distinct77",
    };
    await visit(service, "private", headers);
    const folder = `${service.file}-visits`;
    const look = async () => {
      const journal = [...new Bun.Glob("*").scanSync(folder)].map((name) => join(folder, name));
      const seen: Uint8Array[] = [];
      // In the order in which visits move on. A segment that was folded meanwhile is gone: the store has it.
      for (const path of [...journal, `${service.file}-wal`, service.file])
        seen.push(
          await Bun.file(path)
            .bytes()
            .catch(() => new Uint8Array()),
        );
      return Buffer.concat(seen).toString("latin1");
    };
    expect(await look()).toContain("naver.com");
    expect(await look()).not.toMatch(/198\.51\.100|Distinct77|s3cret/);
    await untilCounted(service, "private", 1);
    expect(await look()).not.toMatch(/198\.51\.100|Distinct77|s3cret/);
  });

  test("answers refusals in the envelope, in the caller's language", async () => {
    await using service = await startHere();
    await made(service, "asked");
    const ask = async (query: string, language = "en") => {
      const response = await service.fetch(`/api/v1/links/asked/stats${query}`, {
        headers: { "Accept-Language": language },
      });
      return `${response.status} ${((await response.json()) as { message: string }).message}`;
    };
    expect(await ask("?from=yesterday")).toBe("400 from: It must be a date such as 2026-11-21.");
    expect(await ask("?from=2026-02-30&to=x")).toContain("to: It must be a date");
    expect(await ask("?interval=week")).toBe("400 interval: It must be one of hour, day, month.");
    expect(await ask("?tz=Mars/Olympus")).toBe(
      '400 tz: It must be the name of a time zone such as Asia/Seoul, not "Mars/Olympus".',
    );
    expect(await ask("?from=2026-11-21&to=2026-11-20", "ko")).toBe("400 from: to보다 늦을 수 없습니다.");
    expect(await ask("?from=2020-01-01&interval=hour")).toBe(
      "400 from: A range may have at most 62 days with interval=hour.",
    );
    expect(await ask("?from=&to=&tz=&interval=&else=1")).toBe("200 The link's visits.");
    const unknown = await service.fetch("/api/v1/links/nothing/stats");
    expect(unknown.status).toBe(404);
    expect((await service.fetch("/api/v1/links/nothing")).status).toBe(404);
    expect((await service.fetch("/api/v1/links/%FF%FE")).status).toBe(404);
    const posted = await service.fetch("/api/v1/links/asked", { method: "POST" });
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD, PATCH, DELETE, OPTIONS"]);
  });

  test("tells what a link is, also when it has ended", async () => {
    await using service = await startHere({ BASE_URL: "https://curt.example" });
    const response = await service.shorten({
      original_url: "HTTPS://example.com/x",
      custom_code: "한글",
      expire_duration: "24h",
    });
    const { data: shortened } = (await response.json()) as { data: Record<string, string> };
    const { message, data, status } = (await (await service.fetch("/api/v1/links/한글")).json()) as Record<
      string,
      any
    >;
    expect([status, message]).toEqual(["success", "Link found."]);
    expect(Object.keys(data)).toEqual([
      "code",
      "short_url",
      "ascii_url",
      "original_url",
      "target",
      "created",
      "starts",
      "expires",
      "expiration_date",
      "max_visits",
      "visits_used",
      "has_password",
      "state",
      "disabled",
      "changed",
      "visits",
      "qr",
    ]);
    expect(data).toMatchObject({ ...shortened, visits: 0 });
    expect(Date.parse(data.expiration_date) - Date.parse(data.created)).toBe(86_400_000);
    const head = await service.fetch("/api/v1/links/한글/", { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
  });
});
