// Backups that Curt makes by itself. Each is made by a process of its own, so that redirects share no thread with it
// and a stop need not wait for it.
import { accessSync, constants, existsSync, mkdirSync, unlinkSync } from "node:fs";
import { dirname, join } from "node:path";

import { type Backups, backupsOf } from "../backup/backup-names.ts";
import { lockBackups } from "../backup/backup.ts";
import { type Config, ConfigError } from "../config/config.ts";
import { reasonOf } from "../lib/error-reason.ts";
import type { Log } from "../lib/log.ts";
import { repeat } from "../lib/repeat.ts";
import { systemNowMs } from "./core.ts";
import { ownProgram } from "./own-program.ts";

const LOOK_EVERY_MS = 60_000;
/** What failed may take long, and fail again. */
const TRY_AGAIN_MS = 3_600_000;
/** The setting is wrong. Anything else, such as a full disk, may be over by the time of a backup. */
const WRONG = new Set(["EACCES", "EPERM", "EROFS", "ENOENT", "ENOTDIR", "EEXIST", "ELOOP", "ENAMETOOLONG"]);

/** Makes `BACKUP_DIR`, if it is not there. Throws {@link ConfigError} where Curt cannot write to it. */
export function prepareBackups({ backupFolder }: Config): void {
  if (backupFolder === null) return;
  try {
    mkdirSync(backupFolder, { recursive: true });
    requireWritable(backupFolder);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (WRONG.has(code))
      throw new ConfigError([
        `BACKUP_DIR must be a folder that Curt can write to, not ${backupFolder}: ${reasonOf(error)}`,
      ]);
  }
}

function requireWritable(folder: string): void {
  accessSync(join(folder, "."), constants.R_OK | constants.W_OK | constants.X_OK);
}

/**
 * Makes a backup whenever the newest one in `BACKUP_DIR` is older than `BACKUP_EVERY`. The function that it returns ends that,
 * and the backup that is being made.
 */
export function startBackups(config: Config, log: Log): () => Promise<void> {
  const { backupFolder: folder } = config;
  if (folder === null || config.database.engine !== "sqlite") return async () => {};
  const place = { path: config.database.path, journalFolder: config.journalFolder };
  let backups: Backups | undefined;
  let tryAtMs = Number.NEGATIVE_INFINITY;
  let toldReason: string | undefined;
  let endChild: (() => void) | undefined;
  let isStopping = false;

  async function make(file: string): Promise<void> {
    const child = Bun.spawn([...ownProgram(), "backup", file], { stdio: ["ignore", "ignore", "pipe"] });
    endChild = () => child.kill("SIGKILL");
    const [code, told] = await Promise.all([child.exited, child.stderr.text()]);
    endChild = undefined;
    // The name has the time in it, and each reason is told once.
    const reason = told
      .trim()
      .replace(/^curt: /, "")
      .replaceAll(file, `a backup in ${dirname(file)}`);
    if (code !== 0) throw new Error(reason || `its process ended with ${code}`);
  }

  /** Undefined if none is due, or if somebody else makes one. */
  function begin(into: string, nowMs: number): Backups | undefined {
    using lock = lockBackups(config.journalFolder);
    if (lock === undefined) return undefined;
    backups ??= backupsOf(place);
    if (!isDue(backups, into, nowMs)) return undefined;
    backups.removeParts(into);
    return backups;
  }

  /** Backups of a time to come were made while the clock was wrong. */
  function isDue({ list, nameAt }: Backups, into: string, nowMs: number): boolean {
    const last = list(into).find((name) => name <= nameAt(nowMs));
    return last === undefined || last <= nameAt(nowMs - config.backupEveryMs);
  }

  async function backUp(into: string): Promise<void> {
    const nowMs = systemNowMs();
    if (isStopping || performance.now() < tryAtMs) return;
    // While Curt runs, its folder may be deleted. Without its parent, a disk may have to be mounted again.
    if (!existsSync(into)) mkdirSync(into);
    requireWritable(into);
    if (backups !== undefined && !isDue(backups, into, nowMs)) return;
    // Another Curt of the same store would start the same backup before the process that makes it has locked it.
    using schedule = lockBackups(config.journalFolder, "schedule");
    const begun = schedule && begin(into, nowMs);
    if (begun === undefined) return;
    tryAtMs = performance.now() + Math.min(config.backupEveryMs, TRY_AGAIN_MS);
    const name = begun.nameAt(nowMs);
    await make(join(into, name));
    tryAtMs = Number.NEGATIVE_INFINITY;
    if (toldReason !== undefined) log.info("backups are made again");
    toldReason = undefined;
    log.info(
      { file: join(into, name), seconds: Math.round((systemNowMs() - nowMs) / 1000) },
      "a backup was made",
    );
    const all = begun.list(into);
    // Those of a time to come were made before, while the clock was wrong.
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

  function tell(error: unknown): void {
    const reason = reasonOf(error);
    if (isStopping || reason === toldReason) return;
    toldReason = reason;
    log.warn({ reason }, "a backup could not be made: Curt tries again, at least every hour");
  }

  try {
    requireWritable(folder);
  } catch (error) {
    tell(error);
  }
  const looking = repeat(LOOK_EVERY_MS, () => backUp(folder), tell);
  return async () => {
    isStopping = true;
    const wasMaking = endChild !== undefined;
    endChild?.();
    await looking.stop();
    try {
      if (wasMaking) backups?.removeParts(folder);
    } catch {
      // The folder is away. The next backup removes them.
    }
  };
}
