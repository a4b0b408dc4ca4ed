import { expect, test } from "bun:test";

import { reportFaults } from "../src/faults.ts";
import { StoreMisplaced, StoreUnavailable } from "../src/links/store.ts";
import { createLog } from "../src/log.ts";

interface Line {
  readonly level: string;
  readonly msg: string;
  readonly times?: number;
  readonly reason?: string;
  readonly err: { readonly message: string };
}

function startReport(tellEveryMs: number) {
  const lines: Line[] = [];
  const write = (line: string) => lines.push(JSON.parse(line) as Line);
  const output = { isTTY: false, writableLength: 0, on() {}, write };
  const log = createLog("info", output as unknown as NodeJS.WriteStream);
  return { lines, report: reportFaults(log, tellEveryMs) };
}

const full = (nth: number) => Object.assign(new Error(`no space for ${nth}`), { code: "ENOSPC" });

test("the first fault of a kind is logged at once, and many of them are one line with their number", async () => {
  const { lines, report } = startReport(20);
  for (let nth = 0; nth < 20_000; nth++) report(full(nth));
  expect(lines).toMatchObject([{ level: "error", msg: "unexpected fault" }]);
  for (let patience = 100; lines.length < 2 && patience > 0; patience--) await Bun.sleep(10);
  expect(lines[1]).toMatchObject({
    level: "error",
    times: 19_999,
    err: { message: "no space for 19999" },
  });
  // Once it was quiet for a while, the next one is a first one again.
  await Bun.sleep(100);
  expect(lines).toHaveLength(2);
  report(full(0));
  expect(lines).toHaveLength(3);
});

test("each kind has its line, and the store's troubles have theirs", () => {
  const { lines, report } = startReport(60_000);
  for (let nth = 0; nth < 100; nth++) {
    report(full(nth));
    report(new TypeError("a bug"));
    report(new StoreUnavailable("busy"));
    report(new StoreMisplaced("gone"));
    report("a text");
  }
  expect(lines.map(({ level, msg }) => `${level}: ${msg}`)).toEqual([
    "error: unexpected fault",
    "error: unexpected fault",
    "warn: the store cannot answer",
    "error: the store cannot answer",
    "error: unexpected fault",
  ]);
});

test("trouble of the store is told with its causes, each once, and without a stack", () => {
  const { lines, report } = startReport(60_000);
  const refused = new StoreUnavailable("db1: refused", { cause: new Error("refused") });
  report(new StoreUnavailable("No server", { cause: refused }));
  expect(lines).toMatchObject([{ level: "warn", reason: "No server: db1: refused" }]);
  expect(JSON.stringify(lines)).not.toContain("faults.test.ts");
});

test("however many kinds there are, lines are bounded", () => {
  const { lines, report } = startReport(60_000);
  for (let nth = 0; nth < 10_000; nth++) report(Object.assign(new Error("odd"), { code: `E${nth}` }));
  expect(lines.length).toBeLessThan(100);
});
