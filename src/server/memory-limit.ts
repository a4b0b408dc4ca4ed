import { readFileSync } from "node:fs";
import { totalmem } from "node:os";

import type { Config } from "../config/config.ts";
import type { Log } from "../lib/log.ts";

/** The most that one was seen to take is 289 MB, with full tables. Blocklists come on top. */
const PROCESS_BYTES = 300 * 1024 * 1024;
const MIN_DESCRIPTORS = 4096;

/** Tells whoever starts Curt that the system gives it little, before visitors do. */
export function warnOfLittleRoom({ processes }: Pick<Config, "processes">, log: Log): void {
  const megabytes = (bytes: number) => Math.floor(bytes / 1024 / 1024);
  const neededBytes = processes * PROCESS_BYTES;
  // Of the container or the unit; the machine's where neither has a limit.
  const limitBytes = Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem());
  if (limitBytes < neededBytes)
    log.warn(
      { limitMb: megabytes(limitBytes), neededMb: megabytes(neededBytes) },
      "the limit of memory is low: the system may kill a process. Raise it, or lower PROCESSES",
    );
  const descriptors = mostDescriptors();
  if (descriptors < MIN_DESCRIPTORS)
    log.warn(
      { descriptors },
      "few connections are possible at a time, because each takes a file descriptor: raise ulimit -n (LimitNOFILE)",
    );
}

/** Bun raises the soft limit to the hard one. */
function mostDescriptors(): number {
  try {
    const [, hard = ""] =
      /^Max open files +\S+ +(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return hard === "unlimited" || hard === "" ? Number.POSITIVE_INFINITY : Number(hard);
  } catch {
    // Not Linux.
    return Number.POSITIVE_INFINITY;
  }
}
