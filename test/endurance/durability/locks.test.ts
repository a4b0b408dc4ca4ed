import { expect } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";

import { addressOf } from "../../metrics/scrape.ts";
import { testOnLinux } from "../../support/linux.ts";
import { type Program, PROGRAM, startProgram, temporaryFolder, untilLogged } from "../../support/service.ts";
import { visit } from "../../visits/visits.ts";

const original_url = "https://example.com/";
const ADMIN = { Authorization: "Bearer admin-token-of-the-tests-0123456789" };

/** Another program that believes it is the last one: it moves the log into the file, and deletes it. */
const READER = `
  const { Database } = require("bun:sqlite");
  const database = new Database(process.argv[1]);
  console.log(database.query("SELECT count(*) AS links FROM links").get().links);
  database.close();`;

function pidsOf({ logged, pid }: Program): number[] {
  const line = logged.find((one) => one.includes("listens on")) ?? "{}";
  return (JSON.parse(line) as { children?: number[] }).children ?? [pid];
}

/**
 * The number of locks that each process holds, of the two that keep other programs from the log: the shared one on the file, and
 * that of the index's users. Both last as long as a connection.
 */
function locksOf({ file }: Program, pids: readonly number[]): number[] {
  const lines = readFileSync("/proc/locks", "utf8").split("\n");
  const shared = `${statSync(file).ino} 1073741826 `;
  const ofUsers = `${statSync(`${file}-shm`).ino} 128 128`;
  const isLock = (pid: number, at: string) => (line: string) =>
    line.includes(` READ ${pid} `) && line.includes(`:${at}`);
  return pids.map((pid) => [shared, ofUsers].filter((at) => lines.some(isLock(pid, at))).length);
}

async function run(program: Program, ...line: string[]): Promise<void> {
  const child = Bun.spawn([process.execPath, ...line], {
    env: { ...process.env, DATABASE_URL: program.databaseUrl },
    stdio: ["ignore", "ignore", "inherit"],
  });
  expect(await child.exited).toBe(0);
}

for (const processes of ["1", "2"])
  testOnLinux(
    `PROCESSES=${processes}: no feature drops Curt's locks on the store, so outside readers can't replace its log`,
    async () => {
      using folder = temporaryFolder();
      using receiver = Bun.serve({ port: 0, fetch: () => new Response() });
      await using program = await startProgram(
        {
          PROCESSES: processes,
          EVENTS_URL: String(receiver.url),
          EVENTS_SECRET: `whsec_${Buffer.alloc(32, 1).toString("base64")}`,
          BACKUP_DIR: join(folder.path, "backups"),
          METRICS_PORT: "0",
          ADMIN_TOKEN: ADMIN.Authorization.slice("Bearer ".length),
        },
        { folder: folder.path, roundMs: 200 },
      );
      const pids = pidsOf(program);
      const expectLocks = (after: string) =>
        expect({ after, locks: locksOf(program, pids) }).toEqual({ after, locks: pids.map(() => 2) });
      const header = { Connection: "close" };
      const get = async (path: string, headers = {}) => {
        const { status } = await program.fetch(path, { headers: { ...header, ...headers } });
        expect(status).toBeLessThan(400);
      };

      expectLocks("the start");
      await untilLogged(program, "a backup was created");
      expectLocks("a scheduled backup");
      expect((await program.shorten({ original_url, custom_code: "kept" }, header)).status).toBe(201);
      await visit(program, "kept");
      expectLocks("a create and a visit");
      for (let nth = 0; nth < 4; nth++)
        for (const path of ["/readyz", "/", "/kept+", "/kept.svg", "/api/v1/links/kept/stats"])
          await get(path);
      await get("/api/v1/admin/links", ADMIN);
      expectLocks("pages and reports");
      await (await fetch(await addressOf(program))).text();
      expectLocks("metrics");
      for (const command of [
        ["check"],
        ["backup", join(folder.path, "own.db")],
        ["export", join(folder.path, "all")],
      ])
        await run(program, PROGRAM, ...command);
      expectLocks("commands");

      const files = () => ["", "-wal", "-shm"].map((part) => statSync(program.file + part).ino);
      const before = files();
      for (let nth = 0; nth < 5; nth++) {
        await run(program, "-e", READER, program.file);
        expect((await program.shorten({ original_url, custom_code: `after${nth}` }, header)).status).toBe(
          201,
        );
      }
      expect(files()).toEqual(before);
      expectLocks("outside readers");
    },
  );
