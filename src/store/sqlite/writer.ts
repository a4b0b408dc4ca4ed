// The worker thread that writes, so that no commit or checkpoint ever holds up a redirect.
import { type Database, SQLiteError } from "bun:sqlite";

import type { AgeBounds } from "../../visits/store.ts";
import { openWriter, StoreUnusable } from "./file.ts";
import { prepareVisits } from "./visits.ts";

declare const self: Worker;

/** What the store sends; one answer comes back for each, in order. */
export type Task =
  | { type: "open"; path: string; busyWaitMs: number | undefined }
  | { type: "insert"; rows: Row[] }
  | { type: "purge"; endedByMs: number; limit: number }
  | { type: "fold"; path: string }
  | { type: "age"; bounds: AgeBounds; limit: number }
  | { type: "salt"; day: number; oldest: number }
  | { type: "close" };

/** code, original_url, target or null, created_ms, ends_ms or null, free if ended by (ms) */
export type Row = [string, string, string | null, number, number | null, number];

export type Answer = { ok: unknown } | { failure: string; kind: FailureKind };

/** A refusal to open; what may pass; a segment that cannot be folded, now or ever; a mistake of ours. */
export type FailureKind = "unusable" | "unavailable" | "damaged" | "fault";

const INSERT = `
  INSERT INTO links (code, original_url, target, created_ms, ends_ms) VALUES (?1, ?2, ?3, ?4, ?5)
  ON CONFLICT (code) DO UPDATE
    SET original_url = excluded.original_url, target = excluded.target,
        created_ms = excluded.created_ms, ends_ms = excluded.ends_ms
    WHERE links.ends_ms <= ?6`;
/** The rest of a link's statistics ages by itself. */
const PURGE_SUMS = `
  DELETE FROM visits WHERE day = 0 AND (code, created_ms) IN
    (SELECT code, created_ms FROM links WHERE ends_ms <= ?1 ORDER BY ends_ms LIMIT ?2)`;
const PURGE = `
  DELETE FROM links WHERE rowid IN (SELECT rowid FROM links WHERE ends_ms <= ?1 ORDER BY ends_ms LIMIT ?2)`;

function prepare(database: Database) {
  const insert = database.prepare<unknown, Row>(INSERT);
  const purgeSums = database.prepare<unknown, [number, number]>(PURGE_SUMS);
  const purge = database.prepare<unknown, [number, number]>(PURGE);
  const visits = prepareVisits(database);
  const insertAll = database.transaction((rows: Row[]) =>
    rows.map((row) => insert.run(...row).changes === 1),
  );
  const purgeAll = database.transaction((endedByMs: number, limit: number) => {
    purgeSums.run(endedByMs, limit);
    return purge.run(endedByMs, limit).changes;
  });

  return {
    ...visits,
    /** One transaction, one sync: this is the group commit. Returns after COMMIT did. */
    insert: (rows: Row[]) => insertAll.immediate(rows),
    purge: (endedByMs: number, limit: number) => purgeAll.immediate(endedByMs, limit),
    close() {
      for (const statement of [insert, purgeSums, purge]) statement.finalize();
      visits.close();
      // The last connection to close checkpoints; where that fails, the WAL keeps everything.
      database.close();
    },
  };
}

let file: ReturnType<typeof prepare>;

function perform(task: Task): unknown {
  switch (task.type) {
    case "open":
      file = prepare(openWriter(task.path, task.busyWaitMs));
      return undefined;
    case "insert":
      return file.insert(task.rows);
    case "purge":
      return file.purge(task.endedByMs, task.limit);
    case "fold":
      return file.foldSome(task.path);
    case "age":
      return file.age(task.bounds, task.limit);
    case "salt":
      return file.salt(task.day, task.oldest);
    case "close":
      return file.close();
  }
}

function kindOf(error: unknown, task: Task): FailureKind {
  if (error instanceof StoreUnusable) return "unusable";
  const code = (error as { code?: unknown }).code;
  // Whatever SQLite or the system says may be over soon, except that a file is gone.
  if (error instanceof SQLiteError || (typeof code === "string" && code !== "ENOENT")) return "unavailable";
  return task.type === "fold" ? "damaged" : "fault";
}

self.onmessage = ({ data }: MessageEvent<Task>) => {
  let answer: Answer;
  try {
    answer = { ok: perform(data) };
  } catch (error) {
    const failure = error instanceof Error ? error.message : String(error);
    answer = { failure, kind: kindOf(error, data) };
  }
  self.postMessage(answer);
};
