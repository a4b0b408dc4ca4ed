// The worker thread that writes, so that no commit or checkpoint ever holds up a redirect.
import { SQLiteError } from "bun:sqlite";

import { type NewLink, StoreUnavailable } from "../../links/store.ts";
import { performTasks } from "../../thread.ts";
import type { Slice } from "../../visits/slice.ts";
import type { AgeBounds } from "../../visits/store.ts";
import { openWriter } from "./file.ts";
import { prepareLinks } from "./links.ts";
import { prepareVisits } from "./visits.ts";

/** What the store sends; one answer comes back for each, in order. */
export type Task =
  | { type: "open"; path: string; busyWaitMs: number | undefined }
  | { type: "insert"; links: readonly NewLink[] }
  | { type: "end"; code: string; createdMs: number; endsMs: number }
  | { type: "purge"; endedByMs: number; limit: number }
  | ({ type: "add" } & Slice)
  | { type: "age"; bounds: AgeBounds; limit: number }
  | { type: "salt"; day: number; oldest: number }
  | { type: "close" };

function open({ path, busyWaitMs }: Extract<Task, { type: "open" }>) {
  const database = openWriter(path, busyWaitMs);
  return { database, links: prepareLinks(database), visits: prepareVisits(database) };
}

let file: ReturnType<typeof open>;

function perform(task: Task): unknown {
  switch (task.type) {
    case "open":
      file = open(task);
      return undefined;
    case "insert":
      return file.links.insert(task.links);
    case "end":
      return file.links.end(task.code, task.createdMs, task.endsMs);
    case "purge":
      return file.links.purge(task.endedByMs, task.limit);
    case "add":
      return file.visits.add(task);
    case "age":
      return file.visits.age(task.bounds, task.limit);
    case "salt":
      return file.visits.salt(task.day, task.oldest);
    case "close":
      file.links.close();
      file.visits.close();
      // The last connection to close checkpoints. Where that fails, the WAL keeps everything.
      return file.database.close();
  }
}

performTasks((task: Task) => {
  try {
    return perform(task);
  } catch (error) {
    // Whatever SQLite says may be over soon.
    if (error instanceof SQLiteError) throw new StoreUnavailable(error.message, { cause: error });
    throw error;
  }
});
