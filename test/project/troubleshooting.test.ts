import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { ROOT } from "../service.ts";

const SOURCE = join(ROOT, "src");
const DOCUMENT = readFileSync(join(ROOT, "docs/troubleshooting.md"), "utf8");

const LITERAL = String.raw`("(?:[^"\\]|\\.)*"|${"`"}(?:[^${"`"}\\]|\\.)*${"`"})`;
/**
 * What writes each kind of message, with its text. The first column of the document's tables has these names. Texts that
 * are not written as literals right there are only looked for the other way round.
 */
const WRITERS = {
  Line: new RegExp(String.raw`\blog\.(info|warn|error)\((?:[^;]*?, )?${LITERAL}\)`, "g"),
  Message: new RegExp(
    String.raw`\b(new (?:StoreUnusable|StoreMisconfigured|CannotListen|ConfigError)|mistakes\.push)\(${LITERAL}`,
    "g",
  ),
  Reason: new RegExp(
    String.raw`\b(new (?:StoreUnavailable|StoreMisplaced|StoreMisconfigured|StoreBusy|Unanswered))\(${LITERAL}`,
    "g",
  ),
} as const;
type Kind = keyof typeof WRITERS;
const KINDS = ["Line", "Message", "Reason"] as const;

/** All sources as Bun compiles them: without comments and types, and with strings that are added joined. "…" is computed. */
const CODE = [...new Bun.Glob("**/*.{ts,tsx}").scanSync(SOURCE)]
  .filter((file) => !file.endsWith(".d.ts"))
  .map((file) => {
    const text = readFileSync(join(SOURCE, file), "utf8").replaceAll(' with { type: "macro" }', "");
    const loader = file.endsWith("x") ? "tsx" : "ts";
    return new Bun.Transpiler({ loader, target: "bun" }).transformSync(text);
  })
  .join("\n")
  .replace(/\s+/g, " ")
  .replaceAll("( ", "(")
  .replace(/\$\{[^{}]*\}/g, "…")
  .replace(/\$\{[^{}]*\}/g, "…");

function messagesOf(kind: Kind) {
  const found = [...CODE.matchAll(WRITERS[kind])].map(([, level = "", literal = ""]) => ({
    level,
    text: literal.slice(1, -1).replaceAll(/\\(.)/g, "$1").replace(/…+/g, "…"),
  }));
  // Without words of its own, a text would be about every row, and one that begins with a comma goes on from another.
  return found.filter(({ text }) => text.replace(/[^a-z]/gi, "").length >= 7 && !text.startsWith("…, "));
}

/** The rows of all tables whose first column has this name. */
function rowsOf(kind: Kind) {
  const tables = DOCUMENT.split("\n\n").filter((block) => block.startsWith(`| ${kind} `));
  return tables.flatMap((table) =>
    table
      .trim()
      .split("\n")
      .slice(2)
      .map((line) => {
        const cells = line
          .slice(1, -1)
          .split("|")
          .map((cell) => cell.trim());
        return { pattern: (cells[0] ?? "").replaceAll("`", ""), cells };
      }),
  );
}

/** In both, "…" stands for any text, and what the sources compute may be told in the document. */
function isAbout(pattern: string, text: string): boolean {
  return matches(pattern, text) || matches(text, pattern);
}

function matches(pattern: string, text: string): boolean {
  return new RegExp(`^${pattern.split("…").map(RegExp.escape).join(".+")}$`).test(text);
}

test.each(KINDS)(
  "docs/troubleshooting.md explains every message of the sources, and no other: %s",
  (kind) => {
    const messages = messagesOf(kind);
    const rows = rowsOf(kind);
    expect(Math.min(messages.length, rows.length)).toBeGreaterThan(15);
    const unexplained = messages.filter(({ text }) => !rows.some(({ pattern }) => isAbout(pattern, text)));
    expect(unexplained).toEqual([]);
    for (const { pattern, cells } of rows) {
      const isWritten =
        messages.some(({ text }) => isAbout(pattern, text)) ||
        pattern.split("…").every((part) => CODE.includes(part));
      expect([pattern, isWritten]).toEqual([pattern, true]);
      expect([pattern, cells.at(-1)]).not.toEqual([pattern, ""]);
    }
  },
);

test("docs/troubleshooting.md gives each line of the log its levels", () => {
  const messages = messagesOf("Line");
  for (const { pattern, cells } of rowsOf("Line")) {
    const levels = messages.filter(({ text }) => isAbout(pattern, text)).map(({ level }) => level);
    if (levels.length > 0)
      expect([pattern, cells[1]]).toEqual([pattern, [...new Set(levels)].toSorted().join(", ")]);
  }
});
