/** One command of a shell script. */
export interface ShellCommand {
  /** `NAME=value` before the command, or alone. */
  readonly settings: Readonly<Record<string, string>>;
  /** The program and its arguments; empty if there are only settings. */
  readonly words: readonly string[];
}

const OPERATOR = /^(?:&&|\|\||[|;\n])/;
const REDIRECTION = /^\d?(?:>>|>|<)(?!\()/;
/** A word, quoted in parts. It includes `$(…)` and `<(…)`. */
const WORD = /^(?:"(?:\\.|[^"\\])*"|'[^']*'|[$<]\([^()]*\)|\\.|[^\s"'|;&<>\\])+/;

/** The scripts of a document, whose lines are joined where a backslash ends them. */
export function scriptsOf(document: string): string[] {
  return [...document.matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm)].map(([, script = ""]) =>
    script.replaceAll("\\\n", " "),
  );
}

/** All commands of a script, with those in `$(…)` and `<(…)`. Understands what documents need of a shell. */
export function commandsOf(script: string): ShellCommand[] {
  const withoutFiles = script.replace(/<<(['"]?)(\w+)\1(.*\n)[\s\S]*?\n *\2$/gm, "$3");
  const inner = [...withoutFiles.matchAll(/[$<]\(([^()]*)\)/g)].flatMap(([, text = ""]) => commandsOf(text));
  const commands: ShellCommand[] = [];
  let words: string[] = [];
  let isFile = false;
  const end = () => {
    // `env -i` hides the settings of the shell from the command.
    if (words[0] === "env" && words[1] === "-i")
      words = words.slice(2).filter((word) => word !== "PATH=$PATH");
    const first = words.findIndex((word) => !/^\w+=/.test(word));
    const settings = words
      .slice(0, first === -1 ? words.length : first)
      .map((word) => /^(\w+)=(.*)$/s.exec(word));
    if (words.length > 0)
      commands.push({
        settings: Object.fromEntries(settings.map((match) => [match?.[1] ?? "", match?.[2] ?? ""])),
        words: first === -1 ? [] : words.slice(first),
      });
    words = [];
  };
  for (let rest = withoutFiles; rest !== "";) {
    const [skipped = ""] = /^(?:[ \t]+|#[^\n]*)/.exec(rest) ?? [];
    const [operator = ""] = OPERATOR.exec(rest) ?? [];
    const [redirection = ""] = REDIRECTION.exec(rest) ?? [];
    const [word = ""] = skipped + operator + redirection === "" ? (WORD.exec(rest) ?? []) : [];
    if (operator !== "") end();
    else if (redirection !== "") isFile = true;
    else if (word !== "" && isFile) isFile = false;
    else if (word !== "") words.push(unquoted(word));
    const length = (skipped || operator || redirection || word).length;
    if (length === 0) throw new Error(`This test cannot read ${JSON.stringify(rest.slice(0, 80))}`);
    rest = rest.slice(length);
  }
  end();
  return [...commands, ...inner];
}

function unquoted(word: string): string {
  return word.replace(/"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)/g, (_, double, single, escaped) =>
    double === undefined ? (single ?? escaped) : double.replace(/\\(["\\$`])/g, "$1"),
  );
}

/** The request of a curl command. Throws at an unknown option. */
export function requestOf({ words: [, ...words] }: ShellCommand) {
  const headers = new Headers();
  const request = { method: "", url: "", body: undefined as string | undefined, headers };
  for (let nth = 0; nth < words.length; nth++) {
    const word = words[nth] ?? "";
    if (["-i", "-s", "-N", "-sS", "--silent", "--fail-with-body"].includes(word)) continue;
    if (!word.startsWith("-")) {
      request.url = word;
      continue;
    }
    const value = words[++nth] ?? "";
    if (word === "-X") request.method = value;
    else if (word === "-H") headers.set(...(value.split(/: (.*)/s, 2) as [string, string]));
    else if (word === "-d") request.body = value;
    else if (word === "-u") headers.set("Authorization", `Basic ${btoa(value)}`);
    else if (word === "-T") request.body = '{"target": "https://example.com/"}\n';
    else if (!["-o", "-w"].includes(word)) throw new Error(`This test does not know curl's ${word}`);
  }
  request.method ||= request.body === undefined ? "GET" : "POST";
  return request;
}
