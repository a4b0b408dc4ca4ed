// The worker thread that reads lists, so that redirects do not wait for a million lines.
import { setPriority } from "node:os";

import { performTasks } from "../../lib/thread.ts";
import { readListFile } from "./list-file.ts";
import type { ListKey } from "./list-table.ts";

/** Redirects come first if all threads share one core. Only Linux has a priority for each thread. */
const PRIORITY = 10;

if (process.platform === "linux") setPriority(0, PRIORITY);

const calls = {
  read: ({ path, key }: { readonly path: string; readonly key: ListKey }) => readListFile(path, key),
};

export type ListCalls = typeof calls;

performTasks(calls);
