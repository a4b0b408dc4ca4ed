// Modules that a program loads before it starts, so that a test decides when something happens in it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** The drain that a test holds: the longest that can be set, so that nothing else waits as long. */
export const HELD_DRAIN = { DRAIN_WAIT: "5m" };
const HELD_MS = 300_000;

/** Writes a module that lets a held drain last until there is a file at `end`. */
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

/** Writes a module that shortens the intervals of the program that loads it. */
export function roundsOf(maxMs: number, folder: string): string {
  const path = join(folder, "rounds.ts");
  writeFileSync(
    path,
    `const every = setInterval;
     globalThis.setInterval = (job, ms, ...rest) => every(job, Math.min(ms, ${maxMs}), ...rest);`,
  );
  return path;
}
