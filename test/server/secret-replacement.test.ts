import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { openStatements } from "../../src/store/open.ts";
import { runCommand } from "../cli/commands.ts";
import { manyLines } from "../cli/export-file.ts";
import { sharePostgres } from "../support/postgres.ts";
import { startService, startProgram, temporaryFolder, untilLogged } from "../support/service.ts";

const server = await sharePostgres();
const ENGINES = [
  ["SQLite", async (folder: string) => ({ DATABASE_URL: `sqlite:${join(folder, "curt.db")}` })],
  [
    "PostgreSQL",
    async (folder: string) => ({ DATABASE_URL: await server.url("replaced"), DATA_DIR: folder }),
  ],
] as const;

test.each(ENGINES)(
  "a process on %s explains and ends if its store gets another secret",
  async (_, settingsIn) => {
    using folder = temporaryFolder();
    const settings = await settingsIn(folder.path);
    await using program = await startProgram(settings, { folder: folder.path, roundMs: 50 });
    program.expectFaults();
    const statements = await openStatements(program.database);
    await statements.run("UPDATE secrets SET secret = $1", [new Uint8Array([0, 255])]);
    await statements.close();
    expect(await program.exited).toBe(1);
    await untilLogged(program, "has replaced the secret of the store: Curt ends");
  },
);

describe("an import into an empty PostgreSQL database", () => {
  test("is refused while Curt serves it from any machine, and works afterwards", async () => {
    using folder = temporaryFolder();
    using elsewhere = temporaryFolder();
    const file = join(folder.path, "export");
    writeFileSync(file, manyLines(3));
    const DATABASE_URL = await server.url("served");
    const settings = { DATABASE_URL, DATA_DIR: folder.path, PORT: "1" };
    {
      await using _ = await startService({ DATABASE_URL, DATA_DIR: elsewhere.path });
      for (const options of [[], ["--dry-run"]]) {
        const result = await runCommand(["import", ...options, file], settings);
        expect(result).toMatchObject({ stdout: "" });
        expect(result.code).not.toBe(0);
        expect(result.stderr).toContain(
          "is being served, and an import replaces the secret of its manage keys",
        );
      }
    }
    expect(await runCommand(["import", file], settings)).toMatchObject({ code: 0 });
  });

  test("is refused for a minute after Curt was killed", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "export");
    writeFileSync(file, manyLines(3));
    const DATABASE_URL = await server.url("killed");
    const settings = { DATABASE_URL, DATA_DIR: folder.path, PORT: "1" };
    {
      using elsewhere = temporaryFolder();
      const at = { DATABASE_URL, DATA_DIR: elsewhere.path };
      await using program = await startProgram(at, { folder: elsewhere.path });
      program.kill("SIGKILL");
      await program.exited;
    }
    expect((await runCommand(["import", file], settings)).stderr).toContain("is being served");
    await server.query("UPDATE instances SET renewed = renewed - interval '1 minute'", "killed");
    expect(await runCommand(["import", file], settings)).toMatchObject({ code: 0 });
  });
});
