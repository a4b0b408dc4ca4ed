import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from "node:fs";
import { join } from "node:path";

import { children } from "../../server/processes.ts";
import { createManagedLink } from "../../support/managed-links.ts";
import { isStopped, signal } from "../../support/processes.ts";
import {
  type LocalService,
  type RunningService,
  startService,
  startProgram,
  temporaryFolder,
  untilLogged,
} from "../../support/service.ts";
import { linkOf, untilCounted, visit } from "../../visits/visits.ts";

const journalOf = (folder: string) => join(folder, "curt.db-visits");
const segmentsIn = (journal: string) =>
  existsSync(journal) ? readdirSync(journal).filter((name) => name.endsWith(".visits")) : [];
/** The journal waits this long for a locked store. */
const limits = { core: { busyWaitMs: 50 } };

async function visitTimes(service: RunningService, code: string, times: number): Promise<void> {
  for (let nth = 0; nth < times; nth++) await visit(service, code);
}

/** Folding pauses in proportion to its work, for at most a minute. */
async function untilFolded(service: LocalService, code: string, visits: number): Promise<void> {
  while (Number((await linkOf(service, code))["visits"]) < visits) {
    service.advance(60_000);
    await Bun.sleep(50);
  }
  expect((await linkOf(service, code))["visits"]).toBe(visits);
}

/** Renames the folder first, so that no process creates a file in it while it is deleted. */
function removeAtomically(journal: string): void {
  renameSync(journal, `${journal}.removed`);
  rmSync(`${journal}.removed`, { recursive: true });
}

/** Locks the store, so that all visits stay in the journal. */
function lockStore(service: RunningService): Disposable {
  const blocker = new Database(service.file);
  blocker.run("BEGIN IMMEDIATE");
  return {
    [Symbol.dispose]() {
      blocker.run("ROLLBACK");
      blocker.close();
    },
  };
}

describe("a journal deleted while visits are counted", () => {
  for (const [what, remove] of [
    ["with its folder", removeAtomically],
    ["by moving its folder", (journal: string) => renameSync(journal, `${journal}.moved`)],
    [
      "and replaced by an empty folder",
      (journal: string) => {
        removeAtomically(journal);
        mkdirSync(journal);
      },
    ],
    [
      "file by file, except for the locks",
      (journal: string) => segmentsIn(journal).forEach((name) => rmSync(join(journal, name))),
    ],
  ] as const) {
    test(`loses no visit if it is removed ${what}`, async () => {
      using folder = temporaryFolder();
      const journal = journalOf(folder.path);
      await using service = await startService({}, { folder: folder.path, limits });
      service.expectFaults();
      await createManagedLink(service, { code: "kept" });
      {
        using _ = lockStore(service);
        await visitTimes(service, "kept", 50);
        // These visits are in a closed segment now. The next ones are in another.
        while (segmentsIn(journal).length < 3) await Bun.sleep(5);
        await visitTimes(service, "kept", 50);
        remove(journal);
        await visitTimes(service, "kept", 50);
      }
      await untilFolded(service, "kept", 150);
      await visitTimes(service, "kept", 5);
      await untilFolded(service, "kept", 155);
      expect(service.logged.join("")).not.toContain("not counted");
    });
  }

  test("loses no visit if Curt stops before it notices", async () => {
    using folder = temporaryFolder();
    const journal = journalOf(folder.path);
    {
      await using service = await startService(
        {},
        { limits: { journal: { tickMs: 3_600_000 } }, folder: folder.path },
      );
      service.expectFaults();
      await createManagedLink(service, { code: "last" });
      await visitTimes(service, "last", 20);
      removeAtomically(journal);
      await visitTimes(service, "last", 20);
    }
    expect(segmentsIn(journal)).toEqual([]);
    await using next = await startService({}, { folder: folder.path });
    expect((await linkOf(next, "last"))["visits"]).toBe(40);
  });

  test("is recreated soon, so that visits survive a kill", async () => {
    using folder = temporaryFolder();
    const journal = journalOf(folder.path);
    {
      await using service = await startProgram({}, { folder: folder.path });
      service.expectFaults();
      await createManagedLink(service, { code: "killed" });
      using _ = lockStore(service);
      await visitTimes(service, "killed", 50);
      removeAtomically(journal);
      await visitTimes(service, "killed", 50);
      await untilLogged(service, "deleted or moved");
      while (segmentsIn(journal).length < 2) await Bun.sleep(10);
      await visitTimes(service, "killed", 50);
      service.kill("SIGKILL");
      await service.exited;
    }
    await using next = await startService({}, { folder: folder.path });
    await untilCounted(next, "killed", 150);
  });

  test("is recreated by each of four processes", async () => {
    using folder = temporaryFolder();
    const journal = journalOf(folder.path);
    {
      await using service = await startProgram({ PROCESSES: "4" }, { folder: folder.path });
      service.expectFaults();
      await createManagedLink(service, { code: "four" });
      const fire = () => Promise.all(Array.from({ length: 8 }, () => visitTimes(service, "four", 50)));
      await fire();
      removeAtomically(journal);
      await fire();
      const locks = () => readdirSync(journal).filter((name) => /^\d+\.lock$/.test(name));
      while (!existsSync(journal) || locks().length < 4) await Bun.sleep(10);
      await fire();
    }
    await using next = await startService({}, { folder: folder.path });
    expect((await linkOf(next, "four"))["visits"]).toBe(1200);
    expect(segmentsIn(journal).filter((name) => !name.startsWith("0-"))).toEqual([]);
  });

  test("waits for a missing volume, and loses no visit when it returns", async () => {
    using folder = temporaryFolder();
    const data = join(folder.path, "data");
    mkdirSync(data);
    await using service = await startService({ DATA_DIR: data }, { folder: folder.path });
    service.expectFaults();
    await createManagedLink(service, { code: "away" });
    await visitTimes(service, "away", 20);
    renameSync(data, `${data}.away`);
    await untilLogged(service, '"level":"error"');
    await visitTimes(service, "away", 20);
    expect(existsSync(data)).toBe(false);
    renameSync(`${data}.away`, data);
    await untilCounted(service, "away", 40);
  });
});

describe("segments truncated while they are mapped", () => {
  /** Which segments are mapped, by any process. */
  function mappedIn(journal: string): Set<string> {
    const maps = readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .flatMap((pid) => {
        try {
          return readFileSync(`/proc/${pid}/maps`, "utf8").split("\n");
        } catch {
          // It has ended.
          return [];
        }
      });
    return new Set(maps.filter((line) => line.includes(journal)).map((line) => line.replace(/.*\//, "")));
  }

  /**
   * A process that is just opening a segment would crash if it is truncated, and couldn't start again while the store is locked.
   * One that appears afterwards would look as if the process had left the truncated ones.
   */
  async function untilMapped(journal: string, segments: number): Promise<void> {
    while (mappedIn(journal).size < segments) await Bun.sleep(5);
  }

  /** At one moment for these processes, which would continue in a segment that is truncated next. */
  async function cutAll(journal: string, pids: readonly number[] = []): Promise<void> {
    for (const pid of pids) signal(pid, "SIGSTOP");
    while (!pids.every(isStopped)) await Bun.sleep(5);
    for (const name of segmentsIn(journal)) truncateSync(join(journal, name));
    for (const pid of pids) signal(pid, "SIGCONT");
  }

  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

  const hasWhole = (journal: string, slot: number) =>
    segmentsIn(journal).some((name) => name.startsWith(`${slot}-`) && sizeOf(join(journal, name)) > 0);

  for (const processes of [1, 4]) {
    test(`lose only their own visits, with PROCESSES=${processes}`, async () => {
      using folder = temporaryFolder();
      const journal = journalOf(folder.path);
      await using service = await startProgram({ PROCESSES: String(processes) }, { folder: folder.path });
      service.expectFaults();
      for (const code of ["cut", "whole"]) await createManagedLink(service, { code });
      {
        using _ = lockStore(service);
        await visitTimes(service, "cut", 20);
        // Each process has a segment to write to and two spare ones, and one process has those of the visits besides.
        await untilMapped(journal, 3 * processes + 1);
        // That process may have read the first visits by now, and wait for the lock with them, but not these.
        await visitTimes(service, "cut", 20);
        await cutAll(journal, processes === 1 ? [service.pid] : children(service));
        while (![0, 1, 2, 3].slice(0, processes).every((slot) => hasWhole(journal, slot))) await Bun.sleep(5);
        await visitTimes(service, "whole", 30);
      }
      await untilLogged(service, "not counted");
      await untilCounted(service, "whole", 30);
      expect((await linkOf(service, "cut"))["visits"]).toBeLessThan(40);
      expect(service.logged.join("")).not.toContain("another process replaced it");
      expect(readdirSync(journal).filter((name) => name.endsWith(".damaged"))).not.toEqual([]);
    });
  }

  test("are replaced without waiting for a timer", async () => {
    using folder = temporaryFolder();
    const journal = journalOf(folder.path);
    {
      await using service = await startService(
        {},
        { limits: { journal: { tickMs: 3_600_000 } }, folder: folder.path },
      );
      service.expectFaults();
      await createManagedLink(service, { code: "quick" });
      await visitTimes(service, "quick", 20);
      // Without a timer, there is one spare.
      await untilMapped(journal, 2);
      await cutAll(journal);
      while (!hasWhole(journal, 0)) await Bun.sleep(5);
      await visitTimes(service, "quick", 30);
    }
    await using next = await startService({}, { folder: folder.path });
    expect((await linkOf(next, "quick"))["visits"]).toBe(30);
  });
});
