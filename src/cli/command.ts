import { parseArgs } from "node:util";

import type { Config } from "../config/config.ts";
import { oneOf } from "../config/setting-formats.ts";
import { SETTING_GROUPS } from "../config/settings.ts";
import { VERSION } from "../lib/version.ts";
import { wrap } from "../lib/wrap.ts";
import { columns } from "./terminal/print.ts";

/** Each command by its name. */
export type Commands = Readonly<Record<string, Command>>;

export type Command = ServerCommand | InstanceCommand;

/** In the order of the help. */
const GROUPS = ["Serve links", "Keep the data", "Use any instance", "More"] as const;

interface CommandDescription {
  readonly group: (typeof GROUPS)[number];
  /** A verb, what it acts on, and one restriction. */
  readonly summary: string;
  /** A command line that works as it is, or with one's own values. */
  readonly example?: string;
  /** By name, such as FILE, in order. */
  readonly positionals?: Readonly<Record<string, Positional>>;
  readonly options?: Options;
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

interface Described {
  /** For the help. */
  readonly meaning: string;
  /** The only values that it takes. */
  readonly values?: readonly string[];
}

/** Required, unless it is repeated. */
interface Positional extends Described {
  /** It may be there any number of times, or not at all. Only for the last one. */
  readonly isRepeated?: boolean;
}

interface Option extends Described {
  /** The name of its value, such as FILE. Without it, the option is a flag. */
  readonly value?: string;
  readonly short?: string;
  /** Usual values for completion, among others. */
  readonly usual?: readonly string[];
}

export type Options = Readonly<Record<string, Option>>;

export interface Arguments {
  /** As many as the command declares. */
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

/** The options of every command. */
export const HELP: Options = { help: { short: "h", meaning: "show this help" } };
/** The options without a command. */
export const GENERAL: Options = { ...HELP, version: { short: "v", meaning: "show the version" } };

/** Finds the command and reads its arguments. Throws {@link UsageError}. */
export function readCommandLine(commands: Commands, line: readonly string[]): CommandLine {
  const [first = "", ...rest] = line;
  const command = Object.hasOwn(commands, first) ? commands[first] : undefined;
  if (command !== undefined) return readCommand(first, command, rest);
  if (first === "help")
    return rest[0] === "settings" ? { text: settingsHelp() } : readCommandLine(commands, [...rest, "--help"]);
  const { options, positionals } = parse(line, GENERAL, BRIEF_HELP);
  if (options["version"]) return { text: VERSION };
  if (options["help"] && first.startsWith("-")) return { text: generalHelp(commands) };
  const unknown = JSON.stringify(positionals.join(" "));
  throw new UsageError(
    positionals.length > 0 ? `there is no command ${unknown}` : "a command is missing",
    BRIEF_HELP,
  );
}

function readCommand(name: string, command: Command, line: readonly string[]): CommandLine {
  const help = commandHelp(name, command);
  const args = parse(line, { ...command.options, ...HELP }, help, `${name} `);
  if (args.options["help"]) return { text: help };
  const mistake = mistakeIn(command, args);
  if (mistake !== undefined) throw new UsageError(`${name} ${mistake}`, help);
  return { command, args };
}

function mistakeIn({ positionals = {}, options = {} }: Command, given: Arguments): string | undefined {
  const expected = Object.entries(positionals);
  const extra = expected.at(-1)?.[1].isRepeated === true ? undefined : given.positionals[expected.length];
  if (extra !== undefined) return `takes no argument ${JSON.stringify(extra)}`;
  const missing = expected.find((one, nth) => !one[1].isRepeated && given.positionals[nth] === undefined);
  if (missing !== undefined) return `needs ${missing[0]}`;
  const limited = [
    ...expected.map(([name, { values }], nth) => ({ name, values, value: given.positionals[nth] })),
    ...Object.entries(options).map(([name, { values, value }]) => ({
      name: `--${name} ${value}`,
      values,
      value: given.options[name],
    })),
  ];
  const wrong = limited.find(({ values, value }) => value && values?.includes(String(value)) === false);
  if (wrong === undefined) return undefined;
  return `needs ${wrong.name} to be ${oneOf(...(wrong.values ?? [])).right}, not ${JSON.stringify(wrong.value)}`;
}

/** `of` starts the message about an option without its value. */
function parse(line: readonly string[], options: Options, help: string, of = ""): Arguments {
  try {
    const { values, positionals } = parseArgs({
      args: joinDashedValues(line, options),
      options: Object.fromEntries(
        Object.entries(options).map(([name, { value, short }]) => [
          name,
          { type: value === undefined ? "boolean" : "string", ...(short !== undefined && { short }) },
        ]),
      ),
      allowPositionals: true,
    });
    return { options: values, positionals };
  } catch (error) {
    const { code = "", message } = error as Error & { code?: string };
    if (!code.startsWith("ERR_PARSE_ARGS")) throw error;
    const [, name = ""] = /--([\w-]+)(?: <value>)?' argument (?:missing|is ambiguous)/.exec(message) ?? [];
    const { value } = options[name] ?? {};
    if (value !== undefined) throw new UsageError(`${of}needs --${name} ${value}`, help);
    // Removes Node's advice about arguments that start with a dash, which hardly ever applies.
    throw new UsageError(message.split(". To specify", 1)[0] ?? message, help);
  }
}

/** `--key -x` becomes `--key=-x`: one manage key in 64 starts with a dash, which `parseArgs` takes for an option. */
function joinDashedValues(line: readonly string[], options: Options): string[] {
  const known = new Set(
    Object.entries(options).flatMap(([name, { short = name }]) => [`--${name}`, `-${short}`]),
  );
  const joined: string[] = [];
  for (const argument of line) {
    const last = joined.at(-1) ?? "";
    // Everything after -- is an argument.
    const takesValue =
      !joined.includes("--") && known.has(last) && options[last.slice("--".length)]?.value !== undefined;
    if (takesValue && /^-./.test(argument) && !known.has(argument.split("=", 1)[0] ?? ""))
      joined[joined.length - 1] = `${last}=${argument}`;
    else joined.push(argument);
  }
  return joined;
}

const HELP_ROW = [
  "help",
  { group: "More", summary: "explain a command, or the settings of the server" },
] as const;

/** @internal */
export function generalHelp(commands: Commands): string {
  const listed = Object.entries(commands).filter(([, { isInternal }]) => !isInternal);
  const width = Math.max(...listed.map(([name]) => name.length));
  return page(
    "Usage: curt COMMAND",
    ...GROUPS.map((group) =>
      section(
        group,
        [...listed, HELP_ROW]
          .filter(([, command]) => command.group === group)
          .map(([name, { summary }]) => [name, summary]),
        width,
      ),
    ),
    optionSection(GENERAL),
    '"curt help COMMAND" explains a command, "curt help settings" the settings of the server.',
  );
}

function settingsHelp(): string {
  return page(
    "Settings are environment variables, all of them optional. Defaults are in brackets.",
    ...Object.entries(SETTING_GROUPS).map(([group, settings]) =>
      section(
        group,
        Object.values(settings).map((setting) => [setting.name, `${setting.meaning} [${setting.default}]`]),
      ),
    ),
  );
}

/** Short, so that the error above stays visible. */
const BRIEF_HELP = page("Usage: curt COMMAND", '"curt --help" lists all commands.');

function commandHelp(name: string, command: Command): string {
  const { summary, example, positionals = {}, options = {} } = command;
  const named = Object.entries(positionals).map(([one, { isRepeated }]) => (isRepeated ? `[${one}…]` : one));
  const isOptional = Object.keys(options).length > 0;
  return page(
    ["Usage: curt", name, ...(isOptional ? ["[OPTIONS]"] : []), ...named].join(" "),
    `${summary.slice(0, 1).toUpperCase()}${summary.slice(1)}.`,
    example === undefined ? "" : `Example:\n  ${example}`,
    section(
      "Arguments",
      Object.entries(positionals).map(([one, described]) => [one, explain(described)]),
    ),
    optionSection({ ...options, ...HELP }),
    "run" in command
      ? 'The settings of the server are environment variables, such as DATABASE_URL; "curt help settings" lists them.'
      : section("Environment variables", Object.entries(command.variables ?? {})),
  );
}

function optionSection(options: Options): string {
  return section(
    "Options",
    Object.entries(options).map(([name, { short, value, ...described }]) => [
      `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`,
      explain(described),
    ]),
  );
}

function explain({ meaning, values }: Described): string {
  return values === undefined ? meaning : `${meaning}: ${oneOf(...values).right}`;
}

/** A heading above two columns; empty without rows. */
function section(heading: string, rows: readonly (readonly [string, string])[], minWidth = 0): string {
  const width = Math.max(minWidth, ...rows.map(([left]) => left.length));
  const lines = rows.map(([left, right]) => `  ${left.padEnd(width)}  ${wrap(right, columns(), width + 4)}`);
  return rows.length === 0 ? "" : [`${heading}:`, ...lines].join("\n");
}

/** Wraps paragraphs. Sections keep their lines, which fit already. */
function page(...parts: readonly string[]): string {
  return parts
    .filter((part) => part !== "")
    .map((part) => (part.includes("\n") ? part : wrap(part, columns())))
    .join("\n\n");
}
