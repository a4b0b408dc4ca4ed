// The worker thread that writes, so that no commit or checkpoint holds up a redirect.
//
// A create waits for its fsync here: "insert" runs the transaction of `link-writes.ts`, whose COMMIT returns after SQLite has
// synced the log. `requireSync` in file/file.ts sets that (synchronous=FULL). The serving thread collects creates into one
// such task (`commits.ts`) and responds with 201 after its result.
import { constants, SQLiteError } from "bun:sqlite";
import { statSync } from "node:fs";
import { dirname } from "node:path";

import { isNearlyFull, syncFolder } from "../../lib/files.ts";
import { performTasks } from "../../lib/thread.ts";
import { StoreMisplaced, StoreUnavailable, SyncFailed } from "../../links/link-store.ts";
import type { Slice } from "../../visits/days/slice.ts";
import type { AgeBounds } from "../../visits/days/visit-store.ts";
import { createModeration } from "../shared/moderation.ts";
import { createChangesWriter } from "./changes.ts";
import { isFailedSync } from "./file/failed-sync.ts";
import { type Identity, identify, watchLog, watchPlace } from "./file/file-identity.ts";
import { openWriter } from "./file/file.ts";
import { createLinks, type Row, type UpdateTask } from "./link-writes.ts";
import { type KeyedTask, createRepeatableRequests } from "./repeatable-requests.ts";
import { statementsOn } from "./sql.ts";
import { StoreBusy } from "./store-busy.ts";
import { eraseVisits, createVisits } from "./visit-writes.ts";

interface OpenTask {
  readonly path: string;
  readonly openElsewhere: Identity | undefined;
  readonly busyWaitMs: number | undefined;
}

function open({ path, openElsewhere, busyWaitMs }: OpenTask) {
  const database = openWriter(path, openElsewhere, busyWaitMs);
  const opened = identify(path);
  const links = createLinks(database, createChangesWriter(database));
  const requests = createRepeatableRequests(database, links);
  const statements = statementsOn(database);
  const moderation = createModeration(statements, statements, { eraseVisits, lockHosts: async () => {} });
  const visits = createVisits(database, (error) => (unreportedFault ??= error));
  const log = watchLog(path, opened);
  const place = watchPlace(path, opened, log?.areInPlace);
  return { path, opened, log, place, database, links, requests, moderation, visits, waitMs: Number.NaN };
}

let file: ReturnType<typeof open>;
/** Last known time of a write to the log. */
let logWrittenMs = 0;
/** Whether the disk has been full since the start. */
let wasFull = false;
/** A fault of work that succeeded nevertheless. The next `emptyIdleLog` reports it. */
let unreportedFault: unknown;
/** Once set, never cleared. */
let failedSync: SyncFailed | undefined;

/** For the methods that are written once for both engines. */
interface Args<Name extends keyof Moderation> {
  readonly args: Parameters<Moderation[Name]>;
}
type Moderation = ReturnType<typeof createModeration>;

/** Links to insert and the results cross as JSON, which Bun passes much faster than an array of objects. */
const calls = {
  open(task: OpenTask): Identity {
    file = open(task);
    return file.opened;
  },
  insert: ({ rows }: { readonly rows: string }) =>
    JSON.stringify(file.links.insert(JSON.parse(rows) as Row[])),
  insertOnce: ({ requests }: { readonly requests: string }) =>
    JSON.stringify(file.requests.insertOnce(JSON.parse(requests) as KeyedTask[])),
  forgetRequests: ({ sentBeforeMs, limit }: { readonly sentBeforeMs: number; readonly limit: number }) =>
    file.requests.forget(sentBeforeMs, limit),
  update: ({ updates }: { readonly updates: readonly UpdateTask[] }) => file.links.update(updates),
  purge: ({ endedByMs, limit }: { readonly endedByMs: number; readonly limit: number }) =>
    file.links.purge(endedByMs, limit),
  countLinks: (_task: object) => file.links.count(),
  add: (slice: Slice) => file.visits.add(slice),
  age: ({ bounds, limit }: { readonly bounds: AgeBounds; readonly limit: number }) =>
    file.visits.age(bounds, limit),
  salt: ({ day, oldest }: { readonly day: number; readonly oldest: number }) => file.visits.salt(day, oldest),
  secret: ({ args }: Args<"secret">) => file.moderation.secret(...args),
  change: ({ args }: Args<"change">) => file.moderation.change(...args),
  disable: ({ args }: Args<"disable">) => file.moderation.disable(...args),
  enable: ({ args }: Args<"enable">) => file.moderation.enable(...args),
  handOver: ({ args }: Args<"handOver">) => file.moderation.handOver(...args),
  erase: ({ args }: Args<"erase">) => file.moderation.erase(...args),
  blockHost: ({ args }: Args<"blockHost">) => file.moderation.blockHost(...args),
  unblockHost: ({ args }: Args<"unblockHost">) => file.moderation.unblockHost(...args),
  undo: ({ args }: Args<"undo">) => file.moderation.undo(...args),
  count: ({ args }: Args<"count">) => file.moderation.count(...args),
  endSession: ({ args }: Args<"endSession">) => file.moderation.endSession(...args),
  rememberHosts: ({ args }: Args<"rememberHosts">) => file.moderation.rememberHosts(...args),
  rememberCodeCase: ({ args }: Args<"rememberCodeCase">) => file.moderation.rememberCodeCase(...args),
  fixCodeCase: ({ args }: Args<"fixCodeCase">) => file.moderation.fixCodeCase(...args),
  rememberKeep: ({ args }: Args<"rememberKeep">) => file.moderation.rememberKeep(...args),
  reportAll: ({ args }: Args<"reportAll">) => file.moderation.reportAll(...args),
  answerCase: ({ args }: Args<"answerCase">) => file.moderation.answerCase(...args),
  reopenCase: ({ args }: Args<"reopenCase">) => file.moderation.reopenCase(...args),
  ageCases: ({ args }: Args<"ageCases">) => file.moderation.ageCases(...args),
  emptyIdleLog: (_task: object) => emptyIdleLog(),
  close: (_task: object) => close(),
};

export type WriterCalls = typeof calls;

/** Runs every few seconds. Empties the log if no process has written since the last run: an empty log can't lose links. */
function emptyIdleLog(): void {
  const { size, mtimeMs } = statSync(`${file.path}-wal`);
  if (size > 0 && mtimeMs === logWrittenMs) {
    // Fails during a backup. Then the next run does it.
    waitForLocks(0);
    file.database.emptyLog();
  }
  logWrittenMs = mtimeMs;
  const fault = unreportedFault;
  unreportedFault = undefined;
  if (fault !== undefined) throw fault;
}

/** The commit before it is durable even if this fails, unless a sync fails: then nothing is certain any more. */
function checkpoint(): void {
  try {
    file.database.checkpointIfLong();
  } catch (error) {
    if (isFailedSync(error)) throw error;
    unreportedFault = error;
  }
}

function close(): void {
  closeDatabase();
  file.log?.close();
}

function closeDatabase(): void {
  const [main, ...log] = identify(file.path);
  // SQLite deletes the log by its path, where another store's log may be by now.
  if (!Bun.deepEquals(log, file.opened.slice(1))) return;
  // SQLite leaves the log of a file that was replaced, and the next start would apply it to the wrong one.
  if (main !== file.opened[0]) file.database.emptyLog();
  // Otherwise the last connection deletes the log and its index, which a restart on a full disk could not create again.
  if (wasFull || isNearlyFull(dirname(file.path)))
    file.database.fileControl(constants.SQLITE_FCNTL_PERSIST_WAL, 1);
  // The last connection to close checkpoints. Where that fails, the WAL keeps everything.
  file.database.close();
  // If a power cut undid only the deletion of the index, the next start would miss the log.
  syncFolder(dirname(file.path));
}

/** Refuses to write to files that are gone, or to report such a write as done. */
async function performInPlace(call: () => unknown): Promise<unknown> {
  file.place.requireLately();
  const result = await call();
  file.place.requireNow();
  checkpoint();
  return result;
}

/** Sets how long to wait for another process's lock. Skips the pragma, which costs a few µs, if nothing changes. */
function waitForLocks(waitMs: number): void {
  const roundedMs = Math.ceil(waitMs / 100) * 100;
  if (roundedMs === file.waitMs) return;
  file.database.run(`PRAGMA busy_timeout = ${roundedMs}`);
  file.waitMs = roundedMs;
}

performTasks(calls, async (call, { type, waitMs }) => {
  try {
    // Refuses every task, even "close", because the last connection would checkpoint again. The next start recovers.
    if (failedSync !== undefined) throw failedSync;
    if (type !== "open") waitForLocks(waitMs);
    return type === "open" || type === "close" ? await call() : await performInPlace(call);
  } catch (error) {
    if (error instanceof StoreMisplaced || error instanceof SyncFailed) throw error;
    const { code } = error as { code?: unknown };
    if (isFailedSync(error)) throw (failedSync = new SyncFailed((error as Error).message, { cause: error }));
    // With a quota, SQLite only knows that it could not write.
    wasFull ||= code === "SQLITE_FULL" || code === "SQLITE_IOERR_WRITE";
    if (typeof code === "string" && code.startsWith("SQLITE_BUSY"))
      throw new StoreBusy((error as Error).message, { cause: error });
    // Errors of SQLite or the system may be temporary.
    if (error instanceof SQLiteError || typeof code === "string")
      throw new StoreUnavailable((error as Error).message, { cause: error });
    throw error;
  }
});
