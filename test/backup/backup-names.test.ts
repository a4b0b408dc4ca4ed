import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { backupsOf, newestBackupMs } from "../../src/backup/backup-names.ts";
import { temporaryFolder } from "../support/service.ts";

const NOW = Date.UTC(2026, 10, 21);

test("the newest backup is the last one that isn't from the future", async () => {
  using folder = temporaryFolder();
  const [journalFolder, backups] = [join(folder.path, "visits"), join(folder.path, "backups")];
  for (const path of [journalFolder, backups]) mkdirSync(path);
  const store = { path: join(folder.path, "curt.db"), journalFolder };
  writeFileSync(store.path, "");
  const { nameAt } = backupsOf(store);
  const newest = () => newestBackupMs(backups, store, NOW);
  expect(await newest()).toBe(0);
  for (const ms of [NOW - 2000, NOW - 1000, NOW + 1000]) writeFileSync(join(backups, nameAt(ms)), "");
  expect(await newest()).toBe(NOW - 1000);
});
