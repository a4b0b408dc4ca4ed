import { pino } from "pino";

import { wrap } from "./wrap.ts";

type Level = "debug" | "info" | "warn" | "error";

/** Writes a line: its text, after the fields of the line if it has any. An error is in the field `err`. */
interface WriteLine {
  (text: string): void;
  (fields: object, text: string): void;
}

/** Takes the warnings of a start, for its log or for curt check. */
export interface WarningLog {
  warn(fields: object, text: string): void;
}

/** Never waits: it drops lines that nobody reads. */
export interface Log extends Readonly<Record<Level, WriteLine>> {
  isLevelEnabled(level: Level): boolean;
}

/** In bytes. Beyond this, lines are dropped. */
const MAX_UNREAD = 1024 * 1024;

/** Writes JSON lines, or readable ones on a terminal. Every line contains `base`. */
export function createLog(
  level: Level,
  output: NodeJS.WriteStream,
  base: { readonly pid: number } | null = null,
): Log {
  output.on("error", () => {});
  const format = output.isTTY ? (line: string) => formatForPeople(line, output.columns || 80) : escapeLine;
  const write = (line: string) => {
    if (output.writableLength < MAX_UNREAD) output.write(`${format(line.trimEnd())}\n`);
  };
  return pino(
    {
      level,
      base,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: serializeError },
    },
    { write },
  );
}

/** Without the `toJSON` that Bun's errors of a failed import inherit, which throws if it is copied. */
function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { toJSON: _, ...fields } = pino.stdSerializers.err(error) as { toJSON?: unknown };
  return fields;
}

interface Line {
  readonly level: string;
  readonly time: string;
  readonly msg: string;
  /** Only errors have a stack; anything may have been thrown. */
  readonly err?: unknown;
}

const CLOCK_COLUMNS = "12:34:56 ".length;

/** Shows the local time. Indents all but the first line, so that no line of an error looks like another log line. */
function formatForPeople(json: string, columns: number): string {
  const { level, time, msg, ...rest } = JSON.parse(json) as Line;
  const { stack } = (rest.err ?? {}) as { readonly stack?: string };
  if (stack !== undefined) delete rest.err;
  const text = `${level === "info" ? "" : `${level}: `}${withFields(msg, rest)}`;
  const lines = [text, ...(stack?.split("\n") ?? [])].map((line) =>
    wrap(escapeLine(line), columns, CLOCK_COLUMNS),
  );
  return `${new Date(time).toTimeString().slice(0, 8)} ${lines.join(`\n${" ".repeat(CLOCK_COLUMNS)}`)}`;
}

/** A text for people, followed by its fields. */
export function withFields(text: string, fields: object): string {
  const details = Object.entries(fields).map(
    ([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return details.length === 0 ? text : `${text} (${details.join(", ")})`;
}

/** A target without its query and fragment, which may contain secrets of visitors. */
export function withoutQuery(url: string): string {
  return url.split(/[?#]/, 1)[0] ?? "";
}

/** Characters that terminals and log viewers act on. JSON escapes only the first 32. */
const UNSAFE = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** Turns text from outside into one line that no terminal acts on. */
export function escapeLine(line: string): string {
  return line.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
