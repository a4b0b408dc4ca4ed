// Backups that Curt creates by itself. Each runs in its own process, so that it shares no thread with redirects, and a stop
// needn't wait for it. Nothing here blocks on BACKUP_DIR, which may be on a network that hangs.
import { access, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";

import { type Backups, backupsOf } from "../backup/backup-names.ts";
import { lockBackups } from "../backup/backup.ts";
import type { Config } from "../config/config.ts";
import { WRITABLE } from "../config/folders.ts";
import { reasonOf } from "../lib/error-reason.ts";
import { createFolder } from "../lib/files.ts";
import type { Log } from "../lib/log.ts";
import { repeat } from "../lib/repeat.ts";
import { systemNowMs } from "./core.ts";
import { ownProgram } from "./process-pool.ts";

export const CHECK_EVERY_MS = 60_000;
/** After a failure: a backup may take long, and fail again. */
const TRY_AGAIN_MS = 3_600_000;
const requireWritable = (folder: string) => access(join(folder, "."), WRITABLE);

/** Whether a path exists and can be reached. */
const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

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
  async function prepare(into: string, nowMs: number): Promise<Backups | undefined> {
    using lock = lockBackups(config.journalFolder);
    if (lock === undefined) return undefined;
    backups ??= backupsOf(place);
    if (!(await isDue(backups, into, nowMs))) return undefined;
    await backups.removeParts(into);
    return backups;
  }

  /** Backups dated in the future were created while the clock was wrong. */
  async function isDue({ list, nameAt }: Backups, into: string, nowMs: number): Promise<boolean> {
    const last = (await list(into)).find((name) => name <= nameAt(nowMs));
    return last === undefined || last <= nameAt(nowMs - config.backupEveryMs);
  }

  async function backUp(into: string): Promise<void> {
    const nowMs = systemNowMs();
    if (isStopping || performance.now() < tryAtMs) return;
    // Somebody may have deleted the folder. If its parent is missing too, a disk isn't mounted, and this throws.
    if (!(await exists(into)) && (await exists(dirname(into)))) createFolder(into);
    await requireWritable(into);
    if (backups !== undefined && !(await isDue(backups, into, nowMs))) return;
    // Otherwise another Curt with this store would start the same backup before the child locks it.
    using schedule = lockBackups(config.journalFolder, "schedule");
    const due = schedule && (await prepare(into, nowMs));
    if (due === undefined || isStopping) return;
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
    const all = await due.list(into);
    // Backups dated in the future are older: the clock was wrong.
    const [later, others] = [all.filter((one) => one > name), all.filter((one) => one <= name)];
    for (const one of [...others, ...later].slice(config.backupKeep)) await remove(join(into, one));
  }

  async function remove(file: string): Promise<void> {
    try {
      await unlink(file);
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

  requireWritable(folder).catch(logFailure);
  const checking = repeat(CHECK_EVERY_MS, () => backUp(folder), logFailure);
  return async () => {
    isStopping = true;
    const wasMaking = endChild !== undefined;
    endChild?.();
    const stopped = checking.stop();
    // A check may hang.
    if (!wasMaking) return;
    await stopped;
    try {
      await backups?.removeParts(folder);
    } catch {
      // The folder is missing. The next backup removes them.
    }
  };
}
