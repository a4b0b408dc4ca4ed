import { accessSync, constants } from "node:fs";
import { join } from "node:path";

import { reasonOf } from "../lib/error-reason.ts";
import { createFolder } from "../lib/files.ts";
import { type Config, ConfigError } from "./config.ts";

export const WRITABLE = constants.R_OK | constants.W_OK | constants.X_OK;
/** These mean a wrong setting. Other errors, such as a full disk, may be over soon. */
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

/** Creates DATA_DIR and BACKUP_DIR if necessary. Throws {@link ConfigError} if Curt cannot write to one of them. */
export function prepareFolders({ dataFolder, backupFolder }: Config): void {
  for (const [name, folder] of Object.entries({ DATA_DIR: dataFolder, BACKUP_DIR: backupFolder })) {
    if (folder === null) continue;
    try {
      createFolder(folder);
      accessSync(join(folder, "."), WRITABLE);
    } catch (failure) {
      const { code = "" } = ((failure as Error).cause ?? failure) as NodeJS.ErrnoException;
      if (SETTING_ERRORS.has(code))
        throw new ConfigError([
          `${name} must be a folder that Curt can write to, not ${folder}: ${reasonOf(failure)}`,
        ]);
    }
  }
}
