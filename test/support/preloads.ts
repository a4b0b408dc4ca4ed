// Modules that a program loads before it starts, so that a test decides when something happens in it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** What is held until the test ends it: the longest drain that can be set, so that nothing else waits for as long. */
export const HELD_DRAIN = { DRAIN_WAIT: "5m" };
const HELD_MS = 300_000;

/** A module that lets a held drain last until there is a file at `end`. */
export function drainsUntil(end: string, folder: string): string {
  const path = join(folder, "drain.ts");
  writeFileSync(
    path,
    `import { existsSync } from "node:fs";
     const sleep = Bun.sleep;
     Bun.sleep = async (ms) => {
       if (ms !== ${HELD_MS}) return sleep(ms);
       while (!existsSync(${JSON.stringify(end)})) await sleep(10);
     };`,
  );
  return path;
}

/** A module that shortens the rounds of the program that loads it. */
export function roundsOf(maxMs: number, folder: string): string {
  const path = join(folder, "rounds.ts");
  writeFileSync(
    path,
    `const every = setInterval;
     globalThis.setInterval = (job, ms, ...rest) => every(job, Math.min(ms, ${maxMs}), ...rest);`,
  );
  return path;
}
