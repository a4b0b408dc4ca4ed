import { join } from "node:path";

import { ROOT, type Settings } from "../service.ts";

const PROGRAM = [process.execPath, join(ROOT, "src/main.ts")];
/** These commands read no settings of a server, so wrong ones do not matter. */
const WRONG_SETTINGS = { PORT: "x", DATABASE_URL: "y" };

/** Runs the program with pipes. */
export async function run(args: readonly string[], environment: Settings = {}, input?: string) {
  const child = Bun.spawn([...PROGRAM, ...args], {
    env: { ...process.env, ...WRONG_SETTINGS, ...environment },
    stdin: input === undefined ? "ignore" : Buffer.from(input),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [code, stdout, stderr] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()]);
  return { code, stdout, stderr };
}

/** Runs the program in a terminal; `shown` is all that it wrote to it. `typed` is written to it at the start. */
export async function runInTerminal(
  args: readonly string[],
  environment: Settings = {},
  columns = 100,
): Promise<{ code: number; shown: string }> {
  const decoder = new TextDecoder();
  let shown = "";
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const child = Bun.spawn([...PROGRAM, ...args], {
    env: { ...process.env, ...WRONG_SETTINGS, ...environment },
    terminal: {
      cols: columns,
      rows: 40,
      data: (_, data) => void (shown += decoder.decode(data, { stream: true })),
      exit: () => end(),
    },
  });
  const code = await child.exited;
  child.terminal?.close();
  await ended;
  return { code, shown: shown.replaceAll("\r\n", "\n") };
}
