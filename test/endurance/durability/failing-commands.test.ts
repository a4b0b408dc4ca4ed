import { Database } from "bun:sqlite";
import { describe, expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { openStatements } from "../../../src/store/open.ts";
import { checkFile } from "../../../src/store/sqlite/file/file.ts";
import { runCommand } from "../../cli/commands.ts";
import { startReceiver } from "../../events/receiver.ts";
import { testOnLinux } from "../../support/linux.ts";
import { BASE_URL, startProgram, temporaryFolder } from "../../support/service.ts";
import { runFailing } from "./trace-program.ts";

const STORE = "curt.db";
const FAILED = {
  code: 74,
  stdout: "",
  stderr: expect.stringContaining("the disk did not store what was written"),
};

interface Store {
  readonly folder: string;
  /** Path of its SQLite file. */
  readonly path: string;
  readonly settings: Readonly<Record<string, string>>;
  /** Writes a CSV file with these rows, and returns its path. */
  writeCsv(rows: string): Promise<string>;
}

/** Tests a command on a store with one link that no process has open. */
function testWithStore(name: string, run: (store: Store) => Promise<void>): void {
  testOnLinux(name, async () => {
    using temporary = temporaryFolder();
    const folder = temporary.path;
    const path = join(folder, STORE);
    {
      await using program = await startProgram({}, { folder });
      expect((await program.shorten({ original_url: "https://example.com/" })).status).toBe(201);
    }
    await run({
      folder,
      path,
      settings: { BASE_URL, PORT: "1", DATA_DIR: folder, DATABASE_URL: `sqlite:${path}` },
      async writeCsv(rows) {
        const file = join(folder, "links.csv");
        await Bun.write(file, `code,url\n${rows}`);
        return file;
      },
    });
  });
}

const ROW = "a,https://example.com/\n";

describe("a command on a failing disk", () => {
  testWithStore(
    "curt import exits with 74 and reports no success if a sync of the SQLite file fails",
    async ({ folder, path, settings, writeCsv }) => {
      expect(await runFailing(folder, STORE, ["import", "--new", await writeCsv(ROW)], settings)).toEqual(
        FAILED,
      );
      expect(checkFile(path)).toEqual({ links: 2, damage: [], unsendable: [] });
    },
  );

  testWithStore(
    "curt import exits with 74 if a sync of the SQLite file fails after another error",
    async ({ folder, settings, writeCsv }) => {
      const added = Array.from({ length: 3000 }, (_, nth) => `a${nth},https://example.com/\n`);
      const args = [
        "import",
        "--new",
        "--report",
        "/dev/full",
        await writeCsv(`${added.join("")}b,no address\n`),
      ];
      expect(await runFailing(folder, STORE, args, settings)).toEqual(FAILED);
    },
  );

  testWithStore(
    "curt backup exits with 74 and reports no success if a sync of the SQLite file fails",
    async ({ folder, path, settings }) => {
      // Its log is not empty, so the backup moves it.
      using writer = new Database(path);
      writer.run("UPDATE links SET original_url = 'https://example.net/'");
      expect(await runFailing(folder, STORE, ["backup", join(folder, "backup")], settings)).toEqual(FAILED);
    },
  );

  testWithStore(
    "curt import exits with 74 and adds nothing if a sync of the store's folder fails",
    async ({ folder, path, settings, writeCsv }) => {
      // SQLite ignores the first one.
      expect(await runFailing(folder, folder, ["import", "--new", await writeCsv(ROW)], settings, 2)).toEqual(
        FAILED,
      );
      expect(checkFile(path)).toEqual({ links: 1, damage: [], unsendable: [] });
    },
  );

  testWithStore(
    "curt backup and curt restore exit with 74 and leave nothing if a sync of the new file fails",
    async ({ folder, path, settings }) => {
      const [backup, other] = [join(folder, "backup"), join(folder, "other.db")];
      const failing = (...args: string[]) => runFailing(folder, ".part", args, settings);
      const filesOf = (file: string) => [file, `${file}.part`].filter((name) => existsSync(name));
      expect(await failing("backup", backup)).toEqual(FAILED);
      expect(filesOf(backup)).toEqual([]);
      expect(await runCommand(["backup", backup], settings)).toMatchObject({ code: 0 });
      expect(await failing("restore", backup, "--to", `sqlite:${other}`)).toEqual(FAILED);
      expect(filesOf(other)).toEqual([]);
      expect(checkFile(path)).toEqual({ links: 1, damage: [], unsendable: [] });
    },
  );

  testWithStore(
    "curt events --resend exits with 74 and reports no success if a sync of the SQLite file fails",
    async ({ folder, path, settings }) => {
      await using receiver = startReceiver();
      const statements = await openStatements({ engine: "sqlite", path });
      await statements.run(
        "INSERT INTO refused_events (seq, type, detail, at_ms) VALUES (1, 'host.blocked', 'a', 1)",
      );
      await statements.close();
      const sent = { ...settings, ...receiver.settings };
      expect(await runFailing(folder, STORE, ["events", "--resend"], sent)).toEqual(FAILED);
      expect(receiver.events).toHaveLength(1);
    },
  );
});
