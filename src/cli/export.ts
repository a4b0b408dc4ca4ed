import { closeSync, openSync } from "node:fs";

import { createPartFile, explained } from "../backup/new-file.ts";
import type { Config } from "../config/config.ts";
import { writeAll } from "../lib/files.ts";
import { hasStore, openRecords } from "../store/open.ts";
import { KINDS } from "../store/shared/records.ts";
import { exportRecords } from "../transfer/export-file.ts";
import { hasSegments } from "../visits/journal/slots.ts";
import type { Arguments } from "./command.ts";
import { fail, note, printBytes } from "./terminal/print.ts";
import { showProgress } from "./terminal/progress.ts";
import { formatCount, noStore } from "./terminal/record-names.ts";

/** Exports the store to a file or to standard output; returns the exit code. */
export async function exportStore(config: Config, { positionals }: Arguments): Promise<number> {
  const { database, journalFolder } = config;
  if (!(await hasStore(database))) return fail(noStore(database));
  if (hasSegments(journalFolder))
    note("Visits that are not in the store yet are not exported. Stop Curt first if every visit counts.");
  const records = await openRecords(database);
  using progress = showProgress();
  try {
    using output = await openOutput(positionals[0] ?? "-");
    // Counting a large store takes a while, and only the progress needs it.
    const all = progress.isShown ? await records.size() : undefined;
    let done = 0;
    const counts = await exportRecords(records, output.write, (count) => {
      done += count;
      progress.report("exporting", { done, all }, count);
    });
    await output.finish();
    progress.end();
    note(`exported ${KINDS.map((kind) => formatCount(kind, counts[kind])).join(", ")}`);
    return 0;
  } finally {
    await records.close();
  }
}

export interface Output extends Disposable {
  /** Rejects with a `StoreUnusable` if the disk is full or the reader is gone. */
  write(bytes: Uint8Array): Promise<void>;
  /** Gives a complete file its name. */
  finish(): Promise<void>;
}

/** Opens a new file, or standard output for "-". Rejects with a `StoreUnusable` if it can't be written. */
export async function openOutput(file: string): Promise<Output> {
  if (file === "-")
    return {
      write: async (bytes) => printBytes(bytes),
      async finish() {},
      [Symbol.dispose]() {},
    };
  const part = await explained(file, () => createPartFile(file));
  const descriptor = openSync(part.path, "r+");
  return {
    write: (bytes) => explained(file, () => writeAll(descriptor, bytes)),
    finish: () => explained(file, part.name),
    [Symbol.dispose]() {
      closeSync(descriptor);
      part[Symbol.dispose]();
    },
  };
}
