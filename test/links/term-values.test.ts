import { describe, expect, test } from "bun:test";

import { fitText, refuseTerms } from "../../src/links/terms/term-values.ts";

describe("a password", () => {
  const rules = (password: string) => refuseTerms({ password }).map(({ rule }) => rule);

  test("has at most 128 code points after composition", () => {
    expect(rules("\u1112\u1161\u11AB".repeat(128))).toEqual([]);
    expect(rules("\u1112\u1161\u11AB".repeat(129))).toEqual(["password.length"]);
    expect(rules(`a${"\u0334".repeat(127)}`)).toEqual([]);
    expect(rules(`a${"\u0334".repeat(128)}`)).toEqual(["password.length"]);
  });

  test("is refused without sorting its marks, which would take quadratic time", () => {
    const password = "\u0345".repeat(512) + "\u0334".repeat(512);
    // Sorting takes milliseconds each time.
    for (let nth = 0; nth < 3000; nth++) expect(rules(password)).toEqual(["password.length"]);
  }, 5000);
});

describe("a title", () => {
  const rules = (title: string) => refuseTerms({ title }).map(({ rule }) => rule);

  test("has 1 to 200 code points", () => {
    expect(rules("🌸")).toEqual([]);
    expect(rules("🌸".repeat(200))).toEqual([]);
    expect(rules("🌸".repeat(201))).toEqual(["title.length"]);
    expect(rules("")).toEqual(["title.length"]);
  });

  test.each(["\0", "\t", "\n", "\u0085", "\u2028", "\u2029", "\uD83C", "\uFFFF", "\u{1FFFE}"])(
    "may not have %j, and loses it when a file is imported",
    (character) => {
      expect(rules(`a${character}b`)).toEqual(["title.character"]);
      expect(fitText("title", `${character}a${character}b`)).toBe("a b");
      expect(fitText("title", character)).toBeUndefined();
    },
  );
});
