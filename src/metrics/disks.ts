import { statfs } from "node:fs/promises";

import { newestBackupMs } from "../backup/backup-names.ts";
import type { Clock } from "../links/clock.ts";
import type { Value } from "./catalogue.ts";
import { inTime } from "./timeout.ts";
import { one } from "./values.ts";

export interface Space {
  readonly free: readonly Value[];
  readonly size: readonly Value[];
}

export async function spaceOf(holds: string, folder: string): Promise<Space> {
  const disk = await statfs(folder).catch(() => undefined);
  if (disk === undefined) return { free: [], size: [] };
  return {
    free: [one(disk.bavail * disk.bsize, { holds })],
    size: [one(disk.blocks * disk.bsize, { holds })],
  };
}

export interface BackupsOptions {
  readonly folder: string;
  /** Path of the SQLite file. */
  readonly path: string;
  readonly journalFolder: string;
  readonly clock: Pick<Clock, "nowMs">;
}

/** What `BACKUP_DIR` tells. It may be on another machine, which may not answer: it is asked once at a time. */
export function watchBackups({ folder, path, journalFolder, clock }: BackupsOptions) {
  let asked: Promise<Space & { readonly newestMs: number }> | undefined;

  async function ask() {
    const [space, newestMs] = await Promise.all([
      spaceOf("backups", folder),
      newestBackupMs(folder, { path, journalFolder }, clock.nowMs()).catch(() => 0),
    ]);
    return { ...space, newestMs };
  }

  return async () => {
    asked ??= ask().finally(() => {
      asked = undefined;
    });
    return (await inTime(asked)) ?? { free: [], size: [], newestMs: 0 };
  };
}
