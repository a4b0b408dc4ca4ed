import { expect, test } from "bun:test";

import { message } from "../../src/locales/messages.ts";
import { Breakdowns } from "../../src/pages/shared/charts/breakdowns.tsx";
import { write } from "../../src/pages/shared/html/jsx-runtime.ts";
import { DIMENSIONS } from "../../src/visits/days/dimensions.ts";
import type { Statistics } from "../../src/visits/statistics/statistics.ts";

type Shown = Statistics["shown"];
type All = Statistics["breakdowns"];

const NONE = { values: [], other: 0 };
const NOTHING = Object.fromEntries(DIMENSIONS.map((dimension) => [dimension, NONE])) as unknown as All;

function show(breakdowns: Partial<All>, language = "en", shown: Shown = "safe"): string {
  return write(Breakdowns({ language, shown, breakdowns: { ...NOTHING, ...breakdowns } })).replaceAll(
    "<wbr/>",
    "",
  );
}

/** Name, length of the bar, visits and share of every row. */
function rowsOf(page: string): string[][] {
  const cells =
    /<tr[^>]*><th scope="row"><bdi>([^<]*)<\/bdi><svg[^>]*><rect width="([^"]*)"[^>]*><\/rect><\/svg><\/th><td[^>]*>([^<]*)<\/td><td[^>]*>([^<]*)<\/td><\/tr>/g;
  const rows = Array.from(page.matchAll(cells), ([, ...row]) => row);
  expect(rows).toHaveLength(page.split('scope="row"').length - 1);
  return rows;
}

function values(visitsOf: Readonly<Record<string, number>>) {
  return Object.entries(visitsOf).map(([value, visits]) => ({ value, visits }));
}

test("a list shows its first eight values and the sum of hidden ones, and the rest on demand", () => {
  const hosts = Object.fromEntries(Array.from({ length: 50 }, (_, nth) => [`host${nth}.example`, 100 - nth]));
  const page = show({ referrers: { values: values(hosts), other: 7 } });
  const [shown = "", opened = ""] = page.split("<details");
  const expected = Object.entries(hosts).map(([name, visits]) => [name, String(visits)]);
  const namesAndVisits = (part: string) => rowsOf(part).map(([name, , visits]) => [name, visits]);
  expect(namesAndVisits(shown)).toEqual([...expected.slice(0, 8), [message("en", "preview.other"), "7"]]);
  expect(namesAndVisits(opened)).toEqual(expected.slice(8));
  expect(opened).toContain(`<summary>${message("en", "preview.more", { count: 42 })}</summary>`);
});

test("percentages are of all visits in a list, and never round to 0 % or 100 %", () => {
  const referrers = {
    values: [
      { value: null, visits: 500 },
      { value: "a.example", visits: 375 },
      { value: "b.example", visits: 4 },
    ],
    other: 121,
  };
  const page = show({ referrers, countries: { values: values({ KR: 999, US: 1 }), other: 0 } });
  expect(rowsOf(page)).toEqual([
    [message("en", "preview.direct"), "50", "500", "50%"],
    ["a.example", "37.5", "375", "38%"],
    ["b.example", "0.4", "4", "&lt;1%"],
    [message("en", "preview.other"), "12.1", "121", "12%"],
    ["South Korea", "99.9", "999", "&gt;99%"],
    ["United States", "0.1", "1", "&lt;1%"],
  ]);
  expect(page).toContain("Percentages are of the 1,000 visits in each list.");
});

test("unknown and other values look different from recorded ones", () => {
  const referrers = {
    values: [{ value: null, visits: 5 }, ...values({ "a.example": 4 })],
    other: 2,
  };
  const page = show({ referrers });
  const vague = Array.from(
    page.matchAll(/<tr class="vague"><th scope="row"><bdi>([^<]*)/g),
    ([, name]) => name,
  );
  expect(vague).toEqual([message("en", "preview.direct"), message("en", "preview.other")]);
});

test("fewer than ten visits are a line for each list", () => {
  const page = show({
    referrers: { values: values({ "a.example": 6 }), other: 3 },
    devices: { values: values({ phone: 9 }), other: 0 },
  });
  expect(page.replaceAll(/<[^>]+>/g, "|").replaceAll(/\|+/g, "|")).toBe(
    "|Sources|a.example\u00a06|\u00a0· |Other\u00a03|Devices|Phone\u00a09|",
  );
});

test("all six lists name their values in the reader's language", () => {
  const all = {
    referrers: "search.naver.com",
    countries: "DE",
    browsers: "Samsung Internet",
    operating_systems: "Android",
    devices: "phone",
    languages: "ko",
  };
  const one = Object.entries(all).map(([dimension, value]) => [
    dimension,
    { values: values({ [value]: 10 }), other: 0 },
  ]);
  const names = (language: string) =>
    rowsOf(show(Object.fromEntries(one) as Partial<All>, language)).map(([name]) => name);
  expect(names("en")).toEqual([
    "search.naver.com",
    "Germany",
    "Samsung Internet",
    "Android",
    "Phone",
    "Korean",
  ]);
  expect(names("ko")).toEqual([
    "search.naver.com",
    "독일",
    "Samsung Internet",
    "Android",
    "휴대전화",
    "한국어",
  ]);
});

test("a breakdown without values shows why they are hidden, or nothing", () => {
  const referrers = { values: [], other: 4 };
  expect(show({ referrers })).toBe(`<p class="hint">${message("en", "preview.few")}</p>`);
  expect(show({ referrers }, "en", "all")).toBe("");
});
