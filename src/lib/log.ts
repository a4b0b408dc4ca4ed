import { pino } from "pino";

import type { Config } from "../config/config.ts";
import { escapeLine } from "./escape-line.ts";

export type Log = ReturnType<typeof createLog>;

/** A reader that stopped reading costs lines, not memory. In bytes. */
const MAX_UNREAD = 1024 * 1024;

/** JSON lines on standard output; readable ones on a terminal. Every line has what is in `base`. */
export function createLog(
  level: Config["logLevel"],
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

/** A target without its query and fragment, which may carry what nobody but its visitor should read. */
export function withoutQuery(url: string): string {
  return url.split(/[?#]/, 1)[0] ?? "";
}
