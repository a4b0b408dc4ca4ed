// Backups that Curt creates by itself. Each runs in its own process, so that it shares no thread with redirects, and a stop
// needn't wait for it.
import { accessSync, constants, existsSync, unlinkSync } from "node:fs";
import { dirname, join } from "node:path";

import { type Backups, backupsOf } from "../backup/backup-names.ts";
import { lockBackups } from "../backup/backup.ts";
import { type Config, ConfigError } from "../config/config.ts";
import { reasonOf } from "../lib/error-reason.ts";
import { createFolder } from "../lib/files.ts";
import type { Log } from "../lib/log.ts";
import { repeat } from "../lib/repeat.ts";
import { systemNowMs } from "./core.ts";
import { ownProgram } from "./process-pool.ts";

export const CHECK_EVERY_MS = 60_000;
/** After a failure: a backup may take long, and fail again. */
const TRY_AGAIN_MS = 3_600_000;
/** These mean a wrong setting. Other errors, such as a full disk, may be over by the next backup. */
const SETTING_ERRORS = new Set([
  "EACCES",
  "EPERM",
  "EROFS",
  "ENOENT",
  "ENOTDIR",
  "EEXIST",
  "ELOOP",
  "ENAMETOOLONG",
]);

/** Creates `BACKUP_DIR` if necessary. Throws {@link ConfigError} if Curt cannot write to it. */
export function prepareBackups({ backupFolder }: Config): void {
  if (backupFolder === null) return;
  try {
    createFolder(backupFolder);
    requireWritable(backupFolder);
  } catch (failure) {
    const error = (failure as Error).cause ?? failure;
    const { code = "" } = error as NodeJS.ErrnoException;
    if (SETTING_ERRORS.has(code))
      throw new ConfigError([
        `BACKUP_DIR must be a folder that Curt can write to, not ${backupFolder}: ${reasonOf(error)}`,
      ]);
  }
}

function requireWritable(folder: string): void {
  accessSync(join(folder, "."), constants.R_OK | constants.W_OK | constants.X_OK);
}

/**
 * Creates a backup whenever the newest one in `BACKUP_DIR` is older than `BACKUP_EVERY`. Returns a function that stops this, and a
 * backup in progress.
 */
export function startBackups(config: Config, log: Log): () => Promise<void> {
  const { backupFolder: folder } = config;
  if (folder === null || config.database.engine !== "sqlite") return async () => {};
  const place = { path: config.database.path, journalFolder: config.journalFolder };
  let backups: Backups | undefined;
  let tryAtMs = Number.NEGATIVE_INFINITY;
  let loggedReason: string | undefined;
  let endChild: (() => void) | undefined;
  let isStopping = false;

  async function runBackup(file: string): Promise<void> {
    const child = Bun.spawn([...ownProgram(), "backup", file], { stdio: ["ignore", "ignore", "pipe"] });
    endChild = () => child.kill("SIGKILL");
    const [code, output] = await Promise.all([child.exited, child.stderr.text()]);
    endChild = undefined;
    // Without the file's name, which contains the time, equal reasons are logged once.
    const reason = output
      .trim()
      .replace(/^curt: /, "")
      .replaceAll(file, `a backup in ${dirname(file)}`);
    if (code !== 0) throw new Error(reason || `its process ended with ${code}`);
  }

  /** Undefined if no backup is due, or if another process creates one. */
  function prepare(into: string, nowMs: number): Backups | undefined {
    using lock = lockBackups(config.journalFolder);
    if (lock === undefined) return undefined;
    backups ??= backupsOf(place);
    if (!isDue(backups, into, nowMs)) return undefined;
    backups.removeParts(into);
    return backups;
  }

  /** Backups dated in the future were created while the clock was wrong. */
  function isDue({ list, nameAt }: Backups, into: string, nowMs: number): boolean {
    const last = list(into).find((name) => name <= nameAt(nowMs));
    return last === undefined || last <= nameAt(nowMs - config.backupEveryMs);
  }

  async function backUp(into: string): Promise<void> {
    const nowMs = systemNowMs();
    if (isStopping || performance.now() < tryAtMs) return;
    // Somebody may have deleted the folder. If its parent is missing too, a disk isn't mounted, and this throws.
    if (!existsSync(into) && existsSync(dirname(into))) createFolder(into);
    requireWritable(into);
    if (backups !== undefined && !isDue(backups, into, nowMs)) return;
    // Otherwise another Curt with this store would start the same backup before the child locks it.
    using schedule = lockBackups(config.journalFolder, "schedule");
    const due = schedule && prepare(into, nowMs);
    if (due === undefined) return;
    tryAtMs = performance.now() + Math.min(config.backupEveryMs, TRY_AGAIN_MS);
    const name = due.nameAt(nowMs);
    await runBackup(join(into, name));
    tryAtMs = Number.NEGATIVE_INFINITY;
    if (loggedReason !== undefined) log.info("backups work again");
    loggedReason = undefined;
    log.info(
      { file: join(into, name), seconds: Math.round((systemNowMs() - nowMs) / 1000) },
      "a backup was created",
    );
    const all = due.list(into);
    // Backups dated in the future are older: the clock was wrong.
    const [later, others] = [all.filter((one) => one > name), all.filter((one) => one <= name)];
    for (const one of [...others, ...later].slice(config.backupKeep)) remove(join(into, one));
  }

  function remove(file: string): void {
    try {
      unlinkSync(file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
      log.warn(
        { file, reason: reasonOf(error) },
        "an old backup could not be deleted: delete it, or the disk fills",
      );
    }
  }

  function logFailure(error: unknown): void {
    const reason = reasonOf(error);
    if (isStopping || reason === loggedReason) return;
    loggedReason = reason;
    log.warn({ reason }, "a backup failed: Curt retries at least every hour");
  }

  try {
    requireWritable(folder);
  } catch (error) {
    logFailure(error);
  }
  const checking = repeat(CHECK_EVERY_MS, () => backUp(folder), logFailure);
  return async () => {
    isStopping = true;
    const wasMaking = endChild !== undefined;
    endChild?.();
    await checking.stop();
    try {
      if (wasMaking) backups?.removeParts(folder);
    } catch {
      // The folder is missing. The next backup removes them.
    }
  };
}
