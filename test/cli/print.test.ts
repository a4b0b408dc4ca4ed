import { expect, test } from "bun:test";

import { ROOT } from "../service.ts";

/** A title, a colour, a C1 control and a reversal, as terminals understand them. */
const HOSTILE = "\u001b]0;title\u0007\u001b[31m\u009b2J\u202ered\nnext";

/** The lines that a program prints. */
function linesOf(program: string): string[] {
  const imports = 'import { printJson } from "./src/cli/terminal/print.ts";';
  const { stdout, exitCode } = Bun.spawnSync([process.execPath, "-e", `${imports} ${program}`], {
    cwd: ROOT,
  });
  expect(exitCode).toBe(0);
  return stdout.toString().split("\n").slice(0, -1);
}

test("no terminal acts on what others wrote, and JSON stays JSON", () => {
  const value = { code: "a", note: HOSTILE, case: { notes: [HOSTILE] } };
  const [line = "", ...others] = linesOf(`printJson(${JSON.stringify(value)});`);
  expect(others).toEqual([]);
  expect(JSON.parse(line)).toEqual(value);
  expect(line).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
});
