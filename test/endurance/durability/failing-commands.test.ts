import { Database } from "bun:sqlite";
import { describe, expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { openStatements } from "../../../src/store/open.ts";
import { checkFile } from "../../../src/store/sqlite/file/file.ts";
import { runCommand } from "../../cli/commands.ts";
import { startReceiver } from "../../events/receiver.ts";
import { testOnLinux } from "../../linux.ts";
import { BASE_URL, startProgram, temporaryFolder } from "../../service.ts";
import { runFailing } from "./traced.ts";

const STORE = "curt.db";
const FAILED = {
  code: 74,
  stdout: "",
  stderr: expect.stringContaining("the disk did not store what was written"),
};

function settingsOf(folder: string): { readonly path: string; readonly settings: Record<string, string> } {
  const path = join(folder, STORE);
  return { path, settings: { BASE_URL, PORT: "1", DATA_DIR: folder, DATABASE_URL: `sqlite:${path}` } };
}

/** A store with one link that no process has open. */
async function createStore(folder: string): Promise<void> {
  await using program = await startProgram({}, { folder });
  expect((await program.shorten({ original_url: "https://example.com/" })).status).toBe(201);
}

describe("a command on a failing disk", () => {
  testOnLinux(
    "curt import exits with 74 and reports no success if a sync of the SQLite file fails",
    async () => {
      using folder = temporaryFolder();
      const { path, settings } = settingsOf(folder.path);
      await createStore(folder.path);
      const file = join(folder.path, "links.csv");
      await Bun.write(file, "code,url\na,https://example.com/\n");
      expect(await runFailing(folder.path, STORE, ["import", file], settings)).toEqual(FAILED);
      expect(checkFile(path)).toEqual({ links: 2, damage: [] });
    },
  );

  testOnLinux(
    "curt import exits with 74 if a sync of the SQLite file fails after another error",
    async () => {
      using folder = temporaryFolder();
      const { settings } = settingsOf(folder.path);
      await createStore(folder.path);
      const file = join(folder.path, "links.csv");
      const added = Array.from({ length: 3000 }, (_, nth) => `a${nth},https://example.com/\n`);
      await Bun.write(file, `code,url\n${added.join("")}b,no address\n`);
      const args = ["import", "--report", "/dev/full", file];
      expect(await runFailing(folder.path, STORE, args, settings)).toEqual(FAILED);
    },
  );

  testOnLinux(
    "curt backup exits with 74 and reports no success if a sync of the SQLite file fails",
    async () => {
      using folder = temporaryFolder();
      const { path, settings } = settingsOf(folder.path);
      await createStore(folder.path);
      // Its log is not empty, so the backup moves it.
      using writer = new Database(path);
      writer.run("UPDATE links SET original_url = 'https://example.net/'");
      const args = ["backup", join(folder.path, "backup")];
      expect(await runFailing(folder.path, STORE, args, settings)).toEqual(FAILED);
    },
  );

  testOnLinux(
    "curt import exits with 74 and adds nothing if a sync of the store's folder fails",
    async () => {
      using folder = temporaryFolder();
      const { path, settings } = settingsOf(folder.path);
      await createStore(folder.path);
      const file = join(folder.path, "links.csv");
      await Bun.write(file, "code,url\na,https://example.com/\n");
      // SQLite ignores the first one.
      expect(await runFailing(folder.path, folder.path, ["import", file], settings, 2)).toEqual(FAILED);
      expect(checkFile(path)).toEqual({ links: 1, damage: [] });
    },
  );

  testOnLinux(
    "curt backup and curt restore exit with 74 and leave nothing if a sync of the new file fails",
    async () => {
      using folder = temporaryFolder();
      const { path, settings } = settingsOf(folder.path);
      await createStore(folder.path);
      const backup = join(folder.path, "backup");
      const other = join(folder.path, "other.db");
      const failing = (...args: string[]) => runFailing(folder.path, ".part", args, settings);
      expect(await failing("backup", backup)).toEqual(FAILED);
      expect([backup, `${backup}.part`].filter((file) => existsSync(file))).toEqual([]);
      expect(await runCommand(["backup", backup], settings)).toMatchObject({ code: 0 });
      expect(await failing("restore", backup, "--to", `sqlite:${other}`)).toEqual(FAILED);
      expect([other, `${other}.part`].filter((file) => existsSync(file))).toEqual([]);
      expect(checkFile(path)).toEqual({ links: 1, damage: [] });
    },
  );

  testOnLinux(
    "curt events --resend exits with 74 and reports no success if a sync of the SQLite file fails",
    async () => {
      using folder = temporaryFolder();
      await using receiver = startReceiver();
      const { path, settings } = settingsOf(folder.path);
      await createStore(folder.path);
      const statements = await openStatements({ engine: "sqlite", path });
      await statements.run(
        "INSERT INTO refused_events (seq, type, detail, at_ms) VALUES (1, 'host.blocked', 'a', 1)",
      );
      await statements.close();
      const args = ["events", "--resend"];
      expect(await runFailing(folder.path, STORE, args, { ...settings, ...receiver.settings })).toEqual(
        FAILED,
      );
      expect(receiver.events).toHaveLength(1);
    },
  );
});
