import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { ROOT } from "../service.ts";

const SOURCE = join(ROOT, "src");
const DOCUMENT = readFileSync(join(ROOT, "docs/troubleshooting.md"), "utf8");

/** What writes each kind of message, up to its arguments. The document's tables for them have these first columns. */
const WRITERS = {
  Line: /\blog\.(info|warn|error)\(/g,
  Message: /\b(?:new (?:StoreUnusable|StoreMisconfigured|CannotListen|ConfigError)|mistakes\.push)\(/g,
  Reason: /\bnew (?:StoreUnavailable|StoreMisplaced|StoreMisconfigured|StoreBusy|Unanswered)\(/g,
} as const;
type Kind = keyof typeof WRITERS;

/** Messages that are made elsewhere, by the expression that hands them over. */
const MADE_ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  event: ["uncaughtException", "unhandledRejection"],
  "metrics.about": ["metrics for Prometheus are at …"],
  "listensOn(config, port)": ["Curt … listens on … and makes links at …"],
  "explain(path, error)": [
    "… is locked by another program. Stop it, or wait until it is done.",
    "… is damaged (…). Restore a backup.",
    "… …: …. Check DATABASE_URL, the folder's permissions and the free space.",
  ],
};
/** Messages of SQLite, the system or another thread. */
const FORWARDED = [
  "mistakes",
  "...conflicts(values)",
  "...unreadable(values)",
  "...httpsConflicts({ ...values, port, baseUrl })",
  "message",
  "error.message",
  "cause instanceof Error ? cause.message : String(cause)",
];

interface Message {
  readonly file: string;
  readonly level: string;
  readonly text: string;
}

/** The end of the string or template that begins here. */
function literalEnd(code: string, start: number): number {
  const quote = code[start];
  for (let at = start + 1; at < code.length; at++) {
    if (code[at] === "\\") at++;
    else if (code[at] === quote) return at + 1;
    else if (quote === "`" && code.startsWith("${", at)) at = closing(code, at + 2);
  }
  throw new Error(`A literal does not end: ${code.slice(start, start + 80)}`);
}

/** Where the bracket is closed that was opened before `start`. */
function closing(code: string, start: number): number {
  let depth = 0;
  for (let at = start; at < code.length; at++) {
    const char = code[at] ?? "";
    if (/["'`]/.test(char)) at = literalEnd(code, at) - 1;
    else if ("([{".includes(char)) depth++;
    else if (")]}".includes(char) && depth-- === 0) return at;
  }
  throw new Error(`A bracket is not closed: ${code.slice(start, start + 80)}`);
}

/** The literals that are not within another one, with "…" for what is computed. */
function literals(code: string): string[] {
  const found: string[] = [];
  for (let at = 0; at < code.length; at++) {
    if (!/["'`]/.test(code[at] ?? "")) continue;
    const end = literalEnd(code, at);
    found.push(plain(code.slice(at, end)));
    at = end - 1;
  }
  return found;
}

function plain(literal: string): string {
  let text = "";
  for (let at = 1; at < literal.length - 1; at++) {
    if (literal[0] === "`" && literal.startsWith("${", at)) {
      at = closing(literal, at + 2);
      text += "…";
    } else if (literal[at] === "\\") text += literal[++at];
    else text += literal[at];
  }
  return text.replace(/…+/g, "…");
}

/** Bun takes away comments and types, and joins strings that are added. */
function codeOf(file: string): string {
  const text = readFileSync(join(SOURCE, file), "utf8").replaceAll(' with { type: "macro" }', "");
  return new Bun.Transpiler({ loader: file.endsWith("x") ? "tsx" : "ts", target: "bun" }).transformSync(text);
}

function messagesOf(kind: Kind): Message[] {
  const files = [...new Bun.Glob("**/*.{ts,tsx}").scanSync(SOURCE)].filter((file) => !file.endsWith(".d.ts"));
  return files.flatMap((file) => {
    const code = codeOf(file);
    return [...code.matchAll(WRITERS[kind])].flatMap(({ 0: call, 1: level = "", index }) => {
      const start = index + call.length;
      const given = code.slice(start, closing(code, start)).trim();
      const texts = textsIn(kind, given);
      if (texts === undefined)
        throw new Error(`${file} writes a message that this test cannot read: ${given}`);
      return texts.map((text) => ({ file, level, text }));
    });
  });
}

/** The message is the last argument of a log line, the first of an error. Undefined if it is unknown. */
function textsIn(kind: Kind, given: string): readonly string[] | undefined {
  if (FORWARDED.includes(given.split(", {")[0] ?? "")) return [];
  const elsewhere = Object.keys(MADE_ELSEWHERE).find((made) =>
    kind === "Line"
      ? given === made || given.endsWith(`, ${made}`) || given.includes(`\${${made}}`)
      : given.startsWith(made),
  );
  if (elsewhere !== undefined) return MADE_ELSEWHERE[elsewhere];
  const found = literals(given);
  const text = kind === "Line" ? found.at(-1) : found.toSorted((a, b) => b.length - a.length)[0];
  // A message without words of its own would be about every row.
  return text === undefined || text.replace(/[^a-z]/gi, "").length < 7 ? undefined : [text];
}

interface Row {
  readonly pattern: string;
  readonly cells: readonly string[];
}

/** The rows of all tables whose first column has this name. */
function rowsOf(kind: Kind): Row[] {
  const rows: Row[] = [];
  let isInside = false;
  for (const line of DOCUMENT.split("\n")) {
    const [, ...cells] = line.split("|").map((cell) => cell.trim());
    if (cells[0] === kind) isInside = true;
    else if (!line.startsWith("|")) isInside = false;
    else if (isInside && !/^:?-+$/.test(cells[0] ?? ""))
      rows.push({ pattern: (cells[0] ?? "").replaceAll("`", ""), cells });
  }
  return rows;
}

/** In both, "…" stands for any text, and what the sources compute may be told in the document. */
function isAbout(pattern: string, text: string): boolean {
  return matches(pattern, text) || matches(text, pattern);
}

function matches(pattern: string, text: string): boolean {
  return new RegExp(
    `^${pattern
      .split("…")
      .map((part) => RegExp.escape(part))
      .join(".+")}$`,
  ).test(text);
}

test.each(["Line", "Message", "Reason"] as const)(
  "docs/troubleshooting.md explains every message of the sources, and no other: %s",
  (kind) => {
    const messages = messagesOf(kind);
    const rows = rowsOf(kind);
    expect(messages.length).toBeGreaterThan(15);
    const unexplained = messages.filter(({ text }) => !rows.some(({ pattern }) => isAbout(pattern, text)));
    expect(unexplained).toEqual([]);
    const unwritten = rows.filter(({ pattern }) => !messages.some(({ text }) => isAbout(pattern, text)));
    expect(unwritten.map(({ pattern }) => pattern)).toEqual([]);
    for (const { pattern, cells } of rows) expect([pattern, cells.at(-2)]).not.toEqual([pattern, ""]);
  },
);

test("docs/troubleshooting.md gives each line of the log its levels", () => {
  const messages = messagesOf("Line");
  for (const { pattern, cells } of rowsOf("Line")) {
    const levels = messages.filter(({ text }) => isAbout(pattern, text)).map(({ level }) => level);
    expect([pattern, cells[1]]).toEqual([pattern, [...new Set(levels)].toSorted().join(", ")]);
  }
});

test("messages that are made elsewhere are in the sources", () => {
  const files = [...new Bun.Glob("**/*.ts").scanSync(SOURCE)].filter((file) => !file.endsWith(".d.ts"));
  const all = files.map(codeOf).join("\n");
  for (const part of Object.values(MADE_ELSEWHERE)
    .flat()
    .flatMap((text) => text.split("…")))
    expect([part, all.includes(part)]).toEqual([part, true]);
});
