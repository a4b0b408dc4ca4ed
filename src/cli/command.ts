import { parseArgs } from "node:util";

import type { Config } from "../config.ts";
import { VERSION } from "../version.ts";
import { commandHelp, generalHelp } from "./help.ts";

/** A command is known by its words, such as `check` or `admin list`. */
export type Commands = Readonly<Record<string, Command>>;

export interface Command {
  /** One line for the help. */
  readonly summary: string;
  /** Names of its arguments in order, such as FILE. All of them must be given. */
  readonly positionals?: readonly string[];
  readonly options?: Readonly<Record<string, Option>>;
  /** Not listed in the help: started by Curt itself. */
  readonly isInternal?: boolean;
  /** Resolves with the exit code. */
  run(config: Config, args: Arguments): number | Promise<number>;
}

/** In the form that `parseArgs` takes. */
interface Option {
  readonly type: "string" | "boolean";
  readonly short?: string;
  readonly meaning: string;
}

interface Arguments {
  /** As many as the command names. */
  readonly positionals: readonly string[];
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
}

/** What a command line asks for: a text, or a command to run. */
export type CommandLine = { readonly text: string } | { readonly command: Command; readonly args: Arguments };

/** A command line that is wrong; `help` says what would be right. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  constructor(
    message: string,
    readonly help: string,
  ) {
    super(message);
  }
}

const HELP_OPTION = { help: { type: "boolean", short: "h" } } as const;
const GENERAL_OPTIONS = { ...HELP_OPTION, version: { type: "boolean", short: "v" } } as const;

/** Finds the command and reads its arguments. Throws {@link UsageError}. */
export function readCommandLine(commands: Commands, line: readonly string[]): CommandLine {
  for (const [name, command] of Object.entries(commands)) {
    const words = name.split(" ");
    if (words.every((word, nth) => word === line[nth]))
      return readCommand(name, command, line.slice(words.length));
  }
  const help = generalHelp(commands);
  const { options, positionals } = parse(line, GENERAL_OPTIONS, help);
  if (options["version"]) return { text: VERSION };
  if (options["help"]) return { text: help };
  const unknown = JSON.stringify(positionals.join(" "));
  throw new UsageError(
    positionals.length > 0 ? `there is no command ${unknown}` : "a command is missing",
    help,
  );
}

function readCommand(name: string, command: Command, line: readonly string[]): CommandLine {
  const help = commandHelp(name, command);
  const args = parse(line, { ...command.options, ...HELP_OPTION }, help);
  if (args.options["help"]) return { text: help };
  const expected = command.positionals ?? [];
  const extra = args.positionals[expected.length];
  if (extra !== undefined) throw new UsageError(`${name} takes no argument ${JSON.stringify(extra)}`, help);
  const missing = expected[args.positionals.length];
  if (missing !== undefined) throw new UsageError(`${name} needs ${missing}`, help);
  return { command, args };
}

function parse(
  line: readonly string[],
  options: Readonly<Record<string, Omit<Option, "meaning">>>,
  help: string,
): Arguments {
  try {
    const { values, positionals } = parseArgs({ args: [...line], options, allowPositionals: true });
    return { options: values, positionals };
  } catch (error) {
    const { code = "", message } = error as Error & { code?: string };
    if (!code.startsWith("ERR_PARSE_ARGS")) throw error;
    // What follows explains how to pass such a text as an argument, which is hardly ever meant.
    throw new UsageError(message.split(". To specify", 1)[0] ?? message, help);
  }
}
