import { Database } from "bun:sqlite";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { openStore } from "../../src/store/open.ts";
import { isStopped } from "../support/processes.ts";
import { type Settings, PROGRAM } from "../support/service.ts";

/** Starts a command of the program, with options of Bun. */
export function start(args: readonly string[], settings: Settings = {}, options: readonly string[] = []) {
  return spawn([process.execPath, ...options, PROGRAM, ...args], settings);
}

function spawn(command: readonly string[], settings: Settings) {
  return Bun.spawn([...command], { env: { ...process.env, ...settings }, stdout: "pipe", stderr: "pipe" });
}

/** Starts a command that can't write files of more than `bytes`, as if the disk were full. Takes options of Bun. */
export function startWithRoom(
  bytes: number,
  args: readonly string[],
  settings: Settings,
  options: readonly string[] = [],
) {
  // A process that ignores SIGXFSZ sees EFBIG, which SQLite treats like a full disk.
  const limited = `trap '' XFSZ; ulimit -f ${Math.floor(bytes / 512)}; exec "$0" "$@"`;
  return spawn(["/bin/sh", "-c", limited, process.execPath, ...options, PROGRAM, ...args], settings);
}

export const runWithRoom = (bytes: number, args: readonly string[], settings: Settings) =>
  resultOf(startWithRoom(bytes, args, settings));

export async function resultOf(child: ReturnType<typeof start>) {
  const [code, stdout, stderr] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()]);
  return { code, stdout, stderr };
}

/** Number of links whose store is copied in several steps, with a pause after each. */
export const SEVERAL_STEPS = 15_000;

/**
 * Stops a backup in the middle, however fast the machine is: a program that is started with `options` stops itself in the
 * second pause of the copy.
 */
export function stopHalfway(folder: string) {
  const [module, marker] = [join(folder, "halfway.ts"), join(folder, "halfway")];
  writeFileSync(
    module,
    `import { writeFileSync } from "node:fs";
     const pause = Bun.sleepSync;
     let pauses = 0;
     Bun.sleepSync = (ms) => {
       if (++pauses === 2) {
         writeFileSync(${JSON.stringify(marker)}, String(process.pid), { flush: true });
         process.kill(process.pid, "SIGSTOP");
       }
       pause(ms);
     };`,
  );
  return {
    options: ["--preload", module],
    async untilStopped(): Promise<void> {
      // A signal that continues it is lost if it isn't stopped yet.
      const pid = () => (existsSync(marker) ? Number(readFileSync(marker, "utf8")) : 0);
      while (!isStopped(pid())) await Bun.sleep(5);
    },
  };
}

/** Creates a store of about 150 bytes per link. */
export async function createLargeStore(path: string, links: number): Promise<void> {
  await (await openStore({ engine: "sqlite", path })).close();
  using database = new Database(path);
  addLinks(database, 1, links);
}

/** Adds links with numbers from `first` on. */
export function addLinks(database: Database, first: number, links: number): void {
  database.run(
    `INSERT INTO links (code, original_url, created_ms)
     WITH RECURSIVE numbers (n) AS (SELECT ${first} UNION ALL SELECT n + 1 FROM numbers WHERE n < ${first + links - 1})
     SELECT 'made' || n, 'https://example.com/' || printf('%.100c', 'x') || n, 1000000 + n FROM numbers`,
  );
}
