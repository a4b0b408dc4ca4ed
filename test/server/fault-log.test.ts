import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";

import { createLog } from "../../src/lib/log.ts";
import { StoreMisplaced, StoreUnavailable } from "../../src/links/link-store.ts";
import { createFaultLog } from "../../src/server/fault-log.ts";
import { testOnLinux } from "../support/linux.ts";

interface Line {
  readonly level: string;
  readonly msg: string;
  readonly times?: number;
  readonly reason?: string;
  readonly err: { readonly message: string };
}

function openFaultLog(repeatEveryMs: number) {
  const lines: Line[] = [];
  const write = (line: string) => lines.push(JSON.parse(line) as Line);
  const output = { isTTY: false, writableLength: 0, on() {}, write };
  const log = createLog("info", output as unknown as NodeJS.WriteStream);
  return { lines, ...createFaultLog(log, repeatEveryMs) };
}

async function untilLines(lines: readonly Line[], count: number): Promise<void> {
  for (let patience = 500; lines.length < count && patience > 0; patience--) await Bun.sleep(10);
  expect(lines).toHaveLength(count);
}

const broken = (nth: number) => Object.assign(new Error(`cannot write ${nth}`), { code: "EIO" });

test("the first fault of a kind is logged immediately, repetitions as one line per interval with their number, and their end", async () => {
  const { lines, report } = openFaultLog(20);
  for (let nth = 0; nth < 20_000; nth++) report(broken(nth));
  expect(lines).toMatchObject([{ level: "error", msg: "unexpected fault" }]);
  await untilLines(lines, 3);
  expect(lines[1]).toMatchObject({
    level: "error",
    times: 19_999,
    err: { message: "cannot write 19999" },
  });
  expect(lines[2]).toMatchObject({
    level: "info",
    msg: "a repeated fault has stopped",
    reason: "cannot write 19999",
  });
  // The next one counts as a first one.
  report(broken(0));
  expect(lines).toHaveLength(4);
});

testOnLinux("a full disk is logged once as a warning without a stack, and counted by itself", async () => {
  const { lines, report, counts } = openFaultLog(60_000);
  const writers = [() => writeFileSync("/dev/full", "a"), () => writeFileSync("/dev/full", "b")];
  for (const write of writers)
    try {
      write();
    } catch (error) {
      report(error);
    }
  expect(lines).toMatchObject([
    { level: "warn", msg: "the disk is full", reason: expect.stringContaining("ENOSPC") },
  ]);
  expect(JSON.stringify(lines)).not.toContain("fault-log.test.ts");
  expect(counts).toEqual({ store: 0, disk: 2, other: 0 });
});

test("repetitions of a store's fault that aren't logged yet come before its all-clear, and none after it", async () => {
  const { lines, report, settleStore } = openFaultLog(20);
  for (let nth = 0; nth < 10; nth++) {
    report(new StoreUnavailable("away"));
    report(broken(nth));
  }
  settleStore();
  expect(lines).toMatchObject([
    { msg: "the store cannot answer" },
    { msg: "unexpected fault" },
    { msg: "the store cannot answer", times: 9 },
  ]);
  // The fault of the broken disk continues.
  await untilLines(lines, 5);
  expect(lines.slice(3)).toMatchObject([
    { msg: "unexpected fault", times: 9 },
    { msg: "a repeated fault has stopped" },
  ]);
});

test("faults that differ by class, code or place have their own first lines", () => {
  const { lines, report } = openFaultLog(60_000);
  for (let nth = 0; nth < 100; nth++) {
    report(broken(nth));
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

test("faults of the store are logged with each cause once, without a stack", () => {
  const { lines, report } = openFaultLog(60_000);
  const cause = new StoreUnavailable("db1: refused", { cause: new Error("refused") });
  report(new StoreUnavailable("No server", { cause }));
  expect(lines).toMatchObject([{ level: "warn", reason: "No server: db1: refused" }]);
  expect(JSON.stringify(lines)).not.toContain("fault-log.test.ts");
});

test("beyond 50 kinds of faults, all others share a line", () => {
  const { lines, report } = openFaultLog(60_000);
  for (let nth = 0; nth < 10_000; nth++) report(Object.assign(new Error("unusual"), { code: `E${nth}` }));
  expect(lines.length).toBeLessThan(100);
});
