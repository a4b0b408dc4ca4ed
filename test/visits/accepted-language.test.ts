import { expect, test } from "bun:test";

import * as fc from "fast-check";

import { preferredLanguage } from "../../src/visits/visit-headers.ts";

const LANGUAGES: Readonly<Record<string, string>> = {
  "ko-KR,ko;q=0.9,en-US;q=0.8,en;q=0.7": "ko",
  ko: "ko",
  "EN-us": "en",
  "en;q=0.3, ja;q=0.9": "ja",
  "en;q=0, fr": "fr",
  "zh-Hant-TW": "zh",
  "fil-PH,fil;q=0.9": "fil",
  "iw-IL": "he",
  "in-ID": "id",
  "ko , *;q=0.1": "ko",
  [`de,${"en;q=0.5,".repeat(1800)}`]: "de",
  "": "",
  "*": "",
  "*, ko;q=0.5": "",
  "ko;q=0": "",
  und: "",
  mul: "",
  zxx: "",
  "xq-XX": "",
  qaa: "",
  "i-klingon": "",
  "x-private": "",
  english: "",
  e: "",
  한국어: "",
  __proto__: "",
  [`${"a".repeat(16_000)},ko`]: "",
};

test("the preferred language is the primary subtag of the most preferred range", () => {
  const results = Object.keys(LANGUAGES).map((header) => [header, preferredLanguage(header)] as const);
  expect(new Map(results)).toEqual(new Map(Object.entries(LANGUAGES)));
});

test("a range cut by the length limit is ignored", () => {
  expect(preferredLanguage(`${" ".repeat(254)}de`)).toBe("de");
  expect(preferredLanguage(`${" ".repeat(254)}den-DE`)).toBe("");
  expect(preferredLanguage(`en;q=0.1,${" ".repeat(245)}den-DE`)).toBe("en");
});

test("the language of any header has two or three letters or is empty", () => {
  const part = fc.constantFrom(..."ko en - , ; q= 0.5 * US 1 NaN".split(" "), " ", "\t", "\uD800");
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 300 }),
    fc.string({ minLength: 1, maxLength: 4 }),
    fc.array(part, { maxLength: 60 }).map((parts) => parts.join("")),
  );
  fc.assert(fc.property(text, (header) => expect(preferredLanguage(header)).toMatch(/^(?:[a-z]{2,3})?$/)));
});
