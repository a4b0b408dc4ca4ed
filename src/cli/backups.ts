// Backups that Curt makes by itself. Each is made by a process of its own, so that redirects share no thread with it
// and a stop need not wait for it.
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { basename, extname, join } from "node:path";

import { lockBackups } from "../backup/make.ts";
import type { Config } from "../config.ts";
import { systemNowMs } from "../core.ts";
import type { Log } from "../log.ts";
import { repeat } from "../repeat.ts";
import { ownProgram } from "./program.ts";

const LOOK_EVERY_MS = 60_000;
/** What failed may take long, and fail again. */
const TRY_AGAIN_MS = 3_600_000;

/**
 * Makes a backup whenever the newest one in `BACKUP_DIR` is older than `BACKUP_EVERY`. The function that it returns ends that,
 * and the backup that is being made.
 */
export function startBackups(config: Config, log: Log): () => Promise<void> {
  const { backupFolder } = config;
  if (backupFolder === null || config.database.engine !== "sqlite") return async () => {};
  const names = namesFor(config.database.path);
  let tryAtMs = Number.NEGATIVE_INFINITY;
  let toldReason: string | undefined;
  let endChild: (() => void) | undefined;
  let isStopping = false;

  async function make(file: string): Promise<void> {
    const child = Bun.spawn([...ownProgram(), "backup", file], { stdio: ["ignore", "ignore", "pipe"] });
    endChild = () => child.kill("SIGKILL");
    const [code, told] = await Promise.all([child.exited, child.stderr.text()]);
    endChild = undefined;
    if (code !== 0) throw new Error(told.trim().replace(/^curt: /, "") || `its process ended with ${code}`);
  }

  function list(folder: string, isWanted: (name: string) => boolean): string[] {
    return readdirSync(folder).filter(isWanted).toSorted().toReversed();
  }

  function remove(folder: string, unwanted: readonly string[]): void {
    for (const name of unwanted) rmSync(join(folder, name), { recursive: true, force: true });
  }

  async function backUp(folder: string): Promise<void> {
    const nowMs = systemNowMs();
    if (isStopping || performance.now() < tryAtMs) return;
    mkdirSync(folder, { recursive: true });
    // Those of a time to come were made while the clock was wrong.
    const last = list(folder, names.isBackup).find((name) => name <= names.at(nowMs));
    if (last !== undefined && last > names.at(nowMs - config.backupEveryMs)) return;
    if (isBeingMade(config.journalFolder)) return;
    tryAtMs = performance.now() + Math.min(config.backupEveryMs, TRY_AGAIN_MS);
    remove(folder, list(folder, names.isPart));
    const name = names.at(nowMs);
    await make(join(folder, name));
    tryAtMs = Number.NEGATIVE_INFINITY;
    if (toldReason !== undefined) log.info("backups are made again");
    toldReason = undefined;
    log.info(
      { file: join(folder, name), seconds: Math.round((systemNowMs() - nowMs) / 1000) },
      "a backup was made",
    );
    const all = list(folder, names.isBackup);
    // Those of a time to come were made before, while the clock was wrong.
    const [later, others] = [all.filter((one) => one > name), all.filter((one) => one <= name)];
    remove(folder, [...others, ...later].slice(config.backupKeep));
  }

  function tell(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    if (isStopping || reason === toldReason) return;
    toldReason = reason;
    log.warn({ reason }, "a backup could not be made: Curt tries again, at least every hour");
  }

  const looking = repeat(LOOK_EVERY_MS, () => backUp(backupFolder), tell);
  return async () => {
    isStopping = true;
    const wasMaking = endChild !== undefined;
    endChild?.();
    await looking.stop();
    if (wasMaking) remove(backupFolder, list(backupFolder, names.isPart));
  };
}

/** By somebody else, such as another Curt of the same store. */
function isBeingMade(journalFolder: string): boolean {
  const lock = lockBackups(journalFolder);
  lock?.[Symbol.dispose]();
  return lock === undefined;
}

/** Names are in the order of their times (UTC). */
function namesFor(path: string) {
  const stem = `${basename(path, extname(path))}-`;
  const isOurs = (name: string, end: RegExp) => name.startsWith(stem) && end.test(name.slice(stem.length));
  return {
    at: (ms: number) => `${stem}${new Date(ms).toISOString().replace(/[-:]|\.\d+/g, "")}.db`,
    isBackup: (name: string) => isOurs(name, /^\d{8}T\d{6}Z\.db$/),
    isPart: (name: string) => isOurs(name, /^\d{8}T\d{6}Z\.db\.part(-\w+)?$/),
  };
}
