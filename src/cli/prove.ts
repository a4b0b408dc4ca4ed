import { mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";

import { databaseUrl } from "../config/database-url.ts";
import { ownProgram } from "../server/process-pool.ts";
import { hasStore } from "../store/open.ts";
import type { Arguments, Environment } from "./command.ts";
import { type Disk, examineDisk } from "./prove/disk.ts";
import { NotStarted, playKillRounds, type Tally } from "./prove/kill-rounds.ts";
import { fail, plural, print } from "./terminal/print.ts";

/** In each store, so that the last one ends within a minute. */
const ROUNDS = 10;
/** All that a service needs from this environment. */
const PASSED_ON = ["PATH", "HOME", "TMPDIR"];
const INTERRUPTED = 130;

/**
 * Shows that confirmed links survive kill -9 in a temporary store on this disk, and whether the disk stores what Curt gives it.
 * Returns the exit code.
 */
export async function prove(environment: Environment, { options }: Arguments): Promise<number> {
  const { database } = options;
  const postgres = typeof database === "string" ? databaseUrl.parse(database) : undefined;
  if (database !== undefined && postgres?.engine !== "postgres")
    return fail(
      "--database needs the URL of an empty PostgreSQL database, such as postgres://localhost/try",
      2,
    );
  // Its tables would be in the way, and its links in danger.
  if (postgres !== undefined && (await hasStore(postgres)))
    return fail("--database has a store already: give an empty database", 2);
  const parent = resolve(String(options["in"] ?? (environment["DATA_DIR"] || ".")));
  const interruption = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => interruption.abort());
  const folder = createFolder(parent);
  if (folder === undefined) return fail(`${parent} is no folder that can be written`, 2);
  try {
    return await proveIn(folder, { environment, database, signal: interruption.signal });
  } catch (error) {
    if (interruption.signal.aborted) return INTERRUPTED;
    if (!(error instanceof NotStarted)) throw error;
    return fail(`the service did not start: ${error.message}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function createFolder(parent: string): string | undefined {
  try {
    return mkdtempSync(join(parent, "curt-prove-"));
  } catch {
    return undefined;
  }
}

interface Attempt {
  readonly environment: Environment;
  readonly database: string | boolean | undefined;
  readonly signal: AbortSignal;
}

async function proveIn(folder: string, { environment, database, signal }: Attempt): Promise<number> {
  const disk = examineDisk(folder);
  print(`disk: ${describeDisk(disk)}`);
  print(`Eight clients create links in ${folder}, and kill -9 ends Curt ${ROUNDS} times for each line.`);
  const passedOn = Object.fromEntries(PASSED_ON.map((name) => [name, environment[name] ?? ""]));
  const runs: readonly (readonly [string, Record<string, string>])[] = [
    ["one process", {}],
    ["two processes", { PROCESSES: "2" }],
    ...(typeof database === "string"
      ? [["PostgreSQL, two processes", { PROCESSES: "2", DATABASE_URL: database }] as const]
      : []),
  ];
  const tallies: Tally[] = [];
  for (const [nth, [title, own]] of runs.entries()) {
    const settings = {
      ...passedOn,
      DATA_DIR: join(folder, String(nth)),
      HOST: "127.0.0.1",
      POSTURE: "private",
      LOG_LEVEL: "error",
      ...own,
    };
    const tally = await playKillRounds({
      program: [...ownProgram(), "serve"],
      settings,
      rounds: ROUNDS,
      signal,
    });
    if (signal.aborted) return INTERRUPTED;
    print(`${title}: ${describeTally(tally)}`);
    for (const link of tally.lost) print(`  lost: ${link}`);
    tallies.push(tally);
  }
  const sum = (name: "confirmed" | "found") => tallies.reduce((total, tally) => total + tally[name], 0);
  const all = { confirmed: sum("confirmed"), found: sum("found") };
  print(describeTally(all));
  if (all.found < all.confirmed) return fail(`${plural(all.confirmed - all.found, "confirmed link")} lost`);
  return disk.isSyncing ? 0 : fail("a power cut can lose confirmed links on this disk");
}

function describeTally({ confirmed, found }: Pick<Tally, "confirmed" | "found">): string {
  return `${confirmed.toLocaleString("en")} confirmed, ${found.toLocaleString("en")} found`;
}

function describeDisk({ fileSystem = "a file system", commitMs, largeMs, isSyncing }: Disk): string {
  const times = `${fileSystem} stores 4 KiB in ${milliseconds(commitMs)} and 16 MiB in ${milliseconds(largeMs)}`;
  return isSyncing ? times : `${times}. No disk is that fast: it only keeps them in memory`;
}

function milliseconds(ms: number): string {
  return `${ms.toLocaleString("en", { maximumSignificantDigits: 2 })} ms`;
}
