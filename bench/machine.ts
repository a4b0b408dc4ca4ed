import { readFileSync, statfsSync } from "node:fs";
import { release } from "node:os";

import { nginx } from "./nginx.ts";
import { PINNED } from "./processes.ts";

/** TMPFS_MAGIC (statfs(2)): files in memory, where a sync costs nothing and proves nothing. */
const TMPFS = 0x01021994;

/** What has to be known of a machine to read its figures. `folder` is where the database is. */
export function describeMachine(folder: string) {
  const cpuinfo = readFileSync("/proc/cpuinfo", "utf8");
  return {
    cpu: /^model name\s*: (.*)$/m.exec(cpuinfo)?.[1] ?? "unknown",
    cores: navigator.hardwareConcurrency,
    pinned: PINNED,
    kernel: release(),
    databaseInMemory: statfsSync(folder).type === TMPFS,
    bun: Bun.version,
    nginx: nginx === null ? undefined : versionIn(nginx, "-v", /nginx\/([\d.]+)/),
    wrk: versionIn("wrk", "-v", /wrk (?:debian\/)?([\d.]+)/),
  };
}

export type Machine = ReturnType<typeof describeMachine>;

export function describeCommit(): { commit: string; changed: boolean } {
  return { commit: git("rev-parse", "--short", "HEAD"), changed: git("status", "--porcelain", "src") !== "" };
}

function git(...args: string[]): string {
  const { success, stdout } = Bun.spawnSync(["git", "-C", import.meta.dir, ...args], { stderr: "ignore" });
  return success ? stdout.toString().trim() : "unknown";
}

function versionIn(program: string, option: string, version: RegExp): string | undefined {
  if (Bun.which(program) === null) return undefined;
  const { stdout, stderr } = Bun.spawnSync([program, option]);
  return version.exec(`${stdout.toString()}${stderr.toString()}`)?.[1];
}
