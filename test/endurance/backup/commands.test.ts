import { expect, test } from "bun:test";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

import { createLargeStore, SEVERAL_STEPS, start, stopHalfway } from "../../backup/interruptions.ts";
import { runCommand as run } from "../../cli/commands.ts";
import { temporaryFolder } from "../../support/service.ts";

test("a killed backup leaves nothing that can be restored, and the next one cleans up", async () => {
  using folder = temporaryFolder();
  using beside = temporaryFolder();
  const [path, file] = [join(folder.path, "curt.db"), join(folder.path, "file")];
  const settings = { DATABASE_URL: `sqlite:${path}` };
  await createLargeStore(path, SEVERAL_STEPS);
  const halfway = stopHalfway(beside.path);
  const child = start(["backup", file], settings, halfway.options);
  await halfway.untilStopped();
  expect(statSync(`${file}.part`).size).toBeGreaterThan(0);
  // Only one backup runs at a time.
  const second = await run(["backup", join(folder.path, "second")], settings);
  expect(second.stderr).toBe(`curt: Another backup of ${path} is running. Wait for it.\n`);
  child.kill("SIGKILL");
  await child.exited;
  expect(existsSync(file)).toBe(false);
  const restored = await run(["restore", `${file}.part`, "--to", `sqlite:${folder.path}/restored`]);
  expect([restored.code, existsSync(join(folder.path, "restored"))]).toEqual([1, false]);
  expect(await run(["backup", file], settings)).toMatchObject({ code: 0 });
  expect(
    readdirSync(folder.path)
      .filter((name) => !/-(wal|shm|visits)$/.test(name))
      .toSorted(),
  ).toEqual(["curt.db", "file"]);
});
