import { join } from "node:path";

import { ROOT, type Settings, temporaryFolder, PROGRAM } from "../support/service.ts";
import { runCommand } from "./commands.ts";

const COMMAND = [process.execPath, PROGRAM];
/** Most commands read no settings of a server, so wrong ones don't matter. */
const WRONG_SETTINGS = { PORT: "x", DATABASE_URL: "y" };

/** Runs the program with pipes; without input, in the process that all commands share. */
export function run(args: readonly string[], environment: Settings = {}, input?: string) {
  if (input !== undefined) return runAlone(args, environment, input);
  return runCommand(args, { ...WRONG_SETTINGS, ...environment });
}

/** Runs the program in a process of its own, which may have a time zone and run beside others. */
export async function runAlone(
  args: readonly string[],
  environment: Settings = {},
  input?: string,
  program: readonly string[] = COMMAND,
) {
  const child = Bun.spawn([...program, ...args], {
    env: { ...process.env, ...WRONG_SETTINGS, ...environment },
    stdin: input === undefined ? "ignore" : Buffer.from(input),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [code, stdout, stderr] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()]);
  return { code, stdout, stderr };
}

/** Runs the source of the program, and returns the paths of the modules that it loaded. */
export async function modulesOf(args: readonly string[], environment: Settings): Promise<string[]> {
  using folder = temporaryFolder();
  const preload = join(folder.path, "preload.ts");
  await Bun.write(preload, 'process.on("exit", () => console.log(Object.keys(require.cache).join("\\n")));');
  const program = [process.execPath, "--preload", preload, join(ROOT, "src/main.ts")];
  const { stdout } = await runAlone(args, environment, undefined, program);
  return stdout.split("\n").filter((line) => line.startsWith(ROOT));
}

interface TerminalOptions {
  readonly columns?: number;
  /** Runs the program. Default: the Bun that runs the tests. */
  readonly command?: readonly string[];
  /** Typed once the terminal shows `after`. */
  readonly typed?: { readonly after: string; readonly text: string };
}

/** Runs the program in a terminal. `shown` has all of its output. */
export async function runInTerminal(
  args: readonly string[],
  environment: Settings = {},
  { columns = 100, command = COMMAND, typed }: TerminalOptions = {},
): Promise<{ code: number; shown: string }> {
  const decoder = new TextDecoder();
  let shown = "";
  let hasTyped = false;
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const child = Bun.spawn([...command, ...args], {
    env: { ...process.env, ...WRONG_SETTINGS, ...environment },
    terminal: {
      cols: columns,
      rows: 40,
      data: (terminal, data) => {
        shown += decoder.decode(data, { stream: true });
        if (typed === undefined || hasTyped || !shown.includes(typed.after)) return;
        hasTyped = true;
        terminal.write(typed.text);
      },
      exit: () => end(),
    },
  });
  const code = await child.exited;
  child.terminal?.close();
  await ended;
  return { code, shown: shown.replaceAll("\r\n", "\n") };
}
