import { type LinkStore, StoreUnavailable, StoreUnusable } from "../../links/store.ts";
import { startThread } from "../../thread.ts";
import type { VisitStore } from "../../visits/store.ts";
import { createCommits } from "./commits.ts";
import { createReader } from "./reader.ts";
import type { Task } from "./writer.ts";

/** Lower in tests, which would have to wait for them. */
export interface StoreLimits {
  /** How long a writer waits for another process to commit. */
  readonly busyWaitMs?: number;
  readonly sizeKnownMs?: number;
}

type Reader = ReturnType<typeof createReader>;

/** The methods that only read, over a file that {@link openSqliteStore} has prepared. */
export function openSqliteReader(path: string) {
  return readingHalf(createReader(path));
}

function readingHalf(reader: Reader) {
  return {
    find: async (code) => reader.find(code),
    sums: async (code, createdMs) => reader.sums(code, createdMs),
    days: async (code, createdMs, firstDay, lastDay) => reader.days(code, createdMs, firstDay, lastDay),
  } satisfies Partial<LinkStore & VisitStore>;
}

/** Links and their visits in one SQLite file. Reads happen here on their own connection; a worker thread writes. */
export async function openSqliteStore(
  path: string,
  { busyWaitMs, sizeKnownMs }: StoreLimits = {},
): Promise<LinkStore & VisitStore> {
  const worker = new Worker(new URL("./writer.ts", import.meta.url));
  const writer = startThread<Task>(worker, { StoreUnusable, StoreUnavailable });
  let reader: Reader;
  try {
    await writer.perform({ type: "open", path, busyWaitMs });
    reader = createReader(path, sizeKnownMs);
  } catch (error) {
    writer.terminate();
    throw error;
  }
  const commits = createCommits(
    async (links) => (await writer.perform({ type: "insert", links })) as boolean[],
  );

  return {
    insert: commits.insert,
    ...readingHalf(reader),
    size: async () => reader.size(),
    end: async ({ code, createdMs }, endsMs) =>
      (await writer.perform({ type: "end", code, createdMs, endsMs })) as boolean,
    changes: async (since) => reader.changes(since),
    purge: async (endedByMs, limit) => (await writer.perform({ type: "purge", endedByMs, limit })) as number,
    add: async (slice) => (await writer.perform({ type: "add", ...slice })) as number,
    age: async (bounds, limit) => (await writer.perform({ type: "age", bounds, limit })) as number,
    salt: async (day, oldest) => (await writer.perform({ type: "salt", day, oldest })) as Uint8Array,
    async close() {
      await commits.settled();
      reader.close();
      await writer.perform({ type: "close" }).finally(() => writer.terminate());
    },
  };
}
