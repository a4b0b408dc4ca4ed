import { describe, expect, test } from "bun:test";

import { lookupAmong } from "../../src/locales/messages.ts";

/** What each range finds, among languages that Curt does not have. */
function expectFound(
  languages: readonly string[],
  found: Readonly<Record<string, string | undefined>>,
): void {
  const lookup = lookupAmong(languages);
  expect(Object.fromEntries(Object.keys(found).map((range) => [range, lookup(range)]))).toEqual(found);
}

describe.each([
  ["regions", "zh-TW", "zh-CN"],
  ["scripts", "zh-Hant", "zh-Hans"],
  ["one script and the other by default", "zh-Hant", "zh"],
  ["one region and the other by default", "zh-TW", "zh"],
])("Chinese, told apart by %s", (_, traditional, simplified) => {
  test("is found in the script that the reader reads", () => {
    for (const languages of [
      ["en", traditional, simplified],
      ["en", simplified, traditional],
    ]) {
      expectFound(languages, {
        "zh-TW": traditional,
        "zh-HK": traditional,
        "zh-MO": traditional,
        "zh-Hant": traditional,
        "zh-Hant-HK": traditional,
        "ZH-HANT-CN": traditional,
        zh: simplified,
        "zh-CN": simplified,
        "zh-SG": simplified,
        "zh-Hans": simplified,
        "zh-Hans-HK": simplified,
        "zh-Hans-CN-u-co-pinyin": simplified,
      });
    }
  });
});

test("of several regions in one script, the most likely one answers for the script", () => {
  expectFound(["en", "zh-CN", "zh-HK", "zh-TW"], {
    "zh-HK": "zh-HK",
    "zh-TW": "zh-TW",
    "zh-MO": "zh-TW",
    "zh-Hant": "zh-TW",
    zh: "zh-CN",
  });
  expectFound(["en", "pt", "pt-BR"], { pt: "pt", "pt-PT": "pt", "pt-BR": "pt-BR", "pt-AO": "pt" });
  expectFound(["en", "es", "pt-BR", "pt-PT"], {
    pt: "pt-BR",
    "pt-PT": "pt-PT",
    "es-419": "es",
    "es-MX": "es",
  });
});

test("who reads one script gets no other", () => {
  expectFound(["en", "sr-Latn"], {
    sr: undefined,
    "sr-RS": undefined,
    "sr-Latn-RS": "sr-Latn",
    "sr-ME": "sr-Latn",
  });
  expectFound(["en", "sr", "sr-Latn"], {
    sr: "sr",
    "sr-Cyrl-BA": "sr",
    "sr-Latn": "sr-Latn",
    "sr-ME": "sr-Latn",
  });
  expectFound(["en", "zh-TW"], { "zh-HK": "zh-TW", "zh-CN": undefined, zh: undefined });
});

test("everything else is looked up by its beginning", () => {
  expectFound(["en", "ja", "ko", "he", "sl-rozaj"], {
    en: "en",
    "en-GB": "en",
    "en-Shaw": "en",
    "ko-KR": "ko",
    "KO-kore-kr": "ko",
    "ja-Latn-JP-hepburn": "ja",
    "sl-rozaj-biske": "sl-rozaj",
    "en-a_b": "en",
    kok: undefined,
    k: undefined,
    "": undefined,
    "*": undefined,
    "i-klingon": undefined,
    "x-en": undefined,
  });
});
