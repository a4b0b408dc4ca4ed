import { describe, expect, test } from "bun:test";

import { readShortAddress } from "../../src/links/short-address.ts";

describe("readShortAddress", () => {
  test("reads a code, or a short address in any spelling", () => {
    const right: [string, string, string?][] = [
      ["한글", "한글"],
      [" 7xKq ", "7xKq"],
      ["7xKq+", "7xKq"],
      ["#️⃣", "#️⃣"],
      ["https://go.example/한글/", "한글", "https://go.example"],
      ["go.example/%ED%95%9C%EA%B8%80", "한글", "https://go.example"],
      ["HTTP://GO.example:80/a?q=/x#f", "a", "http://go.example"],
      ["http://localhost:3000/a+", "a", "http://localhost:3000"],
      ["https://go.example/a+report", "a", "https://go.example"],
      ["https://go.example/a+qr", "a", "https://go.example"],
      ["https://go.example/a.svg?size=64", "a", "https://go.example"],
      ["https://go.example/%23%EF%B8%8F%E2%83%A3", "#️⃣", "https://go.example"],
      ["https://숏.한국/a", "a", "https://xn--0p4b.xn--3e0b707e"],
      ["https://go.example@evil.example/a", "a", "https://evil.example"],
    ];
    for (const [input, code, origin] of right)
      expect(readShortAddress(input), input).toEqual({ code, origin });
  });

  test("refuses everything else", () => {
    const wrong = [
      ...`go.example https://go.example/ https://go.example/a/b https://go.example/api/v1/links
        https://go.example/..%2Fadmin https://go.example/%ff https:// ftp://go.example/a a.b /`.split(/\s+/),
      "",
      " ",
    ];
    for (const input of wrong) expect(readShortAddress(input), input).toEqual(undefined);
  });
});
