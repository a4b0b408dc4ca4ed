import { parseArgs } from "node:util";

import type { Config } from "../config/config.ts";
import { SETTING_GROUPS } from "../config/settings.ts";
import { VERSION } from "../lib/version.ts";
import { wrap } from "../lib/wrap.ts";
import { columns } from "./terminal/print.ts";

/** The keys are the words of the command line, such as `check` or `completion bash`. */
export type Commands = Readonly<Record<string, Command>>;

export type Command = ServerCommand | InstanceCommand;

interface CommandDescription {
  /** One line for the help. */
  readonly summary: string;
  /** Names of the arguments, in order, such as FILE. All are required. */
  readonly positionals?: readonly string[];
  /** Name of further arguments, any number. */
  readonly rest?: string;
  readonly options?: Readonly<Record<string, Option>>;
  /** Only Curt starts it, so the help doesn't list it. */
  readonly isInternal?: boolean;
}

/** Uses the settings and the store of a server. */
interface ServerCommand extends CommandDescription {
  /** Whether it reads the files that only a server needs. */
  readonly serves?: boolean;
  /** Resolves with the exit code. */
  run(config: Config, args: Arguments): number | Promise<number>;
}

/** Uses no settings and no store of a server, but may send requests to a running instance. */
export interface InstanceCommand extends CommandDescription {
  /** The environment variables that it reads, for the help. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Resolves with the exit code. */
  runAsClient(environment: Environment, args: Arguments): number | Promise<number>;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** An option of `parseArgs`, with its `meaning` for the help. */
interface Option {
  readonly type: "string" | "boolean";
  readonly short?: string;
  readonly meaning: string;
  /** The only values that it takes. */
  readonly values?: readonly string[];
  /** Usual values for completion, among others. */
  readonly usual?: readonly string[];
}

export interface Arguments {
  /** As many as the command declares, or more if it takes a rest. */
  readonly positionals: readonly string[];
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
}

/** Either a text to print, such as the help, or a command to run. */
export type CommandLine = { readonly text: string } | { readonly command: Command; readonly args: Arguments };

/** The command line is wrong. `help` is the text that explains the right usage. */
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
  if (line[0] === "help") return readCommandLine(commands, [...line.slice(1), "--help"]);
  const [first = ""] = line;
  const group = Object.entries(commands).filter(([name]) => name.startsWith(`${first} `));
  const help = group.length > 0 ? groupHelp(first, Object.fromEntries(group)) : BRIEF_HELP;
  const { options, positionals } = parse(line, GENERAL_OPTIONS, help);
  if (options["version"]) return { text: VERSION };
  if (options["help"]) return { text: group.length > 0 ? help : generalHelp(commands) };
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
  const extra = command.rest === undefined ? args.positionals[expected.length] : undefined;
  if (extra !== undefined) throw new UsageError(`${name} takes no argument ${JSON.stringify(extra)}`, help);
  const missing = expected[args.positionals.length];
  if (missing !== undefined) throw new UsageError(`${name} needs ${missing}`, help);
  const wrong = wrongOption(command.options ?? {}, args.options);
  if (wrong !== undefined) throw new UsageError(`${name} needs ${wrong}`, help);
  return { command, args };
}

function wrongOption(options: NonNullable<Command["options"]>, given: Arguments["options"]) {
  for (const [option, { values }] of Object.entries(options)) {
    const value = given[option] ?? "";
    if (value !== "" && values?.includes(String(value)) === false)
      return `--${option} ${values.join("|")}, not ${JSON.stringify(value)}`;
  }
  return undefined;
}

function parse(
  line: readonly string[],
  options: Readonly<Record<string, Omit<Option, "meaning">>>,
  help: string,
): Arguments {
  try {
    const args = joinDashedValues(line, options);
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    return { options: values, positionals };
  } catch (error) {
    const { code = "", message } = error as Error & { code?: string };
    if (!code.startsWith("ERR_PARSE_ARGS")) throw error;
    // Removes Node's advice about arguments that start with a dash, which hardly ever applies.
    throw new UsageError(message.split(". To specify", 1)[0] ?? message, help);
  }
}

/** `--key -x` becomes `--key=-x`: one manage key in 64 starts with a dash, which `parseArgs` takes for an option. */
function joinDashedValues(
  line: readonly string[],
  options: Readonly<Record<string, Omit<Option, "meaning">>>,
): string[] {
  const known = new Set(
    Object.entries(options).flatMap(([name, { short = name }]) => [`--${name}`, `-${short}`]),
  );
  const joined: string[] = [];
  for (const argument of line) {
    const last = joined.at(-1) ?? "";
    // Everything after -- is an argument.
    const takesValue =
      !joined.includes("--") && known.has(last) && options[last.slice("--".length)]?.type === "string";
    if (takesValue && /^-./.test(argument) && !known.has(argument.split("=", 1)[0] ?? ""))
      joined[joined.length - 1] = `${last}=${argument}`;
    else joined.push(argument);
  }
  return joined;
}

const SETTINGS_HELP =
  'It needs the settings of the server, such as DATABASE_URL, as environment variables: "curt help settings" lists them.';
const HELP_ROW = ["-h, --help", "show this help"] as const;

export function generalHelp(commands: Commands): string {
  const listed = Object.entries(commands).filter(([, { isInternal }]) => !isInternal);
  return `Usage: curt <command>

Commands:
${rows(listed.map(([name, { summary }]) => [name, summary]))}

Options:
${rows([HELP_ROW, ["-v, --version", "show the version"]])}

${wrap(`"curt <command> --help" explains one command, "curt help settings" the settings of the server.`, columns())}`;
}

export function settingsHelp(): string {
  const groups = Object.entries(SETTING_GROUPS).map(
    ([name, settings]) =>
      `${name}:\n${rows(Object.values(settings).map((setting) => [setting.name, `${setting.meaning} [${setting.default}]`]))}`,
  );
  return `${wrap("Settings are environment variables, all of them optional, with their defaults in brackets.", columns())}\n\n${groups.join("\n\n")}`;
}

/** For commands with the same first word. */
function groupHelp(group: string, commands: Commands): string {
  return `Usage: curt ${group} <command>

Commands:
${rows(Object.entries(commands).map(([name, { summary }]) => [name.slice(group.length + 1), summary]))}

"curt ${group} <command> --help" explains one command. "curt --help" lists all commands.`;
}

/** Short, so that the error above stays visible. */
const BRIEF_HELP = `Usage: curt <command>

"curt --help" lists all commands.`;

function commandHelp(name: string, command: Command): string {
  const { summary, positionals = [], rest, options = {} } = command;
  const usage = ["curt", name, ...(Object.keys(options).length > 0 ? ["[options]"] : []), ...positionals];
  if (rest !== undefined) usage.push(`[${rest}…]`);
  const variables = "variables" in command ? Object.entries(command.variables ?? {}) : [];
  const environment = variables.length > 0 ? `\n\nEnvironment variables:\n${rows(variables)}` : "";
  const optionRows = Object.entries(options).map(([option, { type, short, meaning, values }]) => {
    const flags = `${short === undefined ? "" : `-${short}, `}--${option}`;
    return [type === "string" ? `${flags} <${values?.join("|") ?? "value"}>` : flags, meaning] as const;
  });
  return `Usage: ${usage.join(" ")}

${wrap(summary, columns())}

Options:
${rows([...optionRows, HELP_ROW])}${"run" in command ? `\n\n${wrap(SETTINGS_HELP, columns())}` : environment}`;
}

/** Aligns the second column, and wraps it. */
function rows(table: readonly (readonly [string, string])[]): string {
  const width = Math.max(...table.map(([left]) => left.length));
  return table
    .map(([left, right]) => `  ${left.padEnd(width)}  ${wrap(right, columns(), width + 4)}`)
    .join("\n");
}
