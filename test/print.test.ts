import { expect, test } from "bun:test";

import { ROOT } from "./service.ts";

/** A title, a colour, a C1 control and a reversal, as terminals understand them. */
const HOSTILE = "\u001b]0;title\u0007\u001b[31m\u009b2J\u202ered\nnext";

/** The lines that a program prints. */
function linesOf(program: string): string[] {
  const imports = 'import { printRow, printRows } from "./src/cli/print.ts";';
  const { stdout, exitCode } = Bun.spawnSync([process.execPath, "-e", `${imports} ${program}`], {
    cwd: ROOT,
  });
  expect(exitCode).toBe(0);
  return stdout.toString().split("\n").slice(0, -1);
}

test("no terminal acts on what others wrote, and JSON stays JSON", () => {
  const row = { code: "a", note: HOSTILE, case: { notes: [HOSTILE] } };
  const lines = linesOf(`const row = ${JSON.stringify(row)};
    printRow(row, false);
    printRows([row], ["code", "note", "case"], false);
    printRow(row, true);
    printRows([row], ["code"], true);`);
  expect(lines).toHaveLength(7);
  const [one, other] = lines.slice(-2);
  expect([JSON.parse(one ?? ""), JSON.parse(other ?? "")]).toEqual([row, row]);
  expect(lines.join("")).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
});

test("a million rows can be printed", () => {
  const lines = linesOf(
    'printRows(Array.from({ length: 1_000_000 }, () => ({ code: "a" })), ["code"], false);',
  );
  expect(lines).toHaveLength(1_000_001);
});
