import { SETTINGS } from "../config/settings.ts";
import type { Command, Commands } from "./command.ts";

const SETTINGS_HELP = `

It needs the settings of the server, such as DATABASE_URL, as environment variables: "curt --help" lists them.`;
const HELP_ROW = ["-h, --help", "show this help"] as const;

export function generalHelp(commands: Commands): string {
  const listed = Object.entries(commands).filter(([, { isInternal }]) => !isInternal);
  return `Usage: curt <command>

Commands:
${rows(listed.map(([name, { summary }]) => [name, summary]))}

Options:
${rows([HELP_ROW, ["-v, --version", "show the version"]])}

"curt <command> --help" explains one command.

Settings (environment variables, all optional):
${rows(Object.values(SETTINGS).map((setting) => [setting.name, `${setting.meaning} [${setting.default}]`]))}`;
}

/** For commands that begin with the same word. */
export function groupHelp(commands: Commands): string {
  return `Usage: curt <command>

Commands:
${rows(Object.entries(commands).map(([name, { summary }]) => [name, summary]))}

"curt <command> --help" explains one command. "curt --help" lists all commands and the settings.`;
}

/** What is shown with a mistake, so that the mistake does not scroll away. */
export const BRIEF_HELP = `Usage: curt <command>

"curt --help" lists all commands and the settings.`;

export function commandHelp(name: string, command: Command): string {
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

${summary}

Options:
${rows([...optionRows, HELP_ROW])}${"run" in command ? SETTINGS_HELP : environment}`;
}

/** Aligns the second column. */
function rows(table: readonly (readonly [string, string])[]): string {
  const width = Math.max(...table.map(([left]) => left.length));
  return table.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join("\n");
}
