import { type Command, type Commands, GENERAL, HELP, type Options } from "./command.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;

interface Choice {
  readonly word: string;
  readonly meaning: string;
}

/** The choices for the next word. The first rule applies whose pattern matches the previous words, each followed by a space. */
interface Rule {
  /** `*` stands for any text, or none. */
  readonly pattern: string;
  readonly choices: readonly Choice[];
}

/** A script that makes a shell complete commands, options and their values. */
export function completion(shell: (typeof SHELLS)[number], commands: Commands): string {
  const listed = Object.entries(commands).filter(([, { isInternal }]) => !isInternal);
  const names = listed.map(([name, { summary }]) => ({ word: name, meaning: summary }));
  return SCRIPTS[shell]([
    ...listed.flatMap(([name, command]) => rulesOf(name, command)),
    { pattern: "help ", choices: [...names, { word: "settings", meaning: "the settings of the server" }] },
    { pattern: "", choices: [...names, { word: "help", meaning: "explain a command" }, ...flags(GENERAL)] },
  ]);
}

function rulesOf(name: string, { positionals = {}, options = {} }: Command): Rule[] {
  const ofValues = Object.entries(options)
    .filter(([, { value }]) => value !== undefined)
    .map(([option, { usual = [], values = usual }]) => ({
      pattern: `${name} *--${option} `,
      choices: words(values),
    }));
  const choices = Object.values(positionals).flatMap(({ values = [] }) => words(values));
  return [...ofValues, { pattern: `${name} *`, choices: [...choices, ...flags({ ...options, ...HELP })] }];
}

function words(values: readonly string[]): Choice[] {
  return values.map((word) => ({ word, meaning: "" }));
}

function flags(options: Options): Choice[] {
  return Object.entries(options).map(([name, { meaning }]) => ({ word: `--${name}`, meaning }));
}

const SCRIPTS: Readonly<Record<(typeof SHELLS)[number], (rules: readonly Rule[]) => string>> = {
  bash: (rules) => `_curt() {
  local IFS=$' \\t\\n'
  local line="\${COMP_WORDS[*]:1:COMP_CWORD-1}" choices=
  case "\${line:+$line }" in
${rules.map(({ pattern, choices }) => `    ${glob(pattern)}) choices=${quote(choices.map(({ word }) => word).join(" "))} ;;`).join("\n")}
  esac
  COMPREPLY=($(compgen -W "$choices" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _curt curt`,

  zsh: (rules) => `#compdef curt
_curt() {
  local line="\${(j: :)words[2,CURRENT-1]}"
  local -a choices
  case "\${line:+$line }" in
${rules.map(({ pattern, choices }) => `    ${glob(pattern)}) choices=(${choices.map(described).join(" ")}) ;;`).join("\n")}
  esac
  _describe curt choices
}
# As a file in fpath, the script is the function. Otherwise it is read once.
if [ "$funcstack[1]" = _curt ]; then _curt; else compdef _curt curt; fi`,

  fish: (rules) => `function __curt
  set -l line (string join ' ' -- (commandline -opc)[2..])
  test -n "$line"; and set line "$line "
  switch "$line"
${rules.map(({ pattern, choices }) => `    case ${quote(pattern)}\n      ${printed(choices)}`).join("\n")}
  end
end
complete -c curt -f -a '(__curt)'`,
};

/** Bash and zsh take a quoted star as it is. */
function glob(pattern: string): string {
  return pattern === "" ? "''" : pattern.replaceAll(/[^*]+/g, quote);
}

/** The only way to quote a quote in bash and zsh. It works in fish as well. */
function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function described({ word, meaning }: Choice): string {
  return quote(meaning === "" ? word : `${word}:${meaning}`);
}

function printed(choices: readonly Choice[]): string {
  if (choices.length === 0) return "true";
  return `printf '%s\\t%s\\n' ${choices.map(({ word, meaning }) => `${quote(word)} ${quote(meaning)}`).join(" ")}`;
}
