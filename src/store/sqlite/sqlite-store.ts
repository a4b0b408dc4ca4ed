import { startThread } from "../../lib/thread.ts";
import {
  type LinkStore,
  type NewLink,
  StoreMisplaced,
  StoreUnavailable,
  StoreUnusable,
  SyncFailed,
} from "../../links/link-store.ts";
import type { Report } from "../../moderation/case.ts";
import type { ModerationStore } from "../../moderation/moderation-store.ts";
import type { VisitStore } from "../../visits/days/visit-store.ts";
import { createCommits, createStoreFigures, type StoreFigures } from "../shared/commits.ts";
import { idOf } from "../shared/link-row.ts";
import { REPORTS } from "../shared/report-rows.ts";
import type { Identity } from "./file/file-identity.ts";
import { createLinkCount } from "./link-count.ts";
import { insertRow, type UpdateTask } from "./link-writes.ts";
import { createReader } from "./reader.ts";
import type { KeyedOutcome, KeyedTask } from "./repeatable-requests.ts";
import { StoreBusy } from "./store-busy.ts";
import { createWriteQueue } from "./write-queue.ts";
import type { WriterCalls } from "./writer.ts";

/** The log is emptied after one or two of these intervals without a write. */
const IDLE_MS = 5000;

export interface StoreOptions {
  /** The files that other processes have open, if any: no others are accepted. */
  readonly openElsewhere?: Identity | undefined;
  /** How long a create waits for another process to commit. */
  readonly busyWaitMs?: number;
  readonly sizeKnownMs?: number;
  /** Collects the figures of commits. */
  readonly storeFigures?: StoreFigures;
  /** Called with faults that reach no caller. */
  readonly onFault?: (error: unknown) => void;
}

const INSERTS = { waiting: 10_000, batch: 1000 };
/** Small batches, because each request may have many links. */
const REQUESTS = { waiting: 1000, batch: 64 };
const UPDATES = { waiting: 10_000, batch: 500 };

type Reader = ReturnType<typeof createReader>;

/** The methods that only read, over the files that {@link openSqliteStore} has open. */
export function openSqliteReader(path: string, opened: Identity) {
  const reader = createReader(path, opened);
  return { ...readingHalf(reader), close: async () => reader.close() };
}

function readingHalf(reader: Reader) {
  return {
    find: async (code) => reader.find(code),
    findNow: reader.find,
    owned: reader.owned,
    findAll: reader.findAll,
    sums: async (code, createdMs) => reader.sums(code, createdMs),
    days: async (code, createdMs, firstDay, lastDay) => reader.days(code, createdMs, firstDay, lastDay),
    daySums: async (code, createdMs, firstDay, lastDay) => reader.daySums(code, createdMs, firstDay, lastDay),
    visited: async (day, limit) => reader.visited(day, limit),
    hosts: reader.hosts,
    decisions: reader.decisions,
    figures: reader.figures,
    search: async (query, page) => reader.search(query, page),
    isSecret: reader.isSecret,
    isSessionEnded: reader.isSessionEnded,
    caseOf: reader.caseOf,
    cases: reader.cases,
    openCases: reader.openCases,
  } satisfies Partial<LinkStore & VisitStore & ModerationStore>;
}

/** Links, visits and decisions in one SQLite file. This thread reads on its own connection, a worker thread writes. */
export async function openSqliteStore(
  path: string,
  {
    openElsewhere,
    busyWaitMs,
    sizeKnownMs,
    storeFigures = createStoreFigures(),
    onFault = () => {},
  }: StoreOptions = {},
): Promise<LinkStore & VisitStore & ModerationStore> {
  const start = () => new Worker(new URL("./writer.ts", import.meta.url));
  const thread = startThread<WriterCalls>(start, {
    StoreUnusable,
    StoreUnavailable,
    StoreMisplaced,
    StoreBusy,
    SyncFailed,
  });
  const writer = createWriteQueue(thread, busyWaitMs);
  let reader: Reader;
  try {
    const opened = await writer.perform("open", { path, openElsewhere, busyWaitMs });
    reader = createReader(path, opened);
  } catch (error) {
    thread.terminate();
    throw error;
  }
  const inserts = createCommits(
    INSERTS,
    async (links: readonly NewLink[], sinceMs) => {
      const rows = JSON.stringify(links.map(insertRow));
      return JSON.parse(await writer.perform("insert", { rows }, sinceMs)) as boolean[];
    },
    storeFigures.links,
  );
  const requests = createCommits(
    REQUESTS,
    async (all: readonly KeyedTask[], sinceMs) =>
      JSON.parse(
        await writer.perform("insertOnce", { requests: JSON.stringify(all) }, sinceMs),
      ) as KeyedOutcome[],
    storeFigures.requests,
  );
  const updates = createCommits(
    UPDATES,
    (all: readonly UpdateTask[], sinceMs) => writer.perform("update", { updates: all }, sinceMs),
    storeFigures.updates,
  );
  const reports = createCommits(
    REPORTS,
    (all: readonly Report[], sinceMs) => writer.perform("reportAll", { args: [all] }, sinceMs),
    storeFigures.reports,
  );

  const linkCount = createLinkCount(reader.newestRowid, () => writer.perform("countLinks", {}), sizeKnownMs);

  // A failure is retried in the next interval. While another process has the lock, that one empties the log.
  const onIdleFault = (error: unknown) => (error instanceof StoreBusy ? undefined : onFault(error));
  const emptying = setInterval(() => void writer.perform("emptyIdleLog", {}).catch(onIdleFault), IDLE_MS);

  return {
    insert: inserts.add,
    ...readingHalf(reader),
    size: linkCount.size,
    async insertOnce(links, request) {
      const [outcome] = await requests.add([{ links, request }]);
      return outcome;
    },
    recall: async (request) => reader.recall(request),
    forgetRequests: (sentBeforeMs, limit) => writer.perform("forgetRequests", { sentBeforeMs, limit }),
    async update(link, change) {
      const [updated] = await updates.add([{ link: idOf(link), change }]);
      return updated;
    },
    secret: (...args) => writer.perform("secret", { args }),
    change: (...args) => writer.perform("change", { args }),
    disable: (...args) => writer.perform("disable", { args }),
    enable: (...args) => writer.perform("enable", { args }),
    handOver: (...args) => writer.perform("handOver", { args }),
    erase: (...args) => writer.perform("erase", { args }),
    blockHost: (...args) => writer.perform("blockHost", { args }),
    unblockHost: (...args) => writer.perform("unblockHost", { args }),
    undo: (...args) => writer.perform("undo", { args }),
    count: (...args) => writer.perform("count", { args }),
    endSession: (...args) => writer.perform("endSession", { args }),
    rememberHosts: (...args) => writer.perform("rememberHosts", { args }),
    rememberCodeCase: (...args) => writer.perform("rememberCodeCase", { args }),
    fixCodeCase: (...args) => writer.perform("fixCodeCase", { args }),
    rememberKeep: (...args) => writer.perform("rememberKeep", { args }),
    async report(report) {
      const [outcome] = await reports.add([report]);
      return outcome;
    },
    answerCase: (...args) => writer.perform("answerCase", { args }),
    reopenCase: (...args) => writer.perform("reopenCase", { args }),
    ageCases: (...args) => writer.perform("ageCases", { args }),
    changes: async (since) => reader.changes(since),
    async purge(endedByMs, limit) {
      const links = await writer.perform("purge", { endedByMs, limit });
      if (links > 0) linkCount.countSoon();
      return links;
    },
    add: (slice) => writer.perform("add", slice),
    age: (bounds, limit) => writer.perform("age", { bounds, limit }),
    identity: async () => reader.identity(),
    newestSaltDay: async () => reader.newestSaltDay(),
    salt: async (day, oldest) => (await writer.perform("salt", { day, oldest })) as Uint8Array,
    async close() {
      clearInterval(emptying);
      linkCount.close();
      await Promise.all([inserts, requests, updates, reports].map((commits) => commits.settled()));
      reader.close();
      try {
        await writer.perform("close", {});
      } catch (error) {
        // Ending the thread would close the file.
        if (error instanceof SyncFailed) throw error;
        thread.terminate();
        throw error;
      }
      thread.terminate();
    },
  };
}
