import { expect, test } from "bun:test";
import { join } from "node:path";

import { requireCommitted } from "../../../scripts/release.ts";
import { temporaryFolder } from "../../support/service.ts";

// Needs git, like a release.
test("a release is refused if the tag would lack a file that its tests had", async () => {
  using folder = temporaryFolder();
  Bun.spawnSync(["git", "init", "--quiet"], { cwd: folder.path });
  expect(() => requireCommitted(folder.path)).not.toThrow();
  await Bun.write(join(folder.path, "new.ts"), "");
  expect(() => requireCommitted(folder.path)).toThrow("?? new.ts");
});
