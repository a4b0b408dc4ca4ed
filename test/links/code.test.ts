import { describe, expect, spyOn, test } from "bun:test";

import * as fc from "fast-check";

import {
  capitalsOf,
  type Code,
  codeSpace,
  generateCode,
  lookUpCode as lookUp,
  MAX_CODE_POINTS,
  parseCode as parse,
} from "../../src/links/code.ts";
import caseFolding from "./case-folding.json" with { type: "json" };

const parseCode = (written: string) => parse(written, "match");
const lookUpCode = (spelling: string) => lookUp(spelling, "match");

const ACCEPTED = {
  "Korean, composed": "한글",
  "Korean, decomposed": "한글".normalize("NFD"),
  "Korean jamo": "ㅋㅋㅋ",
  "Korean with Latin": "안녕hello_2026-11",
  Arabic: "مرحبا",
  "Persian with a non-joiner": "می\u200Cخواهم",
  "Hebrew with marks": "שָׁלוֹם",
  "Devanagari with a joiner": "क्\u200Dष",
  "Devanagari with a non-joiner": "क्\u200Cष",
  Thai: "สวัสดี",
  "hiragana and katakana": "ひらがなカタカナー",
  Han: "漢字",
  "Cyrillic and Greek": "приветΓειά",
  "accents, composed and not": "cafe\u0301",
  "numbers of other scripts": "٣४Ⅳ①",
  "a family": "👨‍👩‍👧‍👦",
  "a flag": "🇰🇷",
  "a flag of tags": "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
  "a rainbow flag": "🏳️‍🌈",
  "a heart": "❤️",
  "a heart without U+FE0F": "❤",
  "a star as phones send it": "⭐\uFE0F",
  "a keycap": "1️⃣",
  "a keycap without U+FE0F": "1\u20E3",
  "the keycaps of # and *": "#️⃣*️⃣",
  "skin tones": "👍🏽☝🏻",
  "letters and emoji": "커피☕2잔",
  "one character": "a",
  "64 characters": "가".repeat(64),
  "64 characters, decomposed": "각".repeat(64).normalize("NFD"),
  "32 keycaps, without their U+FE0F": "1\u20E3".repeat(32),
  "32 keycaps, with their U+FE0F": "1\uFE0F\u20E3".repeat(32),
  "64 of four bytes": "𠀀".repeat(64),
};

const REFUSED = {
  "code.ill-formed": ["\uD800", "a\uDC00b"],
  "code.too-long": [
    "가".repeat(65),
    "a".repeat(65),
    "a".repeat(60_000),
    "\u0344".repeat(40),
    "1\uFE0F\u20E3".repeat(33),
  ],
  "code.space": ["a b", " ", " a", "a ", "한 글", "a  "],
  "code.invisible": [
    "\u3164",
    "\u115F",
    "\u1160",
    "\uFFA0", // Hangul fillers
    "a\u200Bb",
    "a\u2060b",
    "a\u00ADb",
    "a\u180Eb",
    "a\uFE0Fb",
    "a\uFE0E",
    "❤\uFE0F\uFE0F",
    "1\uFE0F",
    "a\u{E0100}",
    "a\u{E0067}b", // selectors, tags
    "a\u202Eb",
    "\u200Fa",
    "\u061Ca", // bidi
    "\u2800",
    "\u{13441}",
    "a\u00A0b",
    "a\tb",
    "a\u0000b",
    "a\u007Fb",
    "a\u0085b",
  ],
  "code.joiner": ["a\u200Db", "a\u200Cb", "\u200D", "한\u200D글", "👍\u200D👍", "می\u200C", "\u200Cम"],
  "code.mark": ["\u0301", "\u0301a", "\u20E3", "क्\u200D\u0301"],
  "code.character": [
    ..."a.b a+b a/b a%20b a?b a#b # * ~a a! ' < (a) € 가·나 。 → 🇰🇷🇰 ½½=1".split(" "),
    "a\\b",
    '"',
    "\u{1F1F0}",
    "\uE000",
    "\u0378",
    "\uFFFD",
  ],
  "code.reserved": ["api", "API", "docs", "Docs", "docſ", "admin", "metrics", "livez", "readyz", "READYZ"],
};

describe("a custom code", () => {
  for (const [what, input] of Object.entries(ACCEPTED)) {
    test(`may be ${what}`, () => {
      const code = parseCode(input);
      expect(code).toBe(input.normalize("NFC").replaceAll("\uFE0F", "") as typeof code);
      for (const spelling of [input, input.normalize("NFC"), input.normalize("NFD"), code as string]) {
        expect(lookUpCode(spelling)).toBe(code as never);
      }
    });
  }

  for (const [rule, codes] of Object.entries(REFUSED)) {
    test(`is refused with ${rule}`, () => {
      for (const input of codes)
        expect([input, parseCode(input)]).toMatchObject([input, { kind: "invalid", refusals: [{ rule }] }]);
    });
  }

  test("may start with a reserved word or contain one", () => {
    for (const input of ["apitest", "blog2", "docs2", "my-api", "api_", "robots", "assets"]) {
      expect(parseCode(input)).toBe(input as never);
    }
  });

  test("is validated in its stored form, without U+FE0F", () => {
    expect(parseCode("↔\uFE0F\u0338")).toMatchObject({
      refusals: [{ rule: "code.character", character: "↮ (U+21AE)" }],
    });
  });

  test("may be an emoji with a separate skin tone, or a word that only resembles a reserved one", () => {
    for (const input of ["❤️🏽", "☝️🏽", "apı", "lıvez", "metrıcs"])
      expect(typeof parseCode(input), input).toEqual("string");
  });

  test("is refused if one of its joiners lacks its context", () => {
    expect(parseCode("می\u200Cخواهم\u200Ca")).toMatchObject({ refusals: [{ rule: "code.joiner" }] });
  });

  test("is case-sensitive", () => {
    expect(parseCode("Abc")).not.toBe(parseCode("abc"));
  });

  test("may contain every RGI emoji, with and without U+FE0F", () => {
    const emoji: string[] = [];
    for (let point = 0x23; point <= 0x1faff; point++) {
      const bare = String.fromCodePoint(point);
      for (const form of [
        bare,
        `${bare}\uFE0F`,
        `${bare}\uFE0F\u20E3`,
        `${bare}🏽`,
        `${bare}\u200D♂\uFE0F`,
      ]) {
        if (/^\p{RGI_Emoji}$/v.test(form)) emoji.push(form);
      }
    }
    expect(emoji.length).toBeGreaterThan(1500);
    for (const one of emoji) {
      const code = one.replaceAll("\uFE0F", "");
      for (const input of [one, code, `a${one}`, `${one}${one}`]) {
        expect(parseCode(input), input).toEqual(input.replaceAll("\uFE0F", "") as never);
      }
    }
  });
});

/** The forms of a code that programs and operating systems produce. */
function formsOf(input: string): string[] {
  const bare = input.replaceAll("\uFE0F", "");
  return [input, bare].flatMap((one) => [one, one.normalize("NFC"), one.normalize("NFD")]);
}

describe("lookUpCode", () => {
  test("finds the code of a link in every form, even for the longest spellings and runs of marks", () => {
    // The characters that grow most when they are decomposed: in units, in marks, in marks that are letters.
    const letters = [
      "ᾂ",
      "ǖ",
      "ộ",
      "각",
      "\u{16D6A}",
      "\u{1D160}",
      "\u0DDD",
      "\u0CCB",
      "🧑🏽",
      "❤\uFE0F",
      "1\uFE0F\u20E3",
    ];
    const marks = [
      "\u0301",
      "\u0316",
      "\u0334",
      "\u0345",
      "\u0344",
      "\u05B0",
      "\u093C",
      "\u0DDD",
      "\u0CCB",
      "\u20E3",
    ];
    const longest = letters.flatMap((letter) => [
      ...marks.map((mark) => letter + mark.repeat(64 - Array.from(letter.replaceAll("\uFE0F", "")).length)),
      letter.repeat(64 / Array.from(letter.replaceAll("\uFE0F", "")).length),
    ]);
    const run = fc
      .tuple(fc.constantFrom(...letters), fc.array(fc.constantFrom(...marks), { maxLength: 70 }))
      .map(([letter, after]) => letter + after.join(""));
    const text = fc.array(run, { minLength: 1, maxLength: 64 }).map((runs) => runs.join(""));
    let codes = 0;
    fc.assert(
      fc.property(fc.oneof(fc.constantFrom(...longest), text), (input) => {
        const code = parseCode(input);
        if (typeof code !== "string") return;
        codes++;
        for (const form of formsOf(input)) expect(lookUpCode(form)).toBe(code);
        expect(parseCode(code)).toBe(code);
      }),
      { numRuns: 3000, examples: longest.map((one) => [one] as [string]) },
    );
    expect(codes).toBeGreaterThan(500);
  });

  test("refuses more marks than a code can have before it sorts them", () => {
    const hostile = [
      `a${"\u0345".repeat(34)}${"\u0334".repeat(33)}`,
      `a${"\u0345".repeat(250)}${"\u0334".repeat(250)}`,
      `a\uFE0F${"\u0345\uFE0F".repeat(100)}${"\u0334\uFE0F".repeat(100)}`,
      `한글${"\u0345\u0334".repeat(16)}글${"\u0345\u0334".repeat(20)}`,
      `a${"\u0345".repeat(2000)}`,
    ];
    const normalize = spyOn(String.prototype, "normalize");
    for (const spelling of hostile) {
      expect(lookUpCode(spelling)).toBeUndefined();
      expect(parseCode(spelling)).toMatchObject({ refusals: [{ rule: "code.too-long" }] });
    }
    const lengths = normalize.mock.contexts.map((text) => String(text).length);
    normalize.mockRestore();
    // Two marks are normalized to compare their classes.
    expect(Math.max(0, ...lengths)).toBeLessThanOrEqual(2);
  });

  test("finds no code in texts that can't be one", () => {
    for (const spelling of ["", "\uFE0F", "a".repeat(65), "가".repeat(5000), "\uD800"]) {
      expect(lookUpCode(spelling)).toBeUndefined();
    }
  });
});

describe("a generated code", () => {
  const fill = (bytes: Uint8Array) => void crypto.getRandomValues(bytes);

  test("contains no look-alikes and no vowels, and each character equally often", () => {
    const counts = new Map<string, number>();
    const generated = Array.from({ length: 20_000 }, () => generateCode(7, "match", fill));
    for (const character of generated.join("")) counts.set(character, (counts.get(character) ?? 0) + 1);
    expect([...counts.keys()].join("")).not.toMatch(/[0O1lIaeiouAEIOU]/);
    expect(codeSpace(1, "match")).toBe(counts.size);
    const expected = (20_000 * 7) / counts.size;
    const chiSquare = [...counts.values()].reduce(
      (sum, count) => sum + (count - expected) ** 2 / expected,
      0,
    );
    // 48 degrees of freedom: above 110 with a chance of one in a million.
    expect(chiSquare).toBeLessThan(110);
    // Two equal ones in 3,400 runs, and four with a chance below one in a billion.
    expect(new Set(generated).size).toBeGreaterThan(generated.length - 4);
  });

  test("has the requested length and is a valid custom code", () => {
    for (let length = 4; length <= 32; length++) {
      const code = generateCode(length, "match", fill);
      expect(code).toHaveLength(length);
      expect(parseCode(code)).toBe(code);
    }
  });
});

describe("with CODE_CASE=ignore, a code", () => {
  const fold = (spelling: string) => lookUp(spelling, "ignore");

  test("is folded like CaseFolding.txt says", () => {
    const mappings = readCaseFolding();
    const mapped = (text: string) =>
      Array.from(text.normalize("NFC"), (one) => mappings.get(one) ?? one)
        .join("")
        .normalize("NFC");
    expect(mappings.size).toBe(1585);
    for (let point = 0; point <= 0x10ffff; point++) {
      const text = String.fromCodePoint(point);
      const code = /[\p{Cn}\p{Co}]/u.test(text) ? undefined : fold(text);
      if (code === undefined) continue;
      // Only Cherokee's folded letters are others, so both sides are folded once more.
      if (fold(mapped(text)) !== code || mapped(code) !== mapped(text) || fold(code) !== code)
        expect([point.toString(16), code]).toEqual([point.toString(16), mapped(text) as never]);
    }
  });

  test("has one form for all capitals, composed or not", () => {
    for (const [one, other] of [
      ["Team-Wiki_7", "tEAM-wIKI_7"],
      ["STRASSE", "Straße"],
      ["STRAẞE", "strasse"],
      ["ΟΔΟΣ", "οδος"],
      ["Ǆ", "ǆ"],
      ["İstanbul", "i̇STANBUL"],
      ["ÉCOLE", "e\u0301cole"],
      ["ᾼ", "αι"],
      ["한글ABC☕", "한글abc☕\uFE0F"],
    ] as const) {
      const code = parse(one, "ignore");
      expect([one, code]).toEqual([one, fold(other) as never]);
      expect(parse(other, "ignore")).toBe(code);
    }
    expect(fold("ılık")).toBe("ılık" as never);
    expect(fold("ILIK")).toBe("ilik" as never);
  });

  test("is the same when it is folded again, and for its capitals", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 20 }), (text) => {
        const code = fold(text);
        if (code === undefined) return;
        expect(fold(code)).toBe(code);
        expect(fold(code.replaceAll("ı", "").toUpperCase())).toBe(fold(code.replaceAll("ı", "")));
      }),
    );
  });

  test("has its length after folding", () => {
    const { refusals } = parse("ß".repeat(33), "ignore") as { refusals: unknown };
    expect(refusals).toEqual([{ rule: "code.too-long", max: MAX_CODE_POINTS }]);
    expect(fold("ß".repeat(33))).toBeUndefined();
    expect(parse("ß".repeat(32), "ignore")).toBe("s".repeat(64) as never);
    // There is no single capital of ǰ.
    expect(parse("J\u030C".repeat(64), "ignore")).toBe("ǰ".repeat(64) as never);
  });

  test("obeys the rules for characters and words in any capitals", () => {
    for (const [input, rule] of [
      ["ADMIN", "code.reserved"],
      ["Docſ", "code.reserved"],
      ["A b", "code.space"],
      ["A.b", "code.character"],
      ["\u0301A", "code.mark"],
    ] as const)
      expect(parse(input, "ignore")).toMatchObject({ refusals: [{ rule }] });
    expect(parse("Ⓜ\uFE0F", "ignore")).toBe("ⓜ" as never);
  });

  test("is shown as it was written, in NFC", () => {
    for (const [written, shown] of [
      ["Team", "Team"],
      ["E\u0301cole", "École"],
      ["❤\uFE0FLove", "❤Love"],
      ["team", undefined],
      ["❤\uFE0F", undefined],
    ] as const)
      expect(capitalsOf(written, parse(written, "ignore") as Code)).toBe(shown);
  });

  test("is generated without capitals", () => {
    const generated = Array.from({ length: 2000 }, () =>
      generateCode(8, "ignore", (bytes) => void crypto.getRandomValues(bytes)),
    );
    const characters = new Set(generated.join(""));
    expect([...characters].toSorted().join("")).toBe("23456789bcdfghjkmnpqrstvwxyz");
    expect(codeSpace(1, "ignore")).toBe(characters.size);
    expect(new Set(generated).size).toBe(generated.length);
  });
});

/** The common and full mappings (C and F), which together are the full case folding. */
function readCaseFolding(): ReadonlyMap<string, string> {
  const common = caseFolding.common.split("; ").flatMap((run) => {
    const [first = "", ...numbers] = run.split(" ");
    const [count = 0, step = 1, distance = 0] = numbers.map(Number);
    return Array.from({ length: count }, (_, nth) => {
      const from = Number.parseInt(first, 16) + nth * step;
      return [String.fromCodePoint(from), String.fromCodePoint(from + distance)] as const;
    });
  });
  const full = caseFolding.full.split("; ").map((line) => {
    const [from = "", ...to] = line.split(" ").map((hex) => String.fromCodePoint(Number.parseInt(hex, 16)));
    return [from, to.join("")] as const;
  });
  return new Map([...common, ...full]);
}
