import { describe, expect, test } from "bun:test";

import { plain } from "../../src/mcp/answers.ts";
import { readShortAddress } from "../../src/mcp/tools.ts";

describe("what a model may give for a link", () => {
  test("is a code, or a short address in any spelling", () => {
    const right: [string, string, string?][] = [
      ["한글", "한글"],
      [" 7xKq ", "7xKq"],
      ["7xKq+", "7xKq"],
      ["#️⃣", "#️⃣"],
      ["https://go.example/한글/", "한글", "go.example"],
      ["go.example/%ED%95%9C%EA%B8%80", "한글", "go.example"],
      ["HTTP://GO.example:80/a?q=/x#f", "a", "go.example"],
      ["http://localhost:3000/a+", "a", "localhost:3000"],
      ["https://go.example/a+report", "a", "go.example"],
      ["https://go.example/a+qr", "a", "go.example"],
      ["https://go.example/a.svg?size=64", "a", "go.example"],
      ["https://go.example/%23%EF%B8%8F%E2%83%A3", "#️⃣", "go.example"],
      ["https://숏.한국/a", "a", "xn--0p4b.xn--3e0b707e"],
      ["https://go.example@evil.example/a", "a", "evil.example"],
    ];
    for (const [written, code, host] of right)
      expect(readShortAddress(written), written).toEqual({ code, host });
  });

  test("is nothing else", () => {
    const wrong = [
      "",
      " ",
      "go.example",
      "https://go.example/",
      "https://go.example/a/b",
      "https://go.example/api/v1/links",
      "https://go.example/..%2Fadmin",
      "https://go.example/%ff",
      "https://",
      "ftp://go.example/a",
      "a.b",
      "/",
    ];
    for (const written of wrong) expect(readShortAddress(written), written).toEqual(undefined);
  });
});

describe("plain text", () => {
  test("shows what nobody would see, and keeps every language and emoji", () => {
    const kept = "한글 é नमस्ते نامه‌ای 👩‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿 #️⃣ https://example.com/?a=1#b";
    expect(plain(kept, 200)).toBe(kept);
    const hidden: [string, string][] = [
      ["a\u{E0049}\u{E0067}b", "a%F3%A0%81%89%F3%A0%81%A7b"],
      ["a\u202Eb", "a%E2%80%AEb"],
      ["a\u001B[2Jb\n", "a%1B[2Jb%0A"],
      ["a\u200Bb\u2028", "a%E2%80%8Bb%E2%80%A8"],
      ["a\uD800b", "a\uFFFDb"],
    ];
    for (const [written, shown] of hidden) expect(plain(written, 200)).toBe(shown);
  });

  test("is cut where it is too long", () => {
    expect(plain("x".repeat(10), 10)).toBe("x".repeat(10));
    expect(plain("x".repeat(11), 10)).toBe(`${"x".repeat(10)}…`);
    expect(plain("\u202E".repeat(10), 10)).toBe("%E2%80%AE%…");
  });
});
