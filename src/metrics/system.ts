import { readdir, readFile, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";

import { newestBackupMs } from "../backup/backup-names.ts";
import { createHistogram } from "../lib/histogram.ts";
import type { WallClock } from "../links/clock.ts";
import { type Snapshot, type Value, each, histogramValues, one } from "./catalogue.ts";

const TICK_MS = 100;
const LATE_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

export interface ProcessOptions {
  /** Path of the SQLite file. Undefined if there is none. */
  readonly file: string | undefined;
  readonly journalFolder: string;
  /** Null if Curt makes no backups by itself. */
  readonly backupFolder: string | null;
  readonly clock: WallClock;
}

/** Figures of the system about this process and its disks. Unknown ones are missing. */
export function watchProcess({ file, journalFolder, backupFolder, clock }: ProcessOptions) {
  const late = createHistogram(LATE_SECONDS);
  let lastMs = performance.now();
  const timer = setInterval(() => {
    const atMs = performance.now();
    late.observe(Math.max(0, atMs - lastMs - TICK_MS) / 1000);
    lastMs = atMs;
  }, TICK_MS).unref();
  const places = { ...(file !== undefined && { store: dirname(file) }), journal: dirname(journalFolder) };
  const readBackups =
    file === undefined || backupFolder === null
      ? undefined
      : watchBackups({ folder: backupFolder, path: file, journalFolder, clock });

  return {
    /** `samples`: with figures that are the same in all processes. */
    async read(samples: boolean): Promise<Snapshot> {
      const { user, system } = process.cpuUsage();
      const backups = samples ? await readBackups?.() : undefined;
      const disks = await Promise.all(
        Object.entries(places).map(([holds, folder]) => spaceOf(holds, folder)),
      );
      if (backups !== undefined) disks.push(backups);
      return {
        curt_event_loop_delay_seconds: histogramValues("curt_event_loop_delay_seconds", late),
        process_cpu_seconds_total: [one((user + system) / 1e6)],
        process_resident_memory_bytes: [one(process.memoryUsage.rss())],
        curt_own_memory_bytes: await ownMemory(),
        process_open_fds: await openFiles(),
        process_max_fds: await maxFiles(),
        process_start_time_seconds: [one(Math.round(performance.timeOrigin / 1000))],
        curt_disk_free_bytes: disks.flatMap(({ free }) => free),
        curt_disk_size_bytes: disks.flatMap(({ size }) => size),
        curt_backup_timestamp_seconds: backups === undefined ? [] : [one(backups.newestMs / 1000)],
        curt_store_file_bytes: file === undefined ? [] : await sizes({ database: file, log: `${file}-wal` }),
      };
    },
    close: () => clearInterval(timer),
  };
}

async function sizes(files: Readonly<Record<string, string>>): Promise<Value[]> {
  const entries = await Promise.all(
    Object.entries(files).map(async ([name, path]) => {
      const { size } = await stat(path).catch(() => ({ size: 0 }));
      return [name, size] as const;
    }),
  );
  return each("file", Object.fromEntries(entries));
}

async function ownMemory(): Promise<Value[]> {
  const kilobytes = /^RssAnon:\s+(\d+)/m.exec(await readText("/proc/self/status"))?.[1];
  return kilobytes === undefined ? [] : [one(Number(kilobytes) * 1024)];
}

/** On newer kernels, the folder's size is the number, which saves reading thousands of names. */
async function openFiles(): Promise<Value[]> {
  const folder = "/proc/self/fd";
  const { size } = await stat(folder).catch(() => ({ size: 0 }));
  const count = size > 0 ? size : (await readdir(folder).catch(() => [])).length;
  return count === 0 ? [] : [one(count)];
}

async function maxFiles(): Promise<Value[]> {
  const most = /^Max open files\s+(\d+)/m.exec(await readText("/proc/self/limits"))?.[1];
  return most === undefined ? [] : [one(Number(most))];
}

function readText(path: string): Promise<string> {
  return readFile(path, "latin1").catch(() => "");
}

export interface Space {
  readonly free: readonly Value[];
  readonly size: readonly Value[];
}

async function spaceOf(holds: string, folder: string): Promise<Space> {
  const disk = await statfs(folder).catch(() => undefined);
  if (disk === undefined) return { free: [], size: [] };
  return {
    free: [one(disk.bavail * disk.bsize, { holds })],
    size: [one(disk.blocks * disk.bsize, { holds })],
  };
}

export interface BackupsOptions {
  readonly folder: string;
  /** Path of the SQLite file. */
  readonly path: string;
  readonly journalFolder: string;
  readonly clock: WallClock;
}

/** Figures of `BACKUP_DIR`. Reads it once at a time, because it may be on a machine that doesn't respond. */
function watchBackups({ folder, path, journalFolder, clock }: BackupsOptions) {
  let reading: Promise<Space & { readonly newestMs: number }> | undefined;

  async function read() {
    const [space, newestMs] = await Promise.all([
      spaceOf("backups", folder),
      newestBackupMs(folder, { path, journalFolder }, clock.nowMs()).catch(() => 0),
    ]);
    return { ...space, newestMs };
  }

  return async () => {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return (await inTime(reading)) ?? { free: [], size: [], newestMs: 0 };
  };
}

export const WAIT_MS = 1000;

/** Undefined if there is no answer, or too late. */
export function inTime<T>(answer: Promise<T>): Promise<T | undefined> {
  return Promise.race([answer.catch(() => undefined), Bun.sleep(WAIT_MS).then(() => undefined)]);
}
