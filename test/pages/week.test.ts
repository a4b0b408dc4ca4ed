import { expect, test } from "bun:test";

import { Week } from "../../src/pages/preview/week.tsx";
import { write } from "../../src/pages/shared/html/jsx-runtime.ts";

const [MONDAY, TUESDAY, SUNDAY] = [0, 24, 6 * 24];

function show(visits: Readonly<Record<number, number>>, language = "en"): string {
  const all = Array.from({ length: 7 * 24 }, (_, place) => visits[place] ?? 0);
  const week = { from: "2026-10-26", to: "2026-11-22", visits: all };
  return write(Week({ language, week, timeZone: "Asia/Seoul" }));
}

/** Each day's name and the numbers of its hours, in the order of the page. */
function rowsOf(page: string): (readonly [string, number[]])[] {
  const [, body = ""] = page.split("<tbody>");
  return body.split("<tr>").flatMap((row) => {
    const [, day] = /<th scope="row">([^<]*)<\/th>/.exec(row) ?? [];
    if (day === undefined) return [];
    return [
      [day, Array.from(row.matchAll(/<td[^>]*><span>(\d+)<\/span><\/td>/g), ([, count]) => Number(count))],
    ];
  });
}

test("each visit counts in the cell of its day and hour, and both have headers", () => {
  const page = show({ [MONDAY + 9]: 30, [TUESDAY]: 7, [SUNDAY + 23]: 20 });
  const rows = new Map(rowsOf(page));
  for (const hours of rows.values()) expect(hours).toHaveLength(24);
  expect(rows.get("Mon")?.[9]).toBe(30);
  expect(rows.get("Tue")?.[0]).toBe(7);
  expect(rows.get("Sun")?.[23]).toBe(20);
  expect([...rows.values()].flat().reduce((sum, count) => sum + count)).toBe(57);
  const hours = Array.from(page.matchAll(/<th scope="col"><span>([^<]*)</g), ([, name]) => name);
  expect(hours).toHaveLength(24);
  expect([hours[0], hours[13]]).toEqual(["12 AM", "1 PM"]);
});

test("weeks start on the first day that is usual for the language", () => {
  const days = (language: string) => rowsOf(show({ 0: 50 }, language)).map(([day]) => day);
  expect(days("en")).toEqual(["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]);
  expect(days("ko")).toEqual(["일", "월", "화", "수", "목", "금", "토"]);
  expect(days("de")).toEqual(["Mo", "Di", "Mi", "Do", "Fr", "Sa", "So"]);
});

test.each([
  ["en", TUESDAY + 9, /Most visits: Tuesday, 9\s–\s10\sAM \(40\)/],
  ["en", TUESDAY + 23, /Most visits: Tuesday,? (?:at )?11\sPM \(40\)/],
  ["ko", TUESDAY + 14, /화요일 14~15시 \(40회\)/],
])("the busiest hour is described in words (%s, hour %i)", (language, place, words) => {
  expect(show({ [place]: 40, [MONDAY]: 39 }, language)).toMatch(words);
});

test("a cell's colour stands for its visits, and the legend explains the colours", () => {
  const page = show({ 0: 40, 1: 31, 2: 30, 3: 11, 4: 10, 5: 1 });
  const steps = Array.from(page.matchAll(/<td class="step-(\d)"[^>]*><span>(\d+)</g), ([, ...pair]) => pair);
  expect(steps.map((pair) => pair.map(Number))).toEqual([
    [4, 40],
    [4, 31],
    [3, 30],
    [2, 11],
    [1, 10],
    [1, 1],
  ]);
  const legend = (shown: string) =>
    Array.from(shown.matchAll(/<li><span class="step-\d"><\/span>([^<]*)<\/li>/g), ([, text]) => text);
  expect(legend(page)).toEqual(["0", "1–10", "11–20", "21–30", "31–40"]);
  // Three visits at most: no colour stands for none.
  const few = Object.fromEntries(Array.from({ length: 20 }, (_, place) => [place, (place % 3) + 1]));
  expect(legend(show({ ...few, 20: 3, 21: 3, 22: 3, 23: 3 }))).toEqual(["0", "1", "2", "3"]);
});

test("the caption has the days and the time zone", () => {
  expect(show({ 0: 50 })).toMatch(/Oct 26\s–\sNov 22, 2026, time zone Asia\/Seoul/);
});

test("the table appears from 50 visits in a whole week on", () => {
  expect(show({ 0: 49 })).toBe("");
  expect(show({ 0: 49, 100: 1 })).toContain('<table class="week"');
  expect(write(Week({ language: "en", week: undefined, timeZone: "UTC" }))).toBe("");
});
