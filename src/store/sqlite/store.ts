import type { Database } from "bun:sqlite";

import type { Code } from "../../links/code.ts";
import { type Link, NEVER_MS } from "../../links/link.ts";
import { type InsertOutcome, type LinkStore, type NewLink, StoreUnavailable } from "../../links/store.ts";
import type { Target } from "../../links/target.ts";
import type { DayDetail } from "../../visits/day.ts";
import { type VisitStore, type DayVisits, SegmentDamaged, type Sums } from "../../visits/store.ts";
import { openReader, StoreUnusable } from "./file.ts";
import type { Folded } from "./visits.ts";
import type { Answer, Row, Task } from "./writer.ts";

/** Rows that wait for their commit; more are refused, so that waiting stays bounded in memory and time. */
const MAX_WAITING_ROWS = 10_000;
/** How long the number of links is taken as known: generated codes ask for it each time. */
const SIZE_KNOWN_MS = 1000;
/** Rows in one transaction. */
const MAX_BATCH_ROWS = 1000;

const FIND = "SELECT original_url, target, created_ms, ends_ms FROM links WHERE code = ?1";
/** Each day is one look-up by key: rows are ordered by day, so that new ones stand together. */
const DAYS = `
  WITH RECURSIVE span (day) AS (
    SELECT max(?3, (SELECT min(day) FROM visits WHERE day > 0))
    UNION ALL SELECT day + 1 FROM span WHERE day < min(?4, (SELECT max(day) FROM visits)))
  SELECT visits.day, visits, bots, detail FROM span CROSS JOIN visits
    ON visits.day = span.day AND visits.day <= ?4 AND code = ?1 AND created_ms = ?2`;
const SUMS = `
  SELECT coalesce(sum(visits), 0) AS visits, coalesce(sum(bots), 0) AS bots FROM (
    SELECT visits, bots FROM visits WHERE day = 0 AND code = ?1 AND created_ms = ?2
    UNION ALL SELECT visits, bots FROM (${DAYS}))`;
const DAY_MS = 86_400_000;
const LAST_DAY = 2_932_896;
const SIZE = "SELECT coalesce(max(rowid), 0) AS size FROM links";

/** Lower in tests, which would have to wait for them. */
export interface StoreLimits {
  /** How long a writer waits for another process to commit. */
  readonly busyWaitMs?: number;
  readonly sizeKnownMs?: number;
}

interface FoundRow {
  original_url: string;
  target: string | null;
  created_ms: number;
  ends_ms: number | null;
}

interface DayRow extends Sums {
  day: number;
  detail: string;
}

interface Waiting {
  readonly rows: readonly NewLink[];
  resolve(outcomes: InsertOutcome[]): void;
  reject(reason: unknown): void;
}

/**
 * Links and their visits in one SQLite file. Reads happen here on their own connection; a worker thread writes. Inserts that
 * arrive while a commit is under way share the next one: one transaction and one sync for all of them.
 */
export async function openSqliteStore(
  path: string,
  { busyWaitMs, sizeKnownMs = SIZE_KNOWN_MS }: StoreLimits = {},
): Promise<LinkStore & VisitStore> {
  const writer = startWriter();
  let reader: Database;
  try {
    await writer.perform({ type: "open", path, busyWaitMs });
    reader = openReader(path);
  } catch (error) {
    writer.terminate();
    throw error;
  }
  const find = reader.prepare<FoundRow, [string]>(FIND);
  const size = reader.prepare<{ size: number }, []>(SIZE);
  const days = reader.prepare<DayRow, [string, number, number, number]>(DAYS);
  const sums = reader.prepare<Sums, [string, number, number, number]>(SUMS);

  let known = { size: 0, untilMs: 0 };
  const waiting: Waiting[] = [];
  let waitingRows = 0;
  let committing: Promise<void> | undefined;

  async function commitAll(): Promise<void> {
    // Let the requests that are being read right now join the first batch.
    await new Promise(setImmediate);
    while (waiting.length > 0) await commitBatch(takeBatch());
    committing = undefined;
  }

  function takeBatch(): Waiting[] {
    let rows = 0;
    let count = 0;
    for (const entry of waiting) {
      rows += entry.rows.length;
      if (count > 0 && rows > MAX_BATCH_ROWS) break;
      count++;
    }
    return waiting.splice(0, count);
  }

  async function commitBatch(batch: Waiting[]): Promise<void> {
    try {
      const inserted = (await writer.perform({ type: "insert", rows: batch.flatMap(toRows) })) as boolean[];
      let at = 0;
      for (const { rows, resolve } of batch) {
        resolve(rows.map(() => (inserted[at++] ? "inserted" : "taken")));
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      for (const { rows } of batch) waitingRows -= rows.length;
    }
  }

  return {
    insert(rows) {
      if (waitingRows + rows.length > MAX_WAITING_ROWS) {
        return Promise.reject(new StoreUnavailable(`${waitingRows} links already wait for their commit`));
      }
      waitingRows += rows.length;
      const outcomes = new Promise<InsertOutcome[]>((resolve, reject) =>
        waiting.push({ rows, resolve, reject }),
      );
      committing ??= commitAll();
      return outcomes;
    },
    async find(code) {
      const row = reading(() => find.get(code));
      return row === null ? undefined : toLink(code, row);
    },
    async purge(endedByMs, limit) {
      return (await writer.perform({ type: "purge", endedByMs, limit })) as number;
    },
    async size() {
      const nowMs = performance.now();
      if (nowMs >= known.untilMs) {
        known = { size: reading(() => size.get())?.size ?? 0, untilMs: nowMs + sizeKnownMs };
      }
      return known.size;
    },
    async fold(segment) {
      let workMs = 0;
      for (;;) {
        const folded = (await writer.perform({ type: "fold", path: segment })) as Folded;
        workMs += folded.workMs;
        if (folded.isDone) return workMs;
      }
    },
    async sums(code, createdMs) {
      // A clock may step back over midnight.
      const firstDay = Math.floor(createdMs / DAY_MS) - 1;
      return reading(() => sums.get(code, createdMs, firstDay, LAST_DAY)) ?? { visits: 0, bots: 0 };
    },
    async days(code, createdMs, firstDay, lastDay) {
      return reading(() => days.all(code, createdMs, firstDay, lastDay)).map(toDay);
    },
    async age(bounds, limit) {
      return (await writer.perform({ type: "age", bounds, limit })) as number;
    },
    async salt(day, oldest) {
      return (await writer.perform({ type: "salt", day, oldest })) as Uint8Array;
    },
    async close() {
      await committing;
      for (const statement of [find, size, days, sums]) statement.finalize();
      reader.close();
      await writer.perform({ type: "close" }).finally(() => writer.terminate());
    },
  };
}

function failureOf({ failure, kind }: Extract<Answer, { failure: string }>): Error {
  switch (kind) {
    case "unusable":
      return new StoreUnusable(failure);
    case "unavailable":
      return new StoreUnavailable(failure);
    case "damaged":
      return new SegmentDamaged(failure);
    case "fault":
      return new Error(failure);
  }
}

/** A reading that fails says nothing about the link. */
function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new StoreUnavailable("The store cannot be read", { cause: error });
  }
}

function toRows({ rows }: Waiting): Row[] {
  return rows.map((row) => [
    row.code,
    row.originalUrl,
    (row.target as string) === row.originalUrl ? null : row.target,
    row.createdMs,
    row.endsMs === NEVER_MS ? null : row.endsMs,
    row.freeIfEndedByMs,
  ]);
}

function toLink(code: Code, row: FoundRow): Link {
  return {
    code,
    originalUrl: row.original_url,
    target: (row.target ?? row.original_url) as Target,
    createdMs: row.created_ms,
    endsMs: row.ends_ms ?? NEVER_MS,
  };
}

function toDay({ day, visits, bots, detail }: DayRow): DayVisits {
  return { day, visits, bots, detail: JSON.parse(detail) as DayDetail };
}

/** The worker thread as a function: tasks are performed one by one, in order. */
function startWriter() {
  const worker = new Worker(new URL("./writer.ts", import.meta.url));
  const asked: { resolve(result: unknown): void; reject(reason: unknown): void }[] = [];
  worker.onmessage = ({ data: answer }: MessageEvent<Answer>) => {
    const task = asked.shift();
    if ("ok" in answer) task?.resolve(answer.ok);
    else task?.reject(failureOf(answer));
  };
  // The worker catches what its tasks throw: when it ends by itself, that is a fault of the program. Nobody may
  // wait for it then, and the last-resort handler is told.
  let dead: Error | undefined;
  function die(reason: string): void {
    if (dead !== undefined) return;
    dead = new Error(`The writer thread ended: ${reason}`);
    for (const task of asked.splice(0)) task.reject(dead);
    throw dead;
  }
  worker.addEventListener("error", ({ message }) => die(message));
  worker.addEventListener("close", () => die("it exited"));
  return {
    perform(task: Task): Promise<unknown> {
      if (dead !== undefined) return Promise.reject(dead);
      return new Promise((resolve, reject) => {
        asked.push({ resolve, reject });
        worker.postMessage(task);
      });
    },
    terminate() {
      dead ??= new Error("The writer thread was terminated");
      worker.terminate();
    },
  };
}
