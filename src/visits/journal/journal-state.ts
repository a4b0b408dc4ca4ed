import { closeSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { openExisting, readHead } from "./segment-copy.ts";
import { Head } from "./segment-layout.ts";
import { lockFile } from "./slots.ts";

/** `served`: a process uses the journal. `waiting`: ended processes left visits that aren't in the store. */
export function journalState(folder: string): "served" | "waiting" | "idle" {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  for (const name of names.filter((one) => /^\d+\.lock$/.test(one))) {
    const lock = lockFile(join(folder, name));
    if (lock === undefined) return "served";
    lock.close();
  }
  return names.some((name) => name.endsWith(".visits") && hasVisits(join(folder, name))) ? "waiting" : "idle";
}

/** Whether a segment of an ended process has visits. */
function hasVisits(path: string): boolean {
  const file = openExisting(path);
  if (file === undefined) return false;
  try {
    const head = readHead(file);
    return head[Head.sequence] !== 0 && head[Head.usedNameBytes] !== 0;
  } finally {
    closeSync(file);
  }
}
