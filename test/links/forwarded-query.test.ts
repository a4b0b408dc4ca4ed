import { describe, expect, test } from "bun:test";

import * as fc from "fast-check";

import type { Target } from "../../src/links/target.ts";
import { destinationOf } from "../../src/redirect/forwarded-query.ts";

const forward = (target: string, query: string) =>
  destinationOf({ target: target as Target, terms: { forwardQuery: true } }, query);

const SHOP = "https://shop.example/";
const MAX = 16_384;

describe("a visitor's query", () => {
  test.each([
    ["is appended to the destination", SHOP, "?utm_source=mail", `${SHOP}?utm_source=mail`],
    ["follows the destination's own query", `${SHOP}?a=1`, "?b=2", `${SHOP}?a=1&b=2`],
    ["fills an empty query", `${SHOP}?`, "?b=2", `${SHOP}?b=2`],
    ["stands before the fragment", `${SHOP}p?a=1#part?x&y#z`, "?b=2", `${SHOP}p?a=1&b=2#part?x&y#z`],
    [
      "stands before the fragment of a destination without a query",
      `${SHOP}#?a=1`,
      "?a=2",
      `${SHOP}?a=2#?a=1`,
    ],
    ["keeps repeated names and their order", SHOP, "?b=2&a=1&b=1&b=2", `${SHOP}?b=2&a=1&b=1&b=2`],
    [
      "keeps its bytes",
      SHOP,
      "?a=%7e+%c3%A4&&b=[]|`{}&%zz&c==&?",
      `${SHOP}?a=%7e+%c3%A4&&b=[]|\`{}&%zz&c==&?`,
    ],
    ["loses names that the destination has", `${SHOP}?b=1&c`, "?a=2&b=2&c=2&b&d=2", `${SHOP}?b=1&c&a=2&d=2`],
    [
      "loses names that the destination has in another spelling",
      `${SHOP}?%61+b=1&%C3%A4`,
      "?a%20b=2&%c3%a4=2&z",
      `${SHOP}?%61+b=1&%C3%A4&z`,
    ],
    [
      "keeps a name that only looks equal",
      `${SHOP}?a%26b=1&c`,
      "?a=2&a%2526b=2&C=2",
      `${SHOP}?a%26b=1&c&a=2&a%2526b=2&C=2`,
    ],
    ["keeps a parameter without a name", `${SHOP}?a=1&`, "?=2", `${SHOP}?a=1&&=2`],
    [
      "loses the language parameter of Curt's own pages",
      SHOP,
      "?language=ko&utm=1&l%61nguage=x&Language=2",
      `${SHOP}?utm=1&Language=2`,
    ],
    ["adds nothing if no parameter remains", `${SHOP}?a=1#x`, "?a=2&&language=ko&", `${SHOP}?a=1#x`],
    ["adds nothing if it is empty", SHOP, "?", SHOP],
    [
      "is percent-encoded beyond ASCII",
      SHOP,
      "?ä=\u{1F44D}&b=\uD800 c",
      `${SHOP}?%C3%A4=%F0%9F%91%8D&b=%EF%BF%BD%20c`,
    ],
    ["is percent-encoded like the query of any URL", SHOP, "?a=\"<>'", `${SHOP}?a=%22%3C%3E%27`],
    ["is compared after percent-encoding", `${SHOP}?%C3%A4=1`, "?ä=2&b", `${SHOP}?%C3%A4=1&b`],
  ])("%s", (_, target, query, destination) => {
    expect(forward(target, query)).toBe(destination);
  });

  test("is left out if the destination would have more than 16,384 characters", () => {
    for (const [target, before] of [
      [SHOP, `${SHOP}?`],
      [`${SHOP}?a=1#end`, `${SHOP}?a=1&`],
    ] as const) {
      const most = MAX - before.length - (target.endsWith("#end") ? 4 : 0);
      expect(forward(target, `?${"x".repeat(most)}`)).toHaveLength(MAX);
      expect(forward(target, `?${"x".repeat(most + 1)}`)).toBe(target);
    }
    expect(forward(SHOP, `?${"ä".repeat(MAX / 6)}`)).toBe(SHOP);
  });

  test("isn't passed on by other links", () => {
    for (const terms of [undefined, {}, { maxVisits: 1 }])
      expect(destinationOf({ target: SHOP as Target, terms }, "?a=1")).toBe(SHOP);
  });
});

const piece = fc.oneof(
  fc.constantFrom(..."a b %61 %41 + %20 %2B %26 %3D %25 % %z = & # / : @ //".split(" "), "\\"),
  fc.constantFrom(
    ..."https://evil.example @evil.example language .. ? ä".split(" "),
    "\t",
    "\r\n",
    "\u0000",
    "\uD800",
  ),
  fc.string({ unit: "binary", maxLength: 5 }),
);
const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));
const target = fc
  .record({
    origin: fc.constantFrom(
      "https://shop.example",
      "http://shop.example:8080",
      "https://[2001:db8::1]",
      "https://xn--fa-hia.de",
    ),
    path: text,
    query: fc.option(text),
    fragment: fc.option(text),
  })
  .map(({ origin, path, query, fragment }) => {
    const url = new URL(origin);
    url.pathname = path;
    if (query !== null) url.search = `?${query}`;
    if (fragment !== null) url.hash = `#${fragment}`;
    return url.href;
  });

describe("any visitor's query", () => {
  test("changes nothing of the destination but its query", () => {
    fc.assert(
      fc.property(target, text, (to, query) => {
        const [before, after] = [new URL(to), new URL(forward(to, `?${query.replaceAll("#", "")}`))];
        for (const part of ["protocol", "username", "password", "host", "port", "pathname", "hash"] as const)
          expect(after[part]).toBe(before[part]);
        expect(after.search.startsWith(before.search)).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });

  test("results in a destination of printable ASCII", () => {
    fc.assert(
      fc.property(target, text, (to, query) => {
        expect(forward(to, `?${query}`)).toMatch(/^[\x21-\x7E]*$/);
      }),
    );
  });

  test("adds its parameters behind those of the destination, except for equal names", () => {
    const word = fc.string({
      unit: fc.constantFrom("a", "b", "&", "=", "+", "ä", " ", "%", "/"),
      maxLength: 4,
    });
    const parameters = fc.array(fc.tuple(word, word), { maxLength: 6 });
    fc.assert(
      fc.property(parameters, parameters, (own, visitors) => {
        const [ownQuery, visitorsQuery] = [own, visitors].map((pairs) =>
          new URLSearchParams(pairs).toString(),
        );
        const names = new Set(own.map(([name]) => name));
        const expected = [...own, ...visitors.filter(([name]) => !names.has(name))];
        const result = new URL(forward(new URL(`${SHOP}?${ownQuery}`).href, `?${visitorsQuery}`));
        expect([...result.searchParams]).toEqual(expected);
      }),
      { numRuns: 2000 },
    );
  });
});
