import { describe, expect, test } from "bun:test";

import { plain } from "../../src/mcp/answers.ts";

describe("plain()", () => {
  test("escapes invisible characters, and keeps every language and emoji", () => {
    const visible = "한글 é नमस्ते نامه‌ای 👩‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿 #️⃣ https://example.com/?a=1#b";
    expect(plain(visible, 200)).toBe(visible);
    const hidden: [string, string][] = [
      ["a\u{E0049}\u{E0067}b", "a%F3%A0%81%89%F3%A0%81%A7b"],
      ["a\u202Eb", "a%E2%80%AEb"],
      ["a\u001B[2Jb\n", "a%1B[2Jb%0A"],
      ["a\u200Bb\u2028", "a%E2%80%8Bb%E2%80%A8"],
      ["a\uD800b", "a\uFFFDb"],
    ];
    for (const [written, shown] of hidden) expect(plain(written, 200)).toBe(shown);
  });

  test("cuts text that is too long", () => {
    expect(plain("x".repeat(10), 10)).toBe("x".repeat(10));
    expect(plain("x".repeat(11), 10)).toBe(`${"x".repeat(10)}…`);
    expect(plain("\u202E".repeat(10), 10)).toBe("%E2%80%AE%…");
  });
});
