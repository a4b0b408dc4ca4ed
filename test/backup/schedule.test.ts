import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

import { type Running, startProgram, temporaryFolder, untilLogged } from "../service.ts";
import { makeLargeStore, run } from "./run.ts";

const MADE = "a backup was made";
const SOON = { roundMs: 20 };

const linesWith = ({ logged }: Running, text: string) => logged.filter((line) => line.includes(text));

async function untilMade(curt: Running, times: number): Promise<void> {
  while (linesWith(curt, MADE).length < times) await Bun.sleep(10);
}

test("BACKUP_DIR gets backups, of which the newest stay, and nothing else in it is touched", async () => {
  using folder = temporaryFolder();
  const backups = join(folder.path, "backups");
  mkdirSync(backups);
  const others = ["curt-20200101T000000Z.db.txt", "curt-notes.db", "other-20200101T000000Z.db"];
  for (const name of others) writeFileSync(join(backups, name), "mine");
  // As Curt was killed while it made one.
  writeFileSync(join(backups, "curt-20200101T000000Z.db.part"), "");
  writeFileSync(join(backups, "curt-20200101T000000Z.db"), "old");
  await using curt = await startProgram(
    { BACKUP_DIR: backups, BACKUP_EVERY: "1s", BACKUP_KEEP: "2", PROCESSES: "2" },
    { folder: folder.path, ...SOON },
  );
  expect((await curt.shorten({ original_url: "https://example.com/" })).status).toBe(201);
  await untilMade(curt, 4);
  const files = linesWith(curt, MADE).map((line) => (JSON.parse(line) as { file: string }).file);
  // One process makes them.
  expect(new Set(files).size).toBe(files.length);
  const kept = readdirSync(backups).filter((name) => /^curt-\d{8}T\d{6}Z\.db$/.test(name));
  expect(kept.length).toBeLessThanOrEqual(3);
  for (const name of others) expect(readdirSync(backups)).toContain(name);
  expect(readdirSync(backups)).not.toContain("curt-20200101T000000Z.db.part");
  expect(readdirSync(backups)).not.toContain("curt-20200101T000000Z.db");
  const last = files.at(-1) ?? "";
  const to = `sqlite:${folder.path}/restored`;
  expect(await run(["restore", last, "--to", to])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(" has 1 link of "),
  });
});

test("backups of a time to come, when the clock was wrong, take no place of those that are made now", async () => {
  using folder = temporaryFolder();
  const backups = join(folder.path, "backups");
  mkdirSync(backups);
  const later = ["curt-20990101T000000Z.db", "curt-20990102T000000Z.db"];
  for (const name of later) writeFileSync(join(backups, name), "later");
  await using curt = await startProgram(
    { BACKUP_DIR: backups, BACKUP_EVERY: "1h", BACKUP_KEEP: "2" },
    { folder: folder.path, ...SOON },
  );
  await untilMade(curt, 1);
  // Fifty rounds.
  await Bun.sleep(1000);
  const files = linesWith(curt, MADE).map((line) => basename((JSON.parse(line) as { file: string }).file));
  expect(files).toHaveLength(1);
  expect(readdirSync(backups).toSorted()).toEqual([...files, "curt-20990102T000000Z.db"]);
});

test("a backup that is not due is not made", async () => {
  using folder = temporaryFolder();
  const settings = { BACKUP_DIR: join(folder.path, "backups"), BACKUP_EVERY: "1h" };
  const options = { folder: folder.path, ...SOON };
  {
    await using curt = await startProgram(settings, options);
    await untilMade(curt, 1);
  }
  await using curt = await startProgram(settings, options);
  // Fifty rounds.
  await Bun.sleep(1000);
  expect(linesWith(curt, MADE)).toEqual([]);
  expect(readdirSync(settings.BACKUP_DIR)).toHaveLength(1);
});

test("a backup that fails is told once, and again when they are made again", async () => {
  using folder = temporaryFolder();
  const backups = join(folder.path, "backups");
  writeFileSync(backups, "no folder");
  await using curt = await startProgram(
    { BACKUP_DIR: backups, BACKUP_EVERY: "1s" },
    { folder: folder.path, ...SOON },
  );
  await untilLogged(curt, "a backup could not be made");
  await Bun.sleep(1500);
  expect(linesWith(curt, "a backup could not be made")).toHaveLength(1);
  renameSync(backups, join(folder.path, "aside"));
  await untilLogged(curt, "backups are made again");
  await untilMade(curt, 1);
});

test("a stop waits for no backup, and leaves no part of one", async () => {
  using folder = temporaryFolder();
  const backups = join(folder.path, "backups");
  // Copying it takes a second or more.
  await makeLargeStore(join(folder.path, "curt.db"), 500_000);
  const curt = await startProgram({ BACKUP_DIR: backups }, { folder: folder.path, ...SOON });
  const parts = () => readdirSync(backups).filter((name) => name.endsWith(".part"));
  mkdirSync(backups, { recursive: true });
  while (!parts().some((name) => (statSync(join(backups, name), { throwIfNoEntry: false })?.size ?? 0) > 0))
    await Bun.sleep(1);
  await curt[Symbol.asyncDispose]();
  expect(await curt.exited).toBe(0);
  expect(readdirSync(backups)).toEqual([]);
  expect(linesWith(curt, MADE)).toEqual([]);
  expect(linesWith(curt, "a backup could not be made")).toEqual([]);
  rmSync(backups, { recursive: true });
});
