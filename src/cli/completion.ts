import type { Command, Commands } from "./command.ts";

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
  const rules = [...listed.flatMap(([name, command]) => rulesOf(name, command)), ...firstWords(listed)];
  return SCRIPTS[shell](rules);
}

function rulesOf(name: string, { options = {} }: Command): Rule[] {
  const entries = Object.entries(options);
  const ofValues = entries
    .filter(([, { type }]) => type === "string")
    .map(([option, { usual = [], values = usual }]) => ({
      pattern: `${name} *--${option} `,
      choices: values.map((word) => ({ word, meaning: "" })),
    }));
  const choices = entries.map(([option, { meaning }]) => ({ word: `--${option}`, meaning }));
  return [...ofValues, { pattern: `${name} *`, choices: [...choices, HELP] }];
}

const HELP: Choice = { word: "--help", meaning: "show the help" };

/** The first words of commands, and for groups such as `completion` the second ones. */
function firstWords(listed: readonly (readonly [string, Command])[]): Rule[] {
  const groups = Map.groupBy(listed, ([name]) => name.split(" ", 1)[0] ?? "");
  const first: Choice[] = [];
  const rules: Rule[] = [];
  for (const [word, members] of groups) {
    const seconds = members.flatMap(([name, { summary }]) =>
      name === word ? [] : [{ word: name.slice(word.length + 1), meaning: summary }],
    );
    if (seconds.length > 0) rules.push({ pattern: `${word} `, choices: [...seconds, HELP] });
    const meaning =
      members.length > 1 ? seconds.map((second) => second.word).join(", ") : members[0]?.[1].summary;
    first.push({ word, meaning: meaning ?? "" });
  }
  return [
    ...rules,
    { pattern: "", choices: [...first, HELP, { word: "--version", meaning: "show the version" }] },
  ];
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
