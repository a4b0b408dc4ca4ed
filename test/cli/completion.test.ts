import { describe, expect, test } from "bun:test";
import { join } from "node:path";

import { COMMANDS } from "../../src/cli/commands.ts";
import { temporaryFolder } from "../support/service.ts";
import { run } from "./run.ts";

async function scriptOf(shell: string): Promise<string> {
  const { code, stdout, stderr } = await run(["completion", shell]);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout;
}

const listed = Object.entries(COMMANDS).filter(([, { isInternal }]) => isInternal !== true);
const FIRST_WORDS = [...listed.map(([name]) => name), "help", "--help", "--version"];

/** Command lines, whose last word is incomplete, with the words that may follow. */
const LINES: [string, string[]][] = [
  ["curt ", FIRST_WORDS],
  ["curt sh", ["shorten"]],
  ["curt completion ", ["bash", "zsh", "fish", "--help"]],
  ["curt shorten --expires-at ", ["24h", "48h", "1week", "1month", "never"]],
  ["curt shorten https://example.com/ --expires-at 1", ["1week", "1month"]],
  ["curt shorten --code ", []],
  ["curt help s", ["serve", "shorten", "stats", "settings"]],
  ["curt child ", []],
];

describe("the completion script", () => {
  test("contains every command and every option, for each shell", async () => {
    for (const shell of ["bash", "zsh", "fish"]) {
      const script = await scriptOf(shell);
      for (const [name, { options = {} }] of listed) {
        for (const word of [...name.split(" "), ...Object.keys(options).map((option) => `--${option}`)])
          expect(script.includes(word), shell).toEqual(true);
      }
    }
  });

  test("completes commands, options and values in bash", async () => {
    const script = await scriptOf("bash");
    for (const [line, expected] of LINES) {
      const words = line.split(" ");
      const command = `${script}
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
complete -p curt > /dev/null && _curt && printf '%s\\n' "\${COMPREPLY[@]}"`;
      const { stdout, stderr } = Bun.spawnSync(["bash", "-c", command, "bash", ...words]);
      expect([lines(stdout.toString()), stderr.toString()], line).toEqual([expected, ""]);
    }
  });

  if (Bun.which("fish") !== null) {
    test("completes commands, options and values in fish", async () => {
      using folder = temporaryFolder();
      await Bun.write(join(folder.path, "curt.fish"), await scriptOf("fish"));
      for (const [line, expected] of LINES) {
        const command = `source ${folder.path}/curt.fish; complete -C '${line}'`;
        const { stdout } = Bun.spawnSync(["fish", "--no-config", "-c", command]);
        const words = lines(stdout.toString()).map((one) => one.split("\t")[0] ?? "");
        expect(words.toSorted(), line).toEqual(expected.toSorted());
      }
    });
  }

  if (Bun.which("zsh") !== null) {
    test("completes commands, options and values in zsh", async () => {
      using folder = temporaryFolder();
      const script = join(folder.path, "curt.zsh");
      await Bun.write(script, await scriptOf("zsh"));
      // Each line has one completion, so that zsh writes it without asking.
      const completed = {
        "curt sho": "curt shorten ",
        "curt shorten --expires-at 1w": "curt shorten --expires-at 1week ",
      };
      for (const [line, expected] of Object.entries(completed))
        expect(await completeInZsh(script, line)).toBe(expected);
    });
  }
});

function lines(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

/** Types a line and a tab, and returns the completed line. */
async function completeInZsh(script: string, line: string): Promise<string> {
  const { promise: completed, resolve: complete } = Promise.withResolvers<string>();
  let shown = "";
  const child = Bun.spawn(["zsh", "-f", "-i"], {
    env: { ...process.env, PS1: "", TERM: "dumb" },
    terminal: {
      cols: 200,
      rows: 40,
      data: (_, data) => {
        shown += new TextDecoder().decode(data);
        const [, buffer] = /<<(.*)>>/.exec(shown) ?? [];
        if (buffer !== undefined) complete(buffer);
      },
      exit: () => complete(`zsh wrote: ${shown}`),
    },
  });
  const setUp = `autoload -Uz compinit && compinit -u -D; source ${script}
show() { print -r -- "<""<$BUFFER>"">" }; zle -N show; bindkey '^X' show\n`;
  child.terminal?.write(`${setUp}${line}\t\u0018`);
  const buffer = await completed;
  child.kill("SIGKILL");
  await child.exited;
  child.terminal?.close();
  return buffer;
}
