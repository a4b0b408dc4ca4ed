import { describe, expect, test } from "bun:test";
import { join } from "node:path";

import * as fc from "fast-check";

import type { LinkKey } from "../../src/links/code.ts";
import { createSecret } from "../../src/links/secret.ts";
import { DAY_MS, HOUR_MS } from "../../src/links/time.ts";
import en from "../../src/locales/en.json";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { DayDetail } from "../../src/visits/days/detail.ts";
import { DIMENSIONS } from "../../src/visits/days/dimensions.ts";
import { blur, createNoise, MIN_SHOWN_VISITS } from "../../src/visits/statistics/noise.ts";
import { createStatistics, type Statistics } from "../../src/visits/statistics/statistics.ts";
import { writeDay } from "../../src/visits/statistics/zone.ts";
import { newLink } from "../stores/links.ts";
import { type LocalService, openStoreOf, startService, temporaryFolder } from "../support/service.ts";
import { detailOf, slicesOf } from "./slices.ts";
import { addVisits, statisticsOf, untilCounted, visit } from "./visits.ts";

/** The likelihood of a number, relative to the next one further from the exact one. */
const RATIO = Math.exp(0.5);
const DRAWS = 50_000;

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);
const mean = (numbers: readonly number[]) => sum(numbers) / numbers.length;

describe("the offset of a number", () => {
  const noise = createNoise("a key");

  test("is two-sided geometric: unbiased, symmetric, with a variance of 7.84", () => {
    const offsets = Array.from({ length: DRAWS }, (_, nth) => noise(["code", nth]));
    expect(Math.abs(mean(offsets))).toBeLessThan(0.04);
    expect(Math.abs(mean(offsets.map((offset) => offset ** 2)) - 7.84)).toBeLessThan(0.25);
    for (let offset = -8; offset <= 8; offset++) {
      const share = offsets.filter((one) => one === offset).length / DRAWS;
      const expected = ((1 - 1 / RATIO) / (1 + 1 / RATIO)) * RATIO ** -Math.abs(offset);
      expect(Math.abs(share - expected)).toBeLessThan(5 * Math.sqrt(expected / DRAWS));
    }
  });

  test("depends only on the key and on each part of the name", () => {
    const draw = (key: string, more: readonly (string | number)[]) => {
      const from = createNoise(key);
      return Array.from({ length: 50 }, (_, nth) => from([nth, ...more]));
    };
    const [first, ...others] = [
      draw("a key", ["code", 5, "countries", "KR"]),
      draw("another key", ["code", 5, "countries", "KR"]),
      draw("a key", ["code", 6, "countries", "KR"]),
      draw("a key", ["code", 5, "languages", "KR"]),
      draw("a key", ["code", 5, "countries", "JP"]),
    ];
    expect(draw("a key", ["code", 5, "countries", "KR"])).toEqual(first ?? []);
    for (const other of others) expect(other).not.toEqual(first);
  });
});

describe("the public view of a day", () => {
  const noise = createNoise("a key");

  /** The published counts of a referrer with `visits` of `all` visits, one per draw; undefined if it is hidden. */
  function shownOf(visits: number, all = 100): (number | undefined)[] {
    const referrers: [string, number][] = [["one.example", visits]];
    const day: DayDetail = { visitors: all, values: { referrers }, others: { referrers: all - visits } };
    return Array.from({ length: DRAWS }, (_, nth) => {
      const { values, others } = blur(day, all, (...name) => noise([nth, ...name]));
      const shown = values.referrers?.[0]?.[1];
      if ((shown ?? 0) + (others.referrers ?? 0) !== all) throw new Error("a visit is lost");
      return shown;
    });
  }
  const share = (counts: readonly unknown[], wanted: unknown) =>
    counts.filter((count) => count === wanted).length / counts.length;

  test("hides single visits: no number is more than 1.65 times as likely with one visit more", () => {
    for (const visits of [1, 15]) {
      const [without, withIt] = [shownOf(visits), shownOf(visits + 1)];
      for (const count of new Set([...without, ...withIt])) {
        const shares = [share(without, count), share(withIt, count)];
        if (Math.min(...shares) > 0.02) {
          const [low = 0, high = 0] = shares.toSorted((a, b) => a - b);
          expect(high / low).toBeLessThan(RATIO * 1.1);
        }
      }
    }
  });

  test("shows a value with one visit in one of twelve cases, and no values of a day with fewer than five visits", () => {
    expect(1 - share(shownOf(1), undefined)).toBeCloseTo(0.0842, 2);
    expect(share(shownOf(1, MIN_SHOWN_VISITS - 1), undefined)).toBe(1);
  });

  test("is unbiased", () => {
    const counts = shownOf(30).map((count) => count ?? 0);
    expect(mean(counts)).toBeCloseTo(30, 1);
  });

  test("hides a dimension that may have lost values, in all but one of 240 cases", () => {
    const referrers = Array.from({ length: 100 }, (_, nth): [string, number] => [`${nth}.example`, 10]);
    const countries: [string, number][] = [["KR", 1000]];
    const day: DayDetail = { visitors: 1000, values: { referrers, countries }, others: {} };
    const days = Array.from({ length: 2000 }, (_, nth) =>
      blur(day, 1000, (...name) => noise([nth, ...name])),
    );
    const shown = days.filter(({ values }) => (values.referrers ?? []).length > 0);
    expect(shown.length).toBeLessThan(25);
    for (const { values } of days) expect(values.countries).toHaveLength(1);
  });
});

describe("public statistics", () => {
  const FIRST = Date.UTC(2026, 9, 1) / DAY_MS;
  const DAYS = 8;

  test("of a range only sum up the public values of its days, even if ranges overlap", async () => {
    using folder = temporaryFolder();
    const store = await openSqliteStore(join(folder.path, "curt.db"));
    const noise = createNoise("a key");
    const clock = { nowMs: () => (FIRST + DAYS + 1) * DAY_MS };
    let links = 0;
    const people = fc.record({
      day: fc.nat(DAYS - 1),
      visitor: fc.nat(30),
      referrer: fc.constantFrom("", "a.example", "b.example"),
      country: fc.constantFrom("KR", "JP"),
    });
    const range = fc
      .tuple(fc.nat(DAYS - 1), fc.nat(DAYS - 1))
      .map(([a, b]) => [Math.min(a, b), Math.max(a, b)]);
    const checkRanges = async (visits: readonly { day: number }[], ranges: readonly number[][]) => {
      const link = newLink(`range${links++}`, { createdMs: 5 });
      for (const [day, some] of Map.groupBy(visits, (one) => one.day)) {
        const ofLink = some.map((one) => ({ ...one, code: link.code }));
        for (const slice of slicesOf({ hour: (FIRST + day) * 24, visits: ofLink })) await store.add(slice);
      }
      const rows = await store.days(link.code, 5, FIRST, FIRST + DAYS);
      const blurred = new Map(
        rows.map((row) => {
          const detail = detailOf(row) as DayDetail;
          return [
            row.day,
            blur(detail, row.visits, (...name) => noise([link.code, 5, row.day, row.visits, ...name])),
          ];
        }),
      );
      const { statistics } = createStatistics({ store, clock, shown: "safe", noise });
      for (const [first = 0, last = 0] of ranges) {
        const [from, to] = [first, last].map((day) => writeDay(FIRST + day));
        const result = (await statistics(link, { from, to, interval: "day", timeZone: "UTC" })) as Statistics;
        const days = [...blurred].filter(([day]) => day >= FIRST + first && day <= FIRST + last);
        for (const dimension of DIMENSIONS) {
          const expected = new Map<string, number>();
          for (const [, { values }] of days)
            for (const [text, count] of values[dimension] ?? [])
              expected.set(text, (expected.get(text) ?? 0) + count);
          const { values, other } = result.breakdowns[dimension];
          expect(new Map(values.map((one) => [one.value ?? "", one.visits]))).toEqual(expected);
          expect(other).toBe(Math.max(0, sum(days.map(([, { others }]) => others[dimension] ?? 0))));
        }
        const visitors = sum(days.map(([, detail]) => detail.visitors as number));
        expect(result.visitors).toBe(
          days.length === 0 ? null : Math.min(Math.max(visitors, days.length), result.visits),
        );
      }
    };
    await fc.assert(
      fc.asyncProperty(
        fc.array(people, { maxLength: 150, size: "max" }),
        fc.array(range, { maxLength: 6 }),
        checkRanges,
      ),
      { numRuns: 40 },
    );
    await store.close();
  });
});

describe("a public service", () => {
  const CURT_SECRET = "a secret of an instance 0123456789".replaceAll(" ", "-");
  const noise = createNoise(createSecret(Buffer.from(CURT_SECRET)).hash("noise", []));
  const SETTINGS = {
    POSTURE: "public",
    TRUSTED_PROXIES: "127.0.0.1",
    CURT_SECRET,
    ADMIN_TOKEN: "operator-token-0123456789",
  };
  const startMs = Date.UTC(2026, 10, 21, 16, 30);
  const DAY = Math.floor(startMs / DAY_MS);
  const createLink = async (service: LocalService, custom_code: string) => {
    expect((await service.shorten({ original_url: "https://example.com/", custom_code })).status).toBe(201);
    await using store = await openStoreOf(service);
    return (await store.find(custom_code as LinkKey))?.createdMs ?? Number.NaN;
  };

  test("publishes a day's breakdowns an hour after its end, with noise that only another visit changes", async () => {
    await using service = await startService(SETTINGS, { startMs });
    const createdMs = await createLink(service, "primed");
    const person = (network: number, mobile: boolean) =>
      visit(service, "primed", {
        // Of a Japanese university and a Korean carrier.
        "X-Forwarded-For": `${mobile ? "133.11" : "168.126"}.${network}.7`,
        Referer: mobile ? "https://b.example/" : "https://a.example/",
      });
    for (let network = 0; network < 5; network++)
      for (const mobile of [true, false]) await person(network, mobile);
    await untilCounted(service, "primed", 10);
    const read = () => statisticsOf(service, "primed", "?from=2026-11-21&to=2026-11-21");
    const nothing = {
      visitors: null,
      ...Object.fromEntries(DIMENSIONS.map((one) => [one, { values: [], other: 0 }])),
    };
    expect(await read()).toMatchObject({ visits: 10, ...nothing });
    service.advance(HOUR_MS);
    expect(await read()).toMatchObject({ visits: 10, ...nothing });
    await person(9, true);
    await untilCounted(service, "primed", 11);
    // Until 00:59 of the next day.
    for (const hours of [0, 1, 6, 0.48]) {
      service.advance(hours * HOUR_MS);
      expect(await read()).toMatchObject({ visits: 11, ...nothing });
    }
    service.advance(HOUR_MS / 30);
    const published = await read();
    const expectNoise = (statistics: Record<string, unknown>, exact: Readonly<Record<string, number>>) => {
      const all = sum(Object.values(exact));
      const expected = Object.entries(exact)
        .map(([value, visits]) => ({
          value,
          visits: visits + noise(["primed", createdMs, DAY, all, "referrers", value]),
        }))
        .filter(({ visits }) => visits >= 5);
      const { values, other } = statistics["referrers"] as Statistics["breakdowns"]["referrers"];
      expect(new Set(values)).toEqual(new Set(expected));
      expect(other).toBe(Math.max(0, all - sum(expected.map(({ visits }) => visits))));
    };
    expectNoise(published, { "a.example": 5, "b.example": 6 });
    service.advance(30 * DAY_MS);
    expect(await read()).toEqual(published);
    // A late visit from another machine. With the same offsets, the difference would reveal its values.
    await addVisits(service, "primed", [{ referrer: "b.example" }], startMs);
    expectNoise(await read(), { "a.example": 5, "b.example": 7 });
  });

  test("shows the same numbers in JSON, CSV and page, in every process and after a restart", async () => {
    using folder = temporaryFolder();
    const options = { folder: folder.path, startMs };
    const results = new Set<string>();
    async function readAll(service: LocalService): Promise<void> {
      const path = "/api/v1/links/same/stats?from=2026-11-21&to=2026-11-23";
      const { data } = (await (await service.fetch(path)).json()) as { data: Record<string, any> };
      const rows = DIMENSIONS.flatMap((dimension) =>
        data[dimension].values.map(
          ({ value, visits }: any) => `${dimension},${value ?? "(unknown)"},${visits},`,
        ),
      );
      results.add(JSON.stringify([data["visitors"], rows]));
      const csv = (await (await service.fetch(`${path}&format=csv`)).text()).split("\r\n");
      expect(csv.filter((row) => row.startsWith("referrers,") && !row.includes("(other)"))).toEqual(
        rows.filter((row) => row.startsWith("referrers,")),
      );
      const headers = { Accept: "text/html", "Accept-Language": "en" };
      const page = (await (await service.fetch("/same+", { headers })).text()).replaceAll("<wbr/>", "");
      for (const { value, visits } of data["referrers"].values)
        expect(page).toMatch(new RegExp(`<bdi>${value}</bdi>.*?<td class="number">${visits}</td>`));
      expect(page).toContain(`<dt>${en["preview.visitors"]}</dt><dd>${data["visitors"]}</dd>`);
    }
    {
      await using one = await startService(SETTINGS, options);
      await using other = await startService(SETTINGS, options);
      await createLink(one, "same");
      const people = Array.from({ length: 60 }, (_, visitor) => ({
        visitor,
        referrer: `${visitor % 3}.example`,
      }));
      await addVisits(one, "same", people);
      for (const service of [one, other]) {
        service.advance(DAY_MS);
        await readAll(service);
      }
    }
    await using later = await startService(SETTINGS, { ...options, startMs: startMs + 2 * DAY_MS });
    await readAll(later);
    expect(results.size).toBe(1);
  });
});
