import type { Scanner } from "./scanner.ts";

/** A word is a name without quotes, a number or a keyword; a name stands in quotes; a mark is one other character. */
export interface Token {
  readonly type: "word" | "name" | "text" | "mark" | "end";
  readonly value: string;
}

export interface SqlTokens {
  /** The next token that is no comment. After the last one, an end. */
  next(): Promise<Token>;
  /** The rest of the line, or undefined at the end of the file. */
  line(): Promise<string | undefined>;
}

const SPACE = /[\s\uFEFF]+/y;
const WORD = /[\w$.+\-\u0080-\uFFFF]+/y;
const DOLLARS = /\$[A-Za-z_]*\$/y;
const END: Token = { type: "end", value: "" };
const ESCAPES: Readonly<Record<string, string>> = {
  0: "\0",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  Z: "\u001A",
};

/** Splits a dump of MySQL, MariaDB, PostgreSQL or SQLite. Only MySQL and MariaDB have backslashes in all strings. */
export function readTokens(
  scanner: Scanner,
  dialect: { readonly isMySql: () => boolean; readonly onComment: (comment: string) => void },
): SqlTokens {
  /** The token, and where it ends. Undefined if it is not all there; without a token it is white space or a comment. */
  function scan(isLast: boolean): { readonly token?: Token; readonly end: number } | undefined {
    const { text, at } = scanner;
    const isMySql = dialect.isMySql();
    const sticky = (pattern: RegExp) => {
      pattern.lastIndex = at;
      return pattern.exec(text)?.[0];
    };
    const until = (end: number, token?: (end: number) => Token) =>
      end < 0 ? undefined : { end, ...(token !== undefined && { token: token(end) }) };
    const space = sticky(SPACE);
    if (space !== undefined) return { end: at + space.length };
    const first = text[at];
    const second = text[at + 1];
    if ((first === "-" && second === "-") || (first === "#" && isMySql)) {
      const newline = text.indexOf("\n", at);
      const end = newline < 0 && isLast ? text.length : newline;
      if (end >= 0) dialect.onComment(text.slice(at, end));
      return until(end);
    }
    if (first === "/" && second === "*") return until(after(text, "*/", at + 2));
    if (first === "'" || first === "`" || first === '"') {
      const hasEscapes = isMySql && first !== "`";
      const type = first === "'" || (isMySql && first === '"') ? "text" : "name";
      return until(endOfQuotes(text, at, hasEscapes), (end) => ({
        type,
        value: unquote(text.slice(at + 1, end - 1), first, hasEscapes),
      }));
    }
    if (second === "'" && /[eExX]/.test(first ?? ""))
      return until(endOfQuotes(text, at + 1, true), (end) => {
        const inside = text.slice(at + 2, end - 1);
        const value = /[xX]/.test(first ?? "") ? fromHex(inside) : unquote(inside, "'", true);
        return { type: "text", value };
      });
    const dollars = isMySql ? undefined : sticky(DOLLARS);
    if (dollars !== undefined)
      return until(after(text, dollars, at + dollars.length), (end) => ({
        type: "text",
        value: text.slice(at + dollars.length, end - dollars.length),
      }));
    const word = sticky(WORD);
    if (word !== undefined) {
      // Two dashes begin a comment also inside of what looks like a word.
      const value = word.split("--", 1)[0] ?? word;
      return { end: at + value.length, token: { type: "word", value } };
    }
    return { end: at + 1, token: { type: "mark", value: first ?? "" } };
  }

  return {
    async next() {
      for (let isLast = false; ;) {
        // What ends where the text ends may go on in the next part.
        const scanned = scanner.at < scanner.text.length ? scan(isLast) : undefined;
        const isWhole = scanned !== undefined && (isLast || scanned.end < scanner.text.length);
        if (!isWhole) {
          if (isLast && scanner.at < scanner.text.length)
            throw scanner.wrong("is cut off or broken: a text or comment at its end has no end");
          if (isLast) return END;
          isLast = !(await scanner.more());
          continue;
        }
        scanner.at = scanned.end;
        if (scanned.token !== undefined) return scanned.token;
      }
    },
    async line() {
      for (;;) {
        const { text, at } = scanner;
        const newline = text.indexOf("\n", at);
        if (newline < 0 && (await scanner.more())) continue;
        const end = newline < 0 ? text.length : newline;
        if (at === text.length) return undefined;
        scanner.at = newline < 0 ? end : end + 1;
        return text.slice(at, text[end - 1] === "\r" ? end - 1 : end);
      }
    },
  };
}

function after(text: string, closing: string, from: number): number {
  const found = text.indexOf(closing, from);
  return found < 0 ? -1 : found + closing.length;
}

function endOfQuotes(text: string, from: number, hasEscapes: boolean): number {
  const quote = text[from];
  for (let at = from + 1; at < text.length; at++) {
    const character = text[at];
    if (character === "\\" && hasEscapes) at++;
    else if (character === quote) {
      if (text[at + 1] !== quote) return at + 1;
      at++;
    }
  }
  return -1;
}

function unquote(inside: string, quote: string, hasEscapes: boolean): string {
  if (!hasEscapes) return inside.replaceAll(quote + quote, quote);
  if (!inside.includes("\\") && !inside.includes(quote)) return inside;
  return inside.replaceAll(/\\([\s\S])|(["'])\2/g, (all, escaped?: string, doubled?: string) =>
    escaped === undefined
      ? doubled === quote
        ? quote
        : all
      : (ESCAPES[escaped] ?? (/[%_]/.test(escaped) ? all : escaped)),
  );
}

/** Text that was dumped as bytes. */
export function fromHex(hex: string): string {
  return Buffer.from(hex, "hex").toString("utf8");
}

/** A value of COPY. */
export function unescapeCopied(value: string): string | null {
  if (value === "\\N") return null;
  return value.replaceAll(/\\([\s\S])/g, (_, escaped: string) => ESCAPES[escaped] ?? escaped);
}
