import { setPriority } from "node:os";
import { resolve } from "node:path";

import { createBackup } from "../backup/backup.ts";
import { explained, type Progress } from "../backup/new-file.ts";
import { restoreBackup } from "../backup/restore.ts";
import { type Config, journalFolderOf } from "../config/config.ts";
import { databaseUrl } from "../config/database-url.ts";
import { escapeLine } from "../lib/log.ts";
import type { Arguments } from "./command.ts";
import { fail, note, plural, print } from "./terminal/print.ts";

const SHOW_EVERY_MS = 200;
/** Creates and redirects come first. */
const PRIORITY = 10;

/** Makes a backup of the store, which may be served meanwhile; returns the exit code. */
export async function backup(config: Config, { positionals: [file = ""] }: Arguments): Promise<number> {
  const { database, journalFolder } = config;
  if (database.engine !== "sqlite")
    return fail(
      "backup is only for SQLite. Back up PostgreSQL with pg_dump, or with pg_basebackup and WAL archiving, which can restore any " +
        "moment. docs/postgresql.md says how.",
      2,
    );
  setPriority(0, PRIORITY);
  const progress = showProgress();
  const links = await explained(file, () =>
    createBackup({ path: database.path, journalFolder, file, progress }),
  ).finally(progress.end);
  print(escapeLine(`${file} has ${plural(links, "link")}, was checked, and is on disk`));
  return 0;
}

/** Makes a store of a backup, where there is none; returns the exit code. */
export async function restore(
  config: Config,
  { positionals: [file = ""], options }: Arguments,
): Promise<number> {
  const to = typeof options["to"] === "string" ? databaseUrl.parse(options["to"]) : config.database;
  if (to === undefined) return fail(`--to must be ${databaseUrl.right}, not ${options["to"]}`, 2);
  if (to.engine !== "sqlite")
    return fail(
      `restore creates a SQLite store. To fill an empty PostgreSQL database with a backup: DATABASE_URL=sqlite:${file} curt export - | DATABASE_URL=postgres://… curt import -`,
      2,
    );
  const { path } = to;
  const journalFolder = journalFolderOf(to, config.dataFolder);
  const progress = showProgress();
  const { links, isCopy } = await explained(path, () =>
    restoreBackup({ file, path, journalFolder, progress }),
  ).finally(progress.end);
  if (isCopy)
    note(
      `${file} was not created by curt backup. If it was copied while Curt ran, the newest links and visits are missing.`,
    );
  print(escapeLine(`${resolve(path)} has ${plural(links, "link")} of ${file}, and was checked`));
  return 0;
}

/** On a terminal, a line that changes. */
function showProgress(): Progress & { end(): void } {
  const { isTTY } = process.stderr;
  const startedMs = performance.now();
  let shownMs = startedMs;
  let hasShown = false;
  function show(line: string): void {
    if (!isTTY) return;
    hasShown = true;
    process.stderr.write(`\r\u001b[K${line}`);
  }
  return {
    copied(bytes, ofBytes) {
      const nowMs = performance.now();
      if (nowMs - shownMs < SHOW_EVERY_MS) return;
      shownMs = nowMs;
      const perSecond = (bytes * 1000) / (nowMs - startedMs);
      const remainingSeconds = Math.ceil((ofBytes - bytes) / perSecond);
      show(
        `copied ${megabytes(bytes)} of ${megabytes(ofBytes)} MB, ${megabytes(perSecond)} MB/s, ${remainingSeconds} s left`,
      );
    },
    checking: () => show("checking"),
    end() {
      if (hasShown) process.stderr.write("\r\u001b[K");
    },
  };
}

function megabytes(bytes: number): string {
  return Math.round(bytes / 1e6).toLocaleString("en");
}
