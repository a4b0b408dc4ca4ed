import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { PROGRAM, startProgram, temporaryFolder, type Program } from "../support/service.ts";

const EVENTS = { EVENTS_URL: "http://localhost:9", EVENTS_FORMAT: "text", EVENTS_TYPES: "link.created" };
/** In seconds. Longer than `events` sleeps. */
const PROMPTLY_S = 4;

/** Runs a command in a real pipe to `reader`. The command starts once the reader is gone, or immediately. */
async function pipe(args: readonly string[], reader: string, curt: Program, errors = "2>&4") {
  const wait = reader === "true" ? "wait;" : "";
  // The reader of a named pipe can be waited for, unlike the last command of a pipeline.
  const script = `exec 3>&1 4>&2; mkfifo pipe; ${reader} < pipe & exec 5> pipe; ${wait} "$0" "$@" ${errors} >&5 5>&-; echo "exit $?" >&3`;
  using folder = temporaryFolder();
  const shell = Bun.spawn(
    ["timeout", String(PROMPTLY_S), "/bin/sh", "-c", script, process.execPath, PROGRAM, ...args],
    {
      cwd: folder.path,
      env: {
        ...process.env,
        DATABASE_URL: `sqlite:${curt.file}`,
        CURT_URL: curt.origin,
        ...EVENTS,
      },
      stdout: "pipe",
      stderr: "pipe",
    },
  );
  const [stdout, stderr] = await Promise.all([shell.stdout.text(), shell.stderr.text()]);
  const [shown = "", code = "none"] = stdout.split("exit ");
  return { shown, code: Number(code), stderr };
}

describe("a command whose reader has closed the pipe", () => {
  const startWithLink = async () => {
    const curt = await startProgram(EVENTS);
    curt.expectFaults();
    await curt.shorten({ original_url: "https://example.com/", custom_code: "one" });
    return curt;
  };

  test("ends without a complaint", async () => {
    await using curt = await startWithLink();
    for (const line of [
      "--help",
      "help settings",
      "info --help",
      "completion bash",
      "check",
      "events",
      "events --follow",
      "shorten https://example.com/",
      "info one",
      "info one --json",
      "stats one",
      "health",
      "backup copy.db",
      "trust-clock --yes",
    ])
      expect([line, await pipe(line.split(" "), "true", curt)]).toEqual([
        line,
        { shown: "", code: 141, stderr: "" },
      ]);
  });

  test("ends promptly while it waits for something to print", async () => {
    await using curt = await startWithLink();
    const { shown, code, stderr } = await pipe(["events", "--follow"], "head -n 1", curt);
    expect([shown, code, stderr]).toEqual([expect.stringContaining('"code":"one"'), 141, ""]);
  });

  test("complains if its output would be a file, which is incomplete", async () => {
    await using curt = await startWithLink();
    for (const line of ["export -", "export --format beacon -"]) {
      const { code, stderr } = await pipe(line.split(" "), "true", curt);
      expect([line, code]).toEqual([line, 1]);
      expect(stderr).toContain("curt: standard output is not complete: nobody reads it any more.\n");
    }
  });

  test("completes its file even if nobody reads its remarks", async () => {
    await using curt = await startWithLink();
    using folder = temporaryFolder();
    const file = join(folder.path, "export");
    expect((await pipe(["export", file], "true", curt, "2>&1")).code).toBe(0);
    expect(readFileSync(file, "utf8")).toContain('"kind":"end"');
  });
});
