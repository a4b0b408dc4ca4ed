import { pino } from "pino";

export type Log = ReturnType<typeof createLog>;

/** In bytes. Beyond this, lines are dropped. */
const MAX_UNREAD = 1024 * 1024;

/** Writes JSON lines, or readable ones on a terminal. Every line contains `base`. */
export function createLog(
  level: "debug" | "info" | "warn" | "error",
  output: NodeJS.WriteStream,
  base: { readonly pid: number } | null = null,
) {
  output.on("error", () => {});
  const format = output.isTTY ? readable : escapeLine;
  const write = (line: string) => {
    if (output.writableLength < MAX_UNREAD) output.write(`${format(line.trimEnd())}\n`);
  };
  return pino(
    {
      level,
      base,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write },
  );
}

function readable(line: string): string {
  const { level, time, msg, ...rest } = JSON.parse(line) as { level: string; time: string; msg: string };
  const details = Object.keys(rest).length > 0 ? ` ${JSON.stringify(rest)}` : "";
  return escapeLine(`${time.slice(11, 19)} ${level === "info" ? "" : `${level}: `}${msg}${details}`);
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
