import { describe, expect, test } from "bun:test";

import { lookupAmong } from "../../src/locales/messages.ts";

/** Looks up each range among `languages`, which needn't be Curt's. */
function expectFound(
  languages: readonly string[],
  expected: Readonly<Record<string, string | undefined>>,
): void {
  const lookup = lookupAmong(languages);
  expect(Object.fromEntries(Object.keys(expected).map((range) => [range, lookup(range)]))).toEqual(expected);
}

describe.each([
  ["two regions", "zh-TW", "zh-CN"],
  ["two scripts", "zh-Hant", "zh-Hans"],
  ["one script and a default", "zh-Hant", "zh"],
  ["one region and a default", "zh-TW", "zh"],
])("Chinese in catalogues for %s", (_, traditional, simplified) => {
  test("is found in the reader's script", () => {
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

test("a script without a catalogue of its own gets its most likely region", () => {
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

test("a reader of one script never gets another", () => {
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

test("other ranges are looked up by their prefixes", () => {
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
