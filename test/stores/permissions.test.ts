import { expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { openStore } from "../../src/store/open.ts";
import { PROGRAM, startProgram, temporaryFolder } from "../support/service.ts";
import { visit } from "../visits/visits.ts";

const OPEN_TO_ALL = "every user of this machine can read the store";

/** A command that starts the program with this umask. */
function curtWith(umask: string, ...args: string[]): string[] {
  return ["sh", "-c", `umask ${umask}; exec "$0" "$@"`, process.execPath, PROGRAM, ...args];
}

function curt(umask: string, args: string[], settings: Record<string, string>): void {
  const { exitCode, stderr } = Bun.spawnSync(curtWith(umask, ...args), {
    env: { ...process.env, ...settings },
  });
  expect([args, exitCode, stderr.toString()]).toEqual([args, 0, expect.any(String)]);
}

function allIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" });
}

function openToOthers(folder: string): string[] {
  // A program that runs also deletes files.
  const modeOf = (name: string) => lstatSync(join(folder, name), { throwIfNoEntry: false })?.mode ?? 0;
  return allIn(folder).filter((name) => (modeOf(name) & 0o077) !== 0);
}

test("Curt creates files that only its user can access, even with umask 000", async () => {
  const umask = "000";
  using folder = temporaryFolder();
  const here = (name: string) => join(folder.path, name);
  const settings = { DATABASE_URL: `sqlite:${here("data/curt.db")}` };
  const elsewhere = (name: string) => ({ DATABASE_URL: `sqlite:${here(`${name}/curt.db`)}` });
  {
    await using program = await startProgram(
      { ...settings, BACKUP_DIR: here("backups"), PROCESSES: "2" },
      { folder: folder.path, command: curtWith(umask, "serve") },
    );
    await program.shorten({ original_url: "https://example.com/", custom_code: "code" });
    await visit(program, "code");
    curt(umask, ["backup", here("copies/backup.db")], settings);
    for (const name of ["data/curt.db-wal", "data/curt.db-shm", "data/curt.db-visits/backup.lock", "backups"])
      expect(existsSync(here(name))).toBe(true);
    expect(allIn(here("data")).filter((name) => name.endsWith(".visits")).length).toBeGreaterThan(0);
    expect(openToOthers(folder.path)).toEqual([]);
  }
  curt(umask, ["export", here("exported/all.ndjson")], settings);
  curt(umask, ["restore", here("copies/backup.db")], elsewhere("restored"));
  curt(umask, ["import", "--new", here("exported/all.ndjson")], elsewhere("imported"));
  for (const name of ["restored", "imported"]) expect(existsSync(here(`${name}/curt.db`))).toBe(true);
  expect(openToOthers(folder.path)).toEqual([]);
});

test("a world-readable store keeps its mode, with a warning if others can enter its folder", async () => {
  const path = mkdtempSync("/tmp/curt-test-");
  using _ = { [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
  const file = join(path, "curt.db");
  const warningsWith = async (folderMode: number, fileMode: number) => {
    chmodSync(path, folderMode);
    if (existsSync(file)) chmodSync(file, fileMode);
    const program = await startProgram({}, { folder: path });
    await program.shorten({ original_url: "https://example.com/" });
    // SQLite gives the log the same mode.
    expect(statSync(`${file}-wal`).mode & 0o777).toBe(fileMode);
    await program[Symbol.asyncDispose]();
    return program.logged.filter((line) => line.includes(OPEN_TO_ALL)).length;
  };
  expect(await warningsWith(0o755, 0o600)).toBe(0);
  expect(await warningsWith(0o755, 0o644)).toBe(1);
  expect(statSync(file).mode & 0o777).toBe(0o644);
  expect(await warningsWith(0o700, 0o644)).toBe(0);
  // A group may copy it for backups.
  expect(await warningsWith(0o755, 0o660)).toBe(0);
});

test("serve and check warn of a file with secrets that others can read or write", async () => {
  const path = mkdtempSync("/tmp/curt-test-");
  using _ = { [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
  chmodSync(path, 0o755);
  const file = join(path, "tokens");
  writeFileSync(file, "alice:a-secret-of-the-operator");
  const settings = { DATABASE_URL: `sqlite:${path}/curt.db`, ADMIN_TOKEN_FILE: file };
  const warning = "every user of this machine can read or write this file";
  for (const [mode, isOpen] of [
    [0o640, false],
    [0o604, true],
    [0o602, true],
  ] as const) {
    chmodSync(file, mode);
    const { stderr } = Bun.spawnSync([process.execPath, PROGRAM, "check"], {
      env: { ...process.env, ...settings },
    });
    const program = await startProgram(settings, { folder: path });
    await program[Symbol.asyncDispose]();
    for (const text of [stderr.toString(), program.logged.join()])
      expect([mode, text.includes(warning)]).toEqual([mode, isOpen]);
  }
});

test("root's commands create files of the folder's owner in a service's folder", async () => {
  using folder = temporaryFolder();
  const here = (name: string) => join(folder.path, name);
  const home = here("home");
  mkdirSync(home);
  if (process.getuid?.() === 0) chownSync(home, 65_534, 65_534);
  const { uid, gid } = statSync(home);
  await (await openStore({ engine: "sqlite", path: here("curt.db") })).close();
  curt("022", ["export", here("all.ndjson")], { DATABASE_URL: `sqlite:${here("curt.db")}` });
  curt("022", ["import", "--new", here("all.ndjson")], { DATABASE_URL: `sqlite:${home}/imported/curt.db` });
  const settings = { DATABASE_URL: `sqlite:${home}/imported/curt.db`, DATA_DIR: `${home}/new` };
  curt("022", ["backup", here("backup.db")], settings);
  curt("022", ["restore", here("backup.db")], { DATABASE_URL: `sqlite:${home}/restored/curt.db` });
  const created = allIn(home);
  for (const name of ["imported/curt.db", "restored/curt.db", "new/curt.db-visits/backup.lock"])
    expect(created).toContain(name);
  for (const name of created) expect([name, statSync(join(home, name))]).toMatchObject([name, { uid, gid }]);
});
