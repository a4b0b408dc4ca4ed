import { expect, test } from "bun:test";
import { chownSync, lstatSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { ROOT, temporaryFolder } from "../support/service.ts";

const ID = 65532;

/** Returns who a process is after it became the user of the image, or what it reported. */
async function becomeImageUser(env: Record<string, string>, wrapper: readonly string[] = []) {
  const script = `
    const { becomeImageUser } = await import("${ROOT}/src/config/image-user.ts");
    becomeImageUser(process.env);
    const group = process.getgid();
    const others = process.getgroups().filter((id) => id !== group);
    console.log(JSON.stringify({ user: process.getuid(), group, others }));`;
  const child = Bun.spawn([...wrapper, process.execPath, "-e", script], {
    env,
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return stdout === "" ? stderr : (JSON.parse(stdout) as unknown);
}

const owner = (path: string) => lstatSync(path).uid;

test("outside the image, the user stays the same", async () => {
  using folder = temporaryFolder();
  expect(await becomeImageUser({ DATA_DIR: folder.path })).toMatchObject({
    user: process.getuid?.(),
    group: process.getgid?.(),
  });
  expect(owner(folder.path)).toBe(process.getuid?.() ?? -1);
});

// Only root may become another user.
if (process.getuid?.() === 0) {
  test("root gives the data folder to the user of the image with all that is in it, and becomes that user", async () => {
    using outside = temporaryFolder();
    using folder = temporaryFolder();
    mkdirSync(join(folder.path, "curt-visits/old"), { recursive: true });
    symlinkSync(outside.path, join(folder.path, "link"));
    expect(await becomeImageUser({ IMAGE_USER: `${ID}`, DATA_DIR: folder.path })).toEqual({
      user: ID,
      group: ID,
      others: [],
    });
    for (const path of ["", "curt-visits", "curt-visits/old", "link"])
      expect([path, owner(join(folder.path, path))]).toEqual([path, ID]);
    expect(owner(outside.path)).toBe(0);
  });

  test("a data folder that belongs to the user of the image stays as it is, and a missing one is created", async () => {
    using folder = temporaryFolder();
    chownSync(folder.path, ID, ID);
    mkdirSync(join(folder.path, "backups"));
    expect(await becomeImageUser({ IMAGE_USER: `${ID}`, DATA_DIR: folder.path })).toEqual({
      user: ID,
      group: ID,
      others: [],
    });
    expect(owner(join(folder.path, "backups"))).toBe(0);
    await becomeImageUser({ IMAGE_USER: `${ID}`, DATA_DIR: join(folder.path, "new") });
    expect(owner(join(folder.path, "new"))).toBe(ID);
  });

  test("a container that was started as another user keeps it", async () => {
    using folder = temporaryFolder();
    const asOther = ["setpriv", "--reuid=4711", "--regid=4711", "--clear-groups"];
    expect(await becomeImageUser({ IMAGE_USER: `${ID}`, DATA_DIR: folder.path }, asOther)).toMatchObject({
      user: 4711,
    });
    expect(owner(folder.path)).toBe(0);
  });

  test("without the capabilities to change the user, the reason and a way out are reported", async () => {
    using folder = temporaryFolder();
    const without = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"];
    expect(await becomeImageUser({ IMAGE_USER: `${ID}`, DATA_DIR: folder.path }, without)).toContain(
      "--user 65532:65532, or with the capabilities CHOWN, SETGID and SETUID",
    );
  });
}
