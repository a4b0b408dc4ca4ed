// The worker thread that reads lists, so that redirects do not wait for a million lines.
import { performTasks } from "../thread.ts";
import { readListFile } from "./list-file.ts";
import type { ListKey } from "./list-table.ts";

export interface ListTask {
  readonly path: string;
  readonly key: ListKey;
}

performTasks(({ path, key }: ListTask) => readListFile(path, key));
