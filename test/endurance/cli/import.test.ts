import { expect, test } from "bun:test";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { manyLines } from "../../cli/export-file.ts";
import { run } from "../../cli/run.ts";
import { temporaryFolder, PROGRAM } from "../../support/service.ts";

const settingsFor = (path: string) => ({ DATABASE_URL: `sqlite:${path}`, PORT: "1" });

test("a killed import leaves the store empty, and can be repeated", async () => {
  using folder = temporaryFolder();
  const [file, path] = [join(folder.path, "export"), join(folder.path, "curt.db")];
  writeFileSync(file, manyLines(60_000));
  const killed = Bun.spawn([process.execPath, PROGRAM, "import", "--new", file], {
    env: { ...process.env, ...settingsFor(path) },
  });
  const log = () => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  while (log() < 2_000_000 && killed.exitCode === null) await Bun.sleep(1);
  killed.kill("SIGKILL");
  await killed.exited;
  expect(killed.signalCode).toBe("SIGKILL");
  expect(await run(["check"], settingsFor(path))).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("0 links"),
  });
  const stdout = "60,000 links, 60,000 days of visits, 0 secrets, 0 host rules, 9 journal";
  expect(await run(["import", "--new", file], settingsFor(path))).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(stdout),
  });
  expect((await run(["export", "-"], settingsFor(path))).stdout).toBe(readFileSync(file, "utf8"));
  expect(await run(["import", "--new", file], settingsFor(path))).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("0 of 60,000 links added, with 0 visits; 60,000 already there"),
  });
  expect((await run(["export", "-"], settingsFor(path))).stdout).toBe(readFileSync(file, "utf8"));
});
