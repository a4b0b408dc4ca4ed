import { join } from "node:path";

import { ROOT, type Settings } from "../service.ts";

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one command line after the other. */
export interface Many extends AsyncDisposable {
  run(...args: string[]): Promise<Ran>;
}

/** Ends what a command line wrote. No command writes it. */
const END = "\0";

/**
 * The program as it is, except that it goes on to the next command line where it would end. It says with which code it would
 * have ended.
 */
const PROGRAM = `
  import { writeSync } from "node:fs";
  for (const emitter of [process, process.stderr]) emitter.setMaxListeners(0);
  let exitCode;
  process.exit = (code) => { exitCode = code; };
  let count = 0;
  for await (const line of console) {
    exitCode = "none";
    process.argv = [process.execPath, "curt", ...JSON.parse(line)];
    await import(${JSON.stringify(join(ROOT, "src/main.ts"))} + "?" + ++count);
    writeSync(1, ${JSON.stringify(END)});
    writeSync(2, exitCode + ${JSON.stringify(END)});
  }
`;

/** Reads up to the next end. */
function reader(stream: ReadableStream<Uint8Array>): () => Promise<string> {
  const pieces = stream.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  return async () => {
    while (!rest.includes(END)) {
      const { done, value } = await pieces.read();
      if (done) throw new Error(`the program ended: ${rest}`);
      rest += decoder.decode(value, { stream: true });
    }
    const end = rest.indexOf(END);
    const text = rest.slice(0, end);
    rest = rest.slice(end + 1);
    return text;
  };
}

/** Runs command lines in one process, because its start takes ten times as long as a command. */
export function startMany(environment: Settings): Many {
  const child = Bun.spawn([process.execPath, "-e", PROGRAM], {
    env: { ...process.env, ...environment },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const [readOutput, readErrors] = [reader(child.stdout), reader(child.stderr)];
  return {
    async run(...args) {
      await child.stdin.write(`${JSON.stringify(args)}\n`);
      const [stdout, errors] = await Promise.all([readOutput(), readErrors()]);
      const [, stderr = "", code] = /^([\s\S]*?)(\w+)$/.exec(errors) ?? [];
      return { code: Number(code), stdout, stderr };
    },
    async [Symbol.asyncDispose]() {
      await child.stdin.end();
      await child.exited;
    },
  };
}
