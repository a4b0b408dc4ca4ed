import type { Scanner } from "./scanner.ts";

/** Deeper is no answer of a shortener. */
const MAX_DEPTH = 100;

export interface FoundObject {
  /** Of the list that it is in, such as "shortUrls.data" or "" for a list that stands alone; or else its own name. */
  readonly name: string;
  /** Such as "object 12" of those in lists. */
  readonly place: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/**
 * Reads the objects in the lists with these names, and single objects with one of the other names. The file is JSON, or
 * several pages of it one after the other. Only one object at a time is in memory.
 */
export async function* readObjects(
  scanner: Scanner,
  lists: readonly string[],
  others: readonly string[] = [],
): AsyncGenerator<FoundObject> {
  /** The names that lead to where we are; undefined inside a list. */
  const names: (string | undefined)[] = [];
  let found = 0;
  let hasList = false;
  let name: string | undefined;
  for (;;) {
    const { text, at } = scanner;
    const end = endOfToken(text, at);
    if (end < 0) {
      if (await scanner.more()) continue;
      if (text.slice(at).trim() === "") break;
      throw scanner.wrong(`is cut off or broken after object ${found}`);
    }
    const first = text[at];
    const list = listOf(names);
    const isInList = list !== undefined && lists.includes(list);
    const path = list ?? names.join(".");
    hasList ||= isInList;
    if (first === "{" && (isInList || others.includes(path))) {
      const close = endOfObject(text, at);
      if (close < 0) {
        if (await scanner.more()) continue;
        throw scanner.wrong(`is cut off in object ${found + 1}`);
      }
      if (isInList) found++;
      yield { name: path, place: `object ${found}`, value: parse(text.slice(at, close), found, scanner) };
      scanner.at = close;
      continue;
    }
    if (first === '"') name = text.slice(at + 1, end - 1);
    else if (first === ":") names[names.length - 1] = name;
    else if (first === "{") names.push("");
    else if (first === "[") names.push(undefined);
    else if (first === "}" || first === "]") {
      const open = names.pop();
      if ((first === "]") !== (open === undefined)) throw scanner.wrong(`is no JSON after object ${found}`);
    }
    if (names.length > MAX_DEPTH) throw scanner.wrong(`is no JSON after object ${found}`);
    scanner.at = end;
  }
  if (names.length > 0) throw scanner.wrong(`is cut off after object ${found}`);
  if (!hasList) throw scanner.wrong(`has no list ${lists.filter((list) => list !== "").join(" or ")}`.trim());
}

/** Undefined if we are not directly inside a list. */
function listOf(names: readonly (string | undefined)[]): string | undefined {
  const isList = names.length > 0 && names.at(-1) === undefined;
  const outer = names.slice(0, -1);
  return isList && outer.length <= 3 && outer.every((name) => name !== undefined)
    ? outer.join(".")
    : undefined;
}

function parse(text: string, nth: number, scanner: Scanner): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch {
    throw scanner.wrong(`is no JSON at object ${nth}`);
  }
}

/** After white space, or a string, or a word, or one character; -1 if more must be read. */
function endOfToken(text: string, at: number): number {
  if (at >= text.length) return -1;
  if (text[at] === '"') return endOfString(text, at);
  if ("{}[]:,".includes(text[at] ?? "")) return at + 1;
  let end = at + 1;
  while (end < text.length && !'"{}[]:,'.includes(text[end] ?? "")) end++;
  return end;
}

function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at + 1;
  }
  return -1;
}

function endOfObject(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length;) {
    const character = text[at];
    if (character === '"') {
      at = endOfString(text, at);
      if (at < 0) return -1;
      continue;
    }
    if (character === "{") depth++;
    else if (character === "}") depth--;
    at++;
    if (depth === 0) return at;
  }
  return -1;
}
