import { afterEach, expect, spyOn, test } from "bun:test";

import { printRow, printRows, type Row } from "../src/cli/print.ts";

let lines: string[] = [];
const log = spyOn(console, "log").mockImplementation((line: string) => void lines.push(line));
afterEach(() => {
  lines = [];
});

/** A title, a colour, a C1 control and a reversal, as terminals understand them. */
const HOSTILE = "\u001b]0;title\u0007\u001b[31m\u009b2J\u202ered\nnext";

test("no terminal acts on what others wrote, and JSON stays JSON", () => {
  const row = { code: "a", note: HOSTILE, case: { notes: [HOSTILE] } };
  printRow(row, false);
  printRows([row], ["code", "note", "case"], false);
  expect(lines).toHaveLength(5);
  printRow(row, true);
  printRows([row], ["code"], true);
  const [one, other] = lines.slice(-2);
  expect([JSON.parse(one ?? ""), JSON.parse(other ?? "")]).toEqual([row, row]);
  expect(lines.join("")).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
});

test("a million rows can be printed", () => {
  const rows: Row[] = Array.from({ length: 1_000_000 }, () => ({ code: "a" }));
  printRows(rows, ["code"], false);
  expect(lines).toHaveLength(rows.length + 1);
  log.mockRestore();
});
