import { describe, expect, test } from "bun:test";

import { readBeacon } from "../../src/transfer/beacon.ts";
import { createAddresses } from "../../src/transfer/csv.ts";
import { expectImported, expectRefused } from "./import-checks.ts";

describe("curt import of a BEACON file", () => {
  test("reads patterns, annotations, comments, CRLF and a byte order mark", () =>
    expectImported(
      "\uFEFF#FORMAT: BEACON\r\n#prefix: https://go.example/{ID}\r\n#TARGET: https://example.com/{+ID}?{ID}\r\n\r\n" +
        "# a comment\r\nabc|a note|x/y\r\n한글|| z \r\nsame\r\n",
      {
        links: {
          abc: { location: "https://example.com/x/y?x%2Fy" },
          한글: { location: "https://example.com/z?z" },
          same: { location: "https://example.com/same?same" },
        },
      },
    ));

  test("reads the dumps of URLTeam, whose addresses may have vertical bars", () =>
    expectImported(
      "#FORMAT: BEACON\n#PREFIX: http://go.example/\n#HOMEPAGE: http://urlte.am/\n\nabc|https://example.com/?a|b\nABC|https://example.com/?a|b|c\nabc|https://example.com/later\n",
      {
        links: {
          abc: { location: "https://example.com/?a|b" },
          ABC: { location: "https://example.com/?a|b|c" },
        },
        skipped: { "another link earlier in the file has the same code": ["line 7: abc"] },
      },
    ));

  test("leaves out links of other hosts, and those that a CSV file may not have", () =>
    expectImported(
      "#FORMAT: BEACON\n\nhttps://go.example/a|x|https://example.com/a\nhttps://other.example/b||https://example.com/b\n" +
        "https://go.example/||https://example.com/\nhttps://go.example/c||javascript:alert(1)\nhttps://go.example/api||https://example.com/\n",
      {
        links: { a: { location: "https://example.com/a" } },
        skipped: {
          "it is of another host than go.example (choose one with --domain)": [
            "line 4: https://other.example/b",
          ],
          "code: it is missing": ["line 5"],
          "URL: It must start with http:// or https://.": ["line 6: c"],
          'code: "api" is reserved for this service. Please choose another.': ["line 7: api"],
        },
      },
    ));

  test("keeps only as much of an endless pattern as shows that its links are refused", async () => {
    const long = "x".repeat(100_000);
    const pattern = (name: string) => `#${name}: https://example.com/${long}{ID}\n`;
    const dump = `#FORMAT: BEACON\n${pattern("PREFIX")}a||https://example.com/\n#PREFIX:{ID}\n${pattern("TARGET")}b\n`;
    const input = {
      firstLine: async () => "",
      async *bytes() {
        yield Buffer.from(dump);
      },
    };
    const items = await Array.fromAsync(
      readBeacon(input, { addresses: createAddresses(), keyPrefixes: [], onBroken: () => {} }),
    );
    expect(items.map((item) => JSON.stringify(item).length < 20_000)).toEqual([true, true]);
    await expectImported(`${dump}#TARGET:{+ID}\nc||https://example.com/\n`, {
      links: { c: { location: "https://example.com/" } },
      skipped: {
        "code: At most 64 characters are allowed.": [`line 3: ${"x".repeat(192)}…`],
        "URL: It may have at most 8,192 characters, even after percent-encoding.": ["line 6: b"],
      },
    });
  });

  for (const [what, text, why, line = 4] of [
    ["more than three fields", "a|b|c|d", "it has more than three fields"],
    [
      "bytes that aren't UTF-8",
      Buffer.from("a||https://example.com/\xFF", "latin1"),
      "it is too long, or no UTF-8",
    ],
    ["an endless line", `a||https://example.com/${"x".repeat(1024 * 1024)}`, "it is too long, or no UTF-8"],
    [
      "an address that a pattern makes endless",
      `#TARGET: https://example.com/${"{ID}".repeat(2000)}\nlong||${"x".repeat(1000)}`,
      "its address is too long",
      5,
    ],
    [
      "an address that can't be decoded",
      "https://go.example/%FF||https://example.com/",
      "its short address can't be read",
    ],
  ] as const)
    test(`stops at ${what}`, () =>
      expectRefused(
        Buffer.concat([Buffer.from("#FORMAT: BEACON\n\nfirst||https://example.com/\n"), Buffer.from(text)]),
        `is broken at line ${line}: ${why}`,
      ));
});
