import { expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { readConfig } from "../../../src/config/config.ts";
import { createLargeStore } from "../../backup/interruptions.ts";
import { ROOT, temporaryFolder, PROGRAM } from "../../support/service.ts";

/** Commands of programs that aren't installed. */
const OTHERS = /^(litestream|pg_dump|pg_restore|psql) /m;
const SERVE = /^(?:env -i )?(?:\w+=\S+ )+curt serve$/gm;

test("the commands of docs/backup.md create, check and restore backups", async () => {
  using folder = temporaryFolder();
  const here = (name: string) => join(folder.path, name);
  for (const name of ["bin", "backup", "elsewhere", "data"]) mkdirSync(here(name));
  writeFileSync(here("bin/curt"), `#!/bin/sh\nexec ${process.execPath} ${PROGRAM} "$@"\n`);
  chmodSync(here("bin/curt"), 0o755);
  await createLargeStore(here("data/curt.db"), 10);

  const text = readFileSync(join(ROOT, "docs/backup.md"), "utf8");
  const blocks = [...text.matchAll(/```sh\n([\s\S]+?)```/g)].map(([, block = ""]) => block);
  const runnable = blocks.filter((block) => !OTHERS.test(block));
  expect(runnable).toHaveLength(7);
  for (const block of runnable) {
    for (const [line] of block.matchAll(SERVE)) {
      const settings = line.split(" ").flatMap((part) => (part.includes("=") ? [part.split("=", 2)] : []));
      readConfig(Object.fromEntries(settings) as Record<string, string>);
    }
    // The text says so before the block.
    if (block.startsWith("curt restore")) renameSync(here("data"), here("old"));
    if (block.includes("/tmp/trial")) {
      mkdirSync(here("data/curt.db-visits"));
      writeFileSync(here("data/curt.db-visits/1.visits"), "of the store that serves");
    }
    const commands = block
      .replaceAll(SERVE, "")
      .replaceAll("/mnt/elsewhere", here("elsewhere"))
      .replaceAll("/backup", here("backup"))
      .replaceAll("/tmp/trial", here("trial"));
    const child = Bun.spawn(["sh", "-ec", commands], {
      env: {
        ...process.env,
        PATH: `${here("bin")}:${process.env["PATH"]}`,
        DATA_DIR: here("data"),
      },
      stdout: "pipe",
      stderr: "pipe",
    });
    const [code, stdout, stderr] = await Promise.all([
      child.exited,
      child.stdout.text(),
      child.stderr.text(),
    ]);
    expect([commands, code, stderr]).toEqual([commands, 0, ""]);
    expect(stdout).not.toContain("no backup");
  }
  for (const path of ["data/curt.db", "trial/curt.db", "backup/monday.db"])
    expect(existsSync(here(path))).toBe(true);
});
