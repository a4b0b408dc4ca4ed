import { expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";

import { testOnLinux } from "../linux.ts";
import { type Program, startProgram } from "../service.ts";

const LINES = 20_000;
const LINE_BYTES = 8000;
/** Most of it is what the engine has not collected yet. A service that held all lines and results would need twice as much as was sent. */
const MAX_GROWTH_BYTES = 1.5 * LINES * LINE_BYTES;

function memory({ pid }: Program, name: "VmRSS" | "VmHWM"): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) * 1024;
}

async function send(program: Program, count: number): Promise<number> {
  let nth = 0;
  const body = new ReadableStream<string>({
    pull(controller) {
      const line = JSON.stringify({
        original_url: `https://example.com/${nth}?${"x".repeat(LINE_BYTES - 60)}`,
      });
      controller.enqueue(`${line}\n`);
      if (++nth === count) controller.close();
    },
  });
  const response = await program.fetch("/api/v1/shorten/batch", {
    method: "POST",
    headers: { "Content-Type": "application/x-ndjson" },
    body: body.pipeThrough(new TextEncoderStream()),
  });
  let made = 0;
  let rest = "";
  for await (const text of (response.body ?? new Blob().stream()).pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    made += lines.filter((line) => line.startsWith('{"status_code":201,')).length;
  }
  return made;
}

testOnLinux(`${LINES} lines take no more memory than some hundred`, async () => {
  await using program = await startProgram(
    {},
    { command: [process.execPath, "--smol", "src/main.ts", "serve"] },
  );
  expect(await send(program, 2000)).toBe(2000);
  const before = memory(program, "VmRSS");
  // Begins to look for the peak anew.
  writeFileSync(`/proc/${program.pid}/clear_refs`, "5");
  expect(await send(program, LINES)).toBe(LINES);
  const grown = memory(program, "VmHWM") - before;
  console.log(
    `${LINES} lines of ${LINE_BYTES} bytes: memory grew by ${Math.round(grown / 1e6)} MB at its peak`,
  );
  expect(grown).toBeLessThan(MAX_GROWTH_BYTES);
});
