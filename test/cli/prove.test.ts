import { describe, expect, test } from "bun:test";

import { run } from "./run.ts";

describe("curt prove", () => {
  test.each([
    [["--in", "/proc/none"], "/proc/none is no folder that can be written"],
    [
      ["--database", "sqlite:./curt.db"],
      "--database needs the URL of an empty PostgreSQL database, such as postgres://localhost/try",
    ],
  ])("refuses %p", async (args, reason) => {
    expect(await run(["prove", ...args])).toEqual({ code: 2, stdout: "", stderr: `curt: ${reason}\n` });
  });
});
