import { startThread } from "../../lib/thread.ts";
import type { StoredLink } from "../../links/link.ts";
import {
  type LinkStore,
  type NewLink,
  StoreMisplaced,
  StoreUnavailable,
  StoreUnusable,
  SyncFailed,
  type Updated,
} from "../../links/store.ts";
import type { Report } from "../../moderation/case.ts";
import type { GuardStore } from "../../moderation/store.ts";
import type { VisitStore } from "../../visits/days/store.ts";
import { createCommits, createStoreFigures, type StoreFigures } from "../shared/commits.ts";
import { idOf } from "../shared/link-row.ts";
import { REPORTS } from "../shared/reports.ts";
import type { Identity } from "./file/file-identity.ts";
import type { UpdateTask } from "./links.ts";
import { createReader } from "./reader.ts";
import type { KeyedOutcome, KeyedTask } from "./requests.ts";
import { createWriteQueue } from "./write-queue.ts";
import { type Guard, StoreBusy, type Task, type TimedTask } from "./write-task.ts";

/** The log is emptied after one or two of these intervals without a write. */
const REST_EVERY_MS = 5000;

export interface StoreOptions {
  /** The files that other processes have open, if any: no others are accepted. */
  readonly openElsewhere?: Identity | undefined;
  /** How long a create waits for another process to commit. */
  readonly busyWaitMs?: number;
  readonly sizeKnownMs?: number;
  /** Collects the figures of commits. */
  readonly storeFigures?: StoreFigures;
  /** Called with faults of tasks that no caller waits for. */
  readonly onFault?: (error: unknown) => void;
}

const INSERTS = { waiting: 10_000, batch: 1000 };
/** Small batches, because each request may have many links. */
const REQUESTS = { waiting: 1000, batch: 64 };
const UPDATES = { waiting: 10_000, batch: 500 };

type Reader = ReturnType<typeof createReader>;

/** The methods that only read, over the files that {@link openSqliteStore} has open. */
export function openSqliteReader(path: string, opened: Identity) {
  return readingHalf(createReader(path, opened));
}

function readingHalf(reader: Reader) {
  return {
    find: async (code) => reader.find(code),
    findNow: reader.find,
    sums: async (code, createdMs) => reader.sums(code, createdMs),
    days: async (code, createdMs, firstDay, lastDay) => reader.days(code, createdMs, firstDay, lastDay),
    daySums: async (code, createdMs, firstDay, lastDay) => reader.daySums(code, createdMs, firstDay, lastDay),
    hosts: reader.hosts,
    journal: reader.journal,
    figures: reader.figures,
    search: async (query, page) => reader.search(query, page),
    isSecret: reader.isSecret,
    isSessionEnded: reader.isSessionEnded,
    caseOf: reader.caseOf,
    cases: reader.cases,
  } satisfies Partial<LinkStore & VisitStore & GuardStore>;
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
): Promise<LinkStore & VisitStore & GuardStore> {
  const start = () => new Worker(new URL("./writer.ts", import.meta.url));
  const thread = startThread<TimedTask>(start, {
    StoreUnusable,
    StoreUnavailable,
    StoreMisplaced,
    StoreBusy,
    SyncFailed,
  });
  const writer = createWriteQueue(thread, busyWaitMs);
  let reader: Reader;
  try {
    const opened = (await writer.perform({ type: "open", path, openElsewhere, busyWaitMs })) as Identity;
    reader = createReader(path, opened, sizeKnownMs);
  } catch (error) {
    thread.terminate();
    throw error;
  }
  const inserts = createCommits(
    INSERTS,
    async (links: readonly NewLink[], sinceMs) =>
      JSON.parse(
        (await writer.perform({ type: "insert", links: JSON.stringify(links) }, sinceMs)) as string,
      ) as boolean[],
    storeFigures.links,
  );
  const requests = createCommits(
    REQUESTS,
    async (all: readonly KeyedTask[], sinceMs) =>
      JSON.parse(
        (await writer.perform({ type: "insertOnce", requests: JSON.stringify(all) }, sinceMs)) as string,
      ) as KeyedOutcome[],
    storeFigures.requests,
  );
  const updates = createCommits(
    UPDATES,
    async (all: readonly UpdateTask[], sinceMs) =>
      (await writer.perform({ type: "update", updates: all }, sinceMs)) as Updated[],
    storeFigures.updates,
  );
  const reports = createCommits(
    REPORTS,
    (all: readonly Report[], sinceMs) =>
      writer.perform({ type: "reportAll", args: [all] }, sinceMs) as ReturnType<Guard["reportAll"]>,
    storeFigures.reports,
  );

  const guard =
    <Name extends keyof Guard>(type: Name) =>
    (...args: Parameters<Guard[Name]>) =>
      writer.perform({ type, args } as Task) as ReturnType<Guard[Name]>;

  // A failure is retried in the next interval. While another process has the lock, that one empties the log.
  const onRestFault = (error: unknown) => (error instanceof StoreBusy ? undefined : onFault(error));
  const resting = setInterval(() => void writer.perform({ type: "rest" }).catch(onRestFault), REST_EVERY_MS);

  return {
    async insert(links) {
      const inserted = await inserts.add(links);
      return links.map((link, nth) => (inserted[nth] === true ? withoutHold(link) : { kind: "taken" }));
    },
    ...readingHalf(reader),
    size: async () => reader.size(),
    async insertOnce(links, request) {
      const [outcome = []] = await requests.add([{ links, request }]);
      return outcome;
    },
    recall: async (request) => reader.recall(request),
    forgetRequests: async (sentBeforeMs, limit) =>
      (await writer.perform({ type: "forgetRequests", sentBeforeMs, limit })) as number,
    async update(link, change) {
      const [updated = { link: undefined, isChanged: false }] = await updates.add([
        { link: idOf(link), change },
      ]);
      return updated;
    },
    secret: guard("secret"),
    change: guard("change"),
    disable: guard("disable"),
    enable: guard("enable"),
    erase: guard("erase"),
    blockHost: guard("blockHost"),
    unblockHost: guard("unblockHost"),
    count: guard("count"),
    endSession: guard("endSession"),
    async report(report) {
      const [outcome = "repeated"] = await reports.add([report]);
      return outcome;
    },
    answerCase: guard("answerCase"),
    reopenCase: guard("reopenCase"),
    ageCases: guard("ageCases"),
    changes: async (since) => reader.changes(since),
    purge: async (endedByMs, limit) => (await writer.perform({ type: "purge", endedByMs, limit })) as number,
    add: async (slice) => (await writer.perform({ type: "add", ...slice })) as number,
    age: async (bounds, limit) => (await writer.perform({ type: "age", bounds, limit })) as number,
    newestSaltDay: async () => reader.newestSaltDay(),
    salt: async (day, oldest) => (await writer.perform({ type: "salt", day, oldest })) as Uint8Array,
    async close() {
      clearInterval(resting);
      await Promise.all([inserts, requests, updates, reports].map((commits) => commits.settled()));
      reader.close();
      try {
        await writer.perform({ type: "close" });
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

/** Lists the fields, because copying the rest of an object takes several times as long. */
function withoutHold({ code, originalUrl, target, createdMs, endsMs, terms }: NewLink): StoredLink {
  return { code, originalUrl, target, createdMs, endsMs, terms };
}
