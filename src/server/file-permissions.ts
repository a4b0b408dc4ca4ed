import { realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";

import type { Config } from "../config/config.ts";
import type { Log } from "../lib/log.ts";

/**
 * Warns of a store that somebody copied or opened to everybody on the machine. Its mode stays as it is, because whoever copies
 * the files elsewhere may do so as another user.
 */
export function warnOfReaders(database: Config["database"], log: Log): void {
  if (database.engine !== "sqlite") return;
  const { path: file } = database;
  if (!canOthersRead(file)) return;
  log.warn(
    { file },
    "every user of this machine can read the store, and the secret of the manage keys in it: run chmod o-rwx on the file, its -wal and its -shm",
  );
}

/** False if it was moved away just now. */
function canOthersRead(path: string): boolean {
  try {
    const file = realpathSync(path);
    return (statSync(file).mode & 0o006) !== 0 && canOthersEnter(dirname(file));
  } catch {
    return false;
  }
}

function canOthersEnter(folder: string): boolean {
  const isOpen = (statSync(folder).mode & 0o001) !== 0;
  return isOpen && (dirname(folder) === folder || canOthersEnter(dirname(folder)));
}
