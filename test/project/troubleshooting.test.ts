import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { ROOT } from "../support/service.ts";

const SOURCE = join(ROOT, "src");
const DOCUMENT = readFileSync(join(ROOT, "docs/troubleshooting.md"), "utf8");

const LITERAL = String.raw`("(?:[^"\\]|\\.)*"|${"`"}(?:[^${"`"}\\]|\\.)*${"`"})`;
/**
 * The calls that write each kind of message, with its text. A text that isn't a literal there is only searched for in the other
 * direction.
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
const SECTIONS: Readonly<Record<Kind, string>> = {
  Line: "What the log says",
  Message: "Curt does not start",
  Reason: "Why the store does not answer",
};
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
  // Without words of its own, a text would match every row. One that starts with a comma continues another.
  return found.filter(({ text }) => text.replace(/[^a-z]/gi, "").length >= 7 && !text.startsWith("…, "));
}

/** A second sentence says what to do, and so does the rule of a setting. Info is only for people who wonder. */
function needsAdvice({ level, text }: { readonly level: string; readonly text: string }): boolean {
  return level !== "info" && level !== "mistakes.push" && !/\S\. [A-Z]/.test(text);
}

/** The list items of a section: messages, separated by semicolons, and what to do about them. */
function entriesOf(kind: Kind) {
  const [, section = ""] = DOCUMENT.split(`\n## ${SECTIONS[kind]}\n`);
  const [entries = ""] = section.split("\n## ");
  return entries.split("\n### ").flatMap((part) => {
    const [heading = ""] = part.split("\n", 1);
    const items = part.split(/^- /m).slice(1);
    return items.flatMap((item) => {
      const [, messages = "", advice = ""] =
        /^((?:`[^`]+`(?:; )?)+): (.*)$/.exec(item.trim().replace(/\s+/g, " ")) ?? [];
      expect([item, messages]).not.toEqual([item, ""]);
      return [...messages.matchAll(/`([^`]+)`/g)].map(([, pattern = ""]) => ({ pattern, heading, advice }));
    });
  });
}

/** In both, "…" stands for any text, and the document may spell out what the sources compute. */
function isAbout(pattern: string, text: string): boolean {
  return matches(pattern, text) || matches(text, pattern);
}

function matches(pattern: string, text: string): boolean {
  return new RegExp(`^${pattern.split("…").map(RegExp.escape).join(".+")}$`).test(text);
}

test.each(KINDS)(
  "docs/troubleshooting.md has an entry for each literal message of the sources without advice, and none that doesn't exist: %s",
  (kind) => {
    const messages = messagesOf(kind);
    const entries = entriesOf(kind);
    expect(Math.min(messages.length, entries.length)).toBeGreaterThan(15);
    const unexplained = messages
      .filter(needsAdvice)
      .filter(({ text }) => !entries.some(({ pattern }) => isAbout(pattern, text)));
    expect(unexplained).toEqual([]);
    for (const { pattern, advice } of entries) {
      const isWritten =
        messages.some(({ text }) => isAbout(pattern, text)) ||
        pattern.split("…").every((part) => CODE.includes(part));
      expect([pattern, isWritten]).toEqual([pattern, true]);
      expect([pattern, advice]).not.toEqual([pattern, ""]);
    }
  },
);

test("docs/troubleshooting.md lists each log line whose text is a literal under its levels", () => {
  const messages = messagesOf("Line");
  for (const { pattern, heading } of entriesOf("Line")) {
    const levels = messages.filter(({ text }) => isAbout(pattern, text)).map(({ level }) => level);
    if (levels.length > 0)
      expect([pattern, heading]).toEqual([pattern, [...new Set(levels)].toSorted().join(", ")]);
  }
});
