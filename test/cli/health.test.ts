import { describe, expect, test } from "bun:test";

import { startHere, startProgram } from "../service.ts";
import { run } from "./run.ts";

describe("curt health", () => {
  test("asks the server with the settings of its environment, or the one in CURT_URL", async () => {
    await using curt = await startHere({ HOST: "0.0.0.0" });
    const { port } = new URL(curt.origin);
    const ready = { code: 0, stdout: "ready\n", stderr: "" };
    for (const HOST of ["0.0.0.0", "127.0.0.1", ""])
      expect(await run(["health"], { HOST, PORT: port })).toEqual(ready);
    expect(await run(["health"], { PORT: "1", CURT_URL: curt.origin })).toEqual(ready);
  });

  test("fails while a server stops, and when there is none", async () => {
    const curt = await startProgram({ DRAIN_WAIT: "2m" });
    curt.expectFaults();
    curt.kill("SIGTERM");
    while ((await curt.fetch("/readyz")).status === 200) await Bun.sleep(10);
    const asked = { CURT_URL: curt.origin };
    const stopping = await run(["health"], asked);
    expect([stopping.code, stopping.stderr]).toEqual([
      1,
      `curt: not ready: ${curt.origin}/readyz answers 503\n`,
    ]);
    curt.kill("SIGTERM");
    await curt.exited;
    const gone = await run(["health"], asked);
    expect(gone.code).toBe(1);
    expect(gone.stderr).toStartWith(`curt: not ready: ${curt.origin}/readyz does not answer: `);
    expect((await run(["health"], { CURT_URL: "here" })).code).toBe(2);
  });
});
