import { expect, test } from "bun:test";

import { examineDisk } from "../../../src/cli/prove/disk.ts";
import { testOnLinux } from "../../support/linux.ts";
import { temporaryFolder } from "../../support/service.ts";

testOnLinux("examineDisk finds out that a disk in memory doesn't store what it is given", async () => {
  using folder = temporaryFolder("/dev/shm");
  expect(examineDisk(folder.path)).toMatchObject({ fileSystem: "tmpfs", isSyncing: false });
});

test("examineDisk leaves no file behind, and fails in a folder that isn't there", () => {
  using folder = temporaryFolder();
  examineDisk(folder.path);
  expect([...new Bun.Glob("*").scanSync(folder.path)]).toEqual([]);
  expect(() => examineDisk(`${folder.path}/none`)).toThrow("ENOENT");
});
