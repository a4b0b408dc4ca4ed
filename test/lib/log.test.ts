import { expect, test } from "bun:test";

import { createLog, withoutQuery } from "../../src/lib/log.ts";

function logTo(output: { isTTY: boolean; columns?: number; writableLength?: number }) {
  const lines: string[] = [];
  const stream = { writableLength: 0, ...output, on() {}, write: (line: string) => lines.push(line) };
  return { log: createLog("info", stream as unknown as NodeJS.WriteStream), lines };
}

const NASTY = "a\u0000b\nc\u001B[2Jd\u007Fe\u009Bf\u202Eg\u2066h\u2028i\u200Fj";

test("a line of JSON represents any text without control characters of terminals", () => {
  const { log, lines } = logTo({ isTTY: false });
  log.info({ code: NASTY }, NASTY);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toEndWith("\n");
  expect(lines[0]?.trimEnd()).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ level: "info", code: NASTY, msg: NASTY });
});

test("on a terminal, lines are readable and contain no control characters", () => {
  const { log, lines } = logTo({ isTTY: true, columns: 200 });
  log.info("Curt listens");
  log.warn({ purged: 3, path: NASTY }, NASTY);
  expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d Curt listens\n$/);
  expect(lines[1]).toMatch(/^\d\d:\d\d:\d\d warn: a.*j \(purged: 3, path: a.*j\)\n$/);
  for (const line of lines) expect(line.trimEnd()).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u);
});

test("a failed import is logged with its message", async () => {
  const { log, lines } = logTo({ isTTY: false });
  const missing = "./missing.ts";
  log.error({ err: await import(missing).catch((error: unknown) => error) }, "unexpected fault");
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    err: { type: "ResolveMessage", message: expect.stringContaining("missing.ts") },
  });
});

test("on a terminal, long lines break at spaces, and errors have an indented stack", () => {
  const { log, lines } = logTo({ isTTY: true, columns: 40 });
  log.info("a blocklist is too long: the rest of it was not read");
  expect(lines[0]?.slice(9)).toBe("a blocklist is too long: the\n         rest of it was not read\n");
  log.error({ err: new Error("broken\n12:00:00 Curt listens"), times: 2 }, "unexpected fault");
  const [first = "", ...rest] = lines[1]?.trimEnd().split("\n") ?? [];
  expect(first.slice(9)).toBe("error: unexpected fault (times:");
  expect(rest.slice(0, 3)).toEqual(
    ["2)", "Error: broken", "12:00:00 Curt listens"].map((text) => `         ${text}`),
  );
  expect(rest[3]).toMatch(/^ {9}at /);
  for (const line of rest) expect(line).toStartWith("         ");
});

test("on a terminal, thrown values of any type are readable", () => {
  const { log, lines } = logTo({ isTTY: true });
  for (const err of ["text", undefined, null, { code: 3 }]) log.error({ err }, "unexpected fault");
  const details = lines.map((line) => line.slice("12:00:00 error: unexpected fault".length).trimEnd());
  expect(details).toEqual([" (err: text)", "", " (err: null)", ' (err: {"code":3})']);
});

test("a stalled reader loses lines and costs no memory", () => {
  const { log, lines } = logTo({ isTTY: false, writableLength: 2 * 1024 * 1024 });
  log.info("lost");
  expect(lines).toEqual([]);
});

test("a target is logged without its query and fragment", () => {
  expect(withoutQuery("https://example.com/a?secret=1#x")).toBe("https://example.com/a");
  expect(withoutQuery("https://example.com/a#secret")).toBe("https://example.com/a");
});
