import { type Input, UnreadableSource } from "../source.ts";

/** More than any row of a shortener needs. Also the bound of the memory that reading takes. */
const MAX_LENGTH = 4 * 1024 * 1024;

/** Of those by which files of other kinds are known, such as "SQLite format 3". */
const LONGEST_MARK = 15;

/** Text that is read bit by bit. Whoever reads it moves `at`, and asks for more if `text` ends too early. */
export interface Scanner {
  text: string;
  at: number;
  /** Drops what comes before `at` and appends what follows. Resolves with false at the end of the file. */
  more(): Promise<boolean>;
  /** What is wrong with the file, and what would be right. */
  wrong(what: string): UnreadableSource;
}

/** Opens a file of UTF-8. What is no UTF-8 becomes U+FFFD. `expected` is a sentence that says what to export, and how. */
export async function openScanner(input: Pick<Input, "bytes">, expected: string): Promise<Scanner> {
  const chunks = input.bytes()[Symbol.asyncIterator]();
  const decoder = new TextDecoder();
  let isOver = false;
  const scanner: Scanner = {
    text: "",
    at: 0,
    async more() {
      if (isOver) return false;
      const { done, value } = await chunks.next();
      isOver = done === true;
      const text = isOver ? decoder.decode() : decoder.decode(value as Uint8Array, { stream: true });
      scanner.text = scanner.text.slice(scanner.at) + text;
      scanner.at = 0;
      if (scanner.text.length > MAX_LENGTH)
        throw scanner.wrong("has a row of more than 4 million characters");
      return !isOver || text !== "";
    },
    wrong: (what) => new UnreadableSource(`${what}. ${expected}`),
  };
  while (scanner.text.trimStart().length < LONGEST_MARK && (await scanner.more()));
  if (scanner.text.startsWith("PGDMP"))
    throw scanner.wrong("is in a binary format of pg_dump. Use its plain one");
  if (scanner.text.startsWith("SQLite format 3")) throw scanner.wrong("is an SQLite database");
  if (/^(?:\uFFFD\uFFFD|.?\0)/.test(scanner.text)) throw scanner.wrong("is no UTF-8");
  return scanner;
}

export function isJson({ text }: Scanner): boolean {
  return /^\s*[[{]/.test(text);
}
