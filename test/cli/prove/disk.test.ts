import { expect, test } from "bun:test";
import { accessSync, constants, mkdirSync } from "node:fs";
import { join } from "node:path";

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

function canMountFuse(): boolean {
  try {
    accessSync("/dev/fuse", constants.R_OK);
    return process.getuid?.() === 0 && Bun.which("fuse-overlayfs") !== null;
  } catch {
    return false;
  }
}

if (canMountFuse()) {
  test.each([
    // The kernel keeps writes until a sync, so that one takes as long as on a disk.
    ["volatile", false],
    ["noacl", true],
  ])("examineDisk finds out whether FUSE with %s passes syncs on", async (option, isSyncing) => {
    using folder = temporaryFolder();
    const [lower = "", upper = "", work = "", mount = ""] = ["lower", "upper", "work", "mount"].map(
      (name) => {
        mkdirSync(join(folder.path, name));
        return join(folder.path, name);
      },
    );
    const layers = `lowerdir=${lower},upperdir=${upper},workdir=${work}`;
    await Bun.$`fuse-overlayfs -o ${layers},${option} ${mount}`.quiet();
    try {
      expect(examineDisk(mount)).toMatchObject({ fileSystem: "fuse.fuse-overlayfs", isSyncing });
    } finally {
      await Bun.$`umount ${mount}`;
    }
  });
}
