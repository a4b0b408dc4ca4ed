import { describe, expect, test } from "bun:test";

import { refuseTerms } from "../../src/links/term-values.ts";

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
