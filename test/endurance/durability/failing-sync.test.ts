import { Database } from "bun:sqlite";
import { describe, expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { testOnLinux } from "../../support/linux.ts";
import { roundsOf } from "../../support/preloads.ts";
import { startProgram, temporaryFolder } from "../../support/service.ts";
import { writeSegment } from "../../visits/segments.ts";
import { createDisk } from "./disk.ts";
import type { SystemCall } from "./syscalls.ts";
import { type Run, TRACE, traceCommand, traceProgram, type TracedProgram } from "./trace-program.ts";

const SYNC_FAILED = "the disk did not store what was written";
const MAX_CREATES = 1000;
/** Number of power cuts, each of which keeps other unsynced pages. */
const RANDOM_CUTS = 3;

/** Tries to create links until `isEnough`. */
async function createUntil(
  isEnough: () => boolean,
  { tryToCreate }: TracedProgram,
  name: string,
): Promise<void> {
  for (let nth = 0; !isEnough(); nth++) {
    if (nth === MAX_CREATES) throw new Error("It takes more links");
    await tryToCreate(`${name}${nth}`);
  }
}

async function createFive({ create }: TracedProgram, name: string): Promise<void> {
  for (let nth = 0; nth < 5; nth++) await create(`${name}${nth}`);
}

/**
 * Creates links until a checkpoint has moved only a part of the log, because another program reads. That program keeps the store open
 * after it has stopped reading.
 */
async function limitCheckpoint(own: TracedProgram) {
  const { file } = own.program;
  const open = () => new Database(file, { readonly: true });
  const [idle, reader] = [open(), open()];
  const count = (database: Database) => database.query("SELECT count(*) FROM links").get();
  count(idle);
  {
    using watching = new Database(file);
    const log = () => {
      const [[, pages, moved] = []] = watching.query("PRAGMA wal_checkpoint(NOOP)").values() as number[][];
      return { pages: pages ?? 0, moved: moved ?? 0 };
    };
    await createUntil(() => log().pages > 2000, own, "early");
    reader.run("BEGIN");
    count(reader);
    await createUntil(() => log().moved > 0, own, "limited");
    expect(log().moved).toBeLessThan(log().pages);
  }
  return {
    stopReading: () => reader.close(),
    [Symbol.dispose]: () => idle.close(),
  };
}

/** Codes of acknowledged links that a real start doesn't serve after a power cut at the end of these runs. */
async function lostCodes(runs: readonly Run[], keepsPage?: () => boolean): Promise<string[]> {
  using folder = temporaryFolder();
  const disk = createDisk();
  for (const { calls } of runs) {
    for (const call of calls) disk.take(call);
    disk.startRun();
  }
  disk.cutPower(runs[0]?.file ?? "", folder.path, keepsPage);
  await using program = await startProgram({}, { folder: folder.path });
  program.expectFaults();
  const lost: string[] = [];
  for (const [code, address] of runs.flatMap(({ created }) => [...created])) {
    const { headers } = await program.fetch(`/${code}`);
    if (headers.get("location") !== address) lost.push(code);
  }
  return lost;
}

async function expectNothingLost(runs: readonly Run[]): Promise<void> {
  expect(await lostCodes(runs)).toEqual([]);
  for (let cut = 0; cut < RANDOM_CUTS; cut++)
    expect(await lostCodes(runs, () => Math.random() < 0.5)).toEqual([]);
}

function expectStopped({ exitCode, logged }: Run): void {
  expect(logged.filter((line) => line.includes(SYNC_FAILED))).toHaveLength(1);
  expect(exitCode).toBe(74);
}

describe("a store on a failing disk", () => {
  testOnLinux(
    "a failed sync of the log ends Curt, and links confirmed before and after it survive a power cut",
    async () => {
      using folder = temporaryFolder();
      const first = await traceProgram(folder.path, async (own) => {
        await createFive(own, "before");
        own.failSyncs("-wal");
        expect(await own.tryToCreate("failed")).toBe(503);
        // The next sync would succeed, but the log before it may be missing.
        expect(await own.tryToCreate("later")).not.toBe(201);
        await own.program.exited;
      });
      const second = await traceProgram(folder.path, (own) => createFive(own, "after"));
      await expectNothingLost([first, second]);
      expectStopped(first);
    },
  );

  testOnLinux(
    "a failed sync of the log loses no later link if another program reads the store before and after the restart",
    async () => {
      using folder = temporaryFolder();
      const first = await traceProgram(folder.path, async (own) => {
        await createFive(own, "before");
        own.failSyncs("-wal");
        await own.tryToCreate("failed");
        await own.program.exited;
      });
      using reader = new Database(first.file, { readonly: true });
      reader.run("BEGIN");
      reader.query("SELECT count(*) FROM links").get();
      const second = await traceProgram(folder.path, (own) => createFive(own, "after"));
      await expectNothingLost([first, second]);
      expectStopped(first);
    },
  );

  testOnLinux(
    "a failed sync of the SQLite file ends Curt, and confirmed links survive although a reader limits checkpoints",
    async () => {
      using folder = temporaryFolder();
      const first = await traceProgram(folder.path, async (own) => {
        await createFive(own, "before");
        using others = await limitCheckpoint(own);
        own.failSyncs("curt.db");
        others.stopReading();
        await createUntil(own.hasFailed, own, "unlimited");
        for (let nth = 0; nth < 5; nth++) await own.tryToCreate(`later${nth}`);
        await own.program.exited;
      });
      const second = await traceProgram(folder.path, (own) => createFive(own, "after"));
      await expectNothingLost([first, second]);
      expectStopped(first);
      // The same runs on a disk that syncs nothing, as with synchronous=OFF.
      const unsynced = [first, second].map((run) => ({ ...run, calls: run.calls.filter(isNoFileSync) }));
      expect((await lostCodes(unsynced)).length).toBeGreaterThan(0);
    },
  );

  for (const [what, and, exitCode] of [
    ["", undefined, 74],
    [" and a kill before Curt sees it", "kill", 137],
  ] as const)
    testOnLinux(
      `a failed sync of the SQLite file${what} loses no link of a store that another program keeps open over the restart`,
      async () => {
        using folder = temporaryFolder();
        using others = new DisposableStack();
        const first = await traceProgram(folder.path, async (own) => {
          const { stopReading } = others.use(await limitCheckpoint(own));
          own.failSyncs("curt.db", and);
          stopReading();
          await createUntil(own.hasFailed, own, "unlimited");
          await own.program.exited;
        });
        const second = await traceProgram(folder.path, (own) => createFive(own, "after"));
        await expectNothingLost([first, second]);
        expect(first.exitCode).toBe(exitCode);
      },
    );

  testOnLinux(
    "a failed sync of the SQLite file ends Curt and loses no link, even if no more files can be opened",
    async () => {
      using folder = temporaryFolder();
      const run = await traceProgram(folder.path, async (own) => {
        using others = await limitCheckpoint(own);
        own.failSyncs("curt.db", "keep files closed");
        others.stopReading();
        await createUntil(own.hasFailed, own, "unlimited");
        for (let nth = 0; nth < 5; nth++) await own.tryToCreate(`later${nth}`);
        await own.program.exited;
      });
      await expectNothingLost([run]);
      expectStopped(run);
    },
  );

  testOnLinux("a failed sync in one of two processes ends both", async () => {
    using folder = temporaryFolder();
    const run = await traceProgram(
      folder.path,
      async (own) => {
        await createFive(own, "before");
        own.failSyncs("-wal");
        await own.tryToCreate("failed");
        await own.program.exited;
      },
      { PROCESSES: "2" },
    );
    expectStopped(run);
  });
});

function isNoFileSync({ call, ...rest }: SystemCall): boolean {
  return call !== "sync" || !("file" in rest) || !rest.file.includes("curt.db");
}

testOnLinux("a segment is marked as synced only after its sync, and the mark is synced as well", async () => {
  using folder = temporaryFolder();
  const path = await writeSegment({ folder: folder.path, hour: 490_000, visits: [{ code: "a" }] });
  const module = join(import.meta.dir, "../../../src/visits/journal/segment-file.ts");
  const script = `require(${JSON.stringify(module)}).syncSegment(${JSON.stringify(path)})`;
  const calls = await traceCommand(folder.path, [process.execPath, "-e", script]);
  const syncs = calls.filter((call) => call.call === "sync" && call.file === path);
  expect(syncs.map((call) => "isMarked" in call && call.isMarked)).toEqual([false, true]);
});

testOnLinux(
  "createFolder syncs an existing folder as well, because an earlier start may have been killed before its sync",
  async () => {
    using folder = temporaryFolder();
    const module = join(import.meta.dir, "../../../src/lib/files.ts");
    const script = `require(${JSON.stringify(module)}).createFolder(${JSON.stringify(join(folder.path, "a/b"))})`;
    const create = async () => {
      const calls = await traceCommand(folder.path, [process.execPath, "-e", script]);
      return calls.flatMap((call) => (call.call === "sync" ? [call.file] : []));
    };
    expect(await create()).toEqual([dirname(folder.path), folder.path, join(folder.path, "a")]);
    expect(await create()).toEqual([join(folder.path, "a")]);
  },
);

testOnLinux(
  "a new backup, its folder and the id of the store are synced before the log reports it",
  async () => {
    using folder = temporaryFolder();
    const backups = join(folder.path, "new", "backups");
    const { calls, file } = await traceProgram(
      folder.path,
      async ({ program }) => {
        while (!program.logged.some((line) => line.includes("a backup was created"))) await Bun.sleep(5);
      },
      { BACKUP_DIR: backups },
      ["--preload", roundsOf(200, folder.path)],
    );
    const synced = new Set(calls.map((call) => (call.call === "sync" ? call.file : "")));
    for (const name of [join(backups, "any.db"), backups, dirname(backups), `${file}-visits/backup.id`])
      expect([name, synced.has(dirname(name))]).toEqual([name, true]);
  },
);

testOnLinux("a start exits with 74 while the folder of the new log can't be synced", async () => {
  using folder = temporaryFolder();
  await (await startProgram({}, { folder: folder.path }))[Symbol.asyncDispose]();
  writeFileSync(
    join(folder.path, `${TRACE}.fail`),
    JSON.stringify({ ofFile: basename(folder.path), times: 100 }),
  );
  const start = traceProgram(folder.path, async () => {});
  expect(await start.catch((error: Error) => error.message)).toContain("exit code 74");
});
