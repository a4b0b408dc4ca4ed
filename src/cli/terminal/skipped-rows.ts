import { closeSync, openSync } from "node:fs";

import { writeAll } from "../../lib/files.ts";
import { escapeLine } from "../../lib/log.ts";
import { StoreUnusable } from "../../links/link-store.ts";
import type { Refusal } from "../../links/problem.ts";
import { message } from "../../locales/messages.ts";
import type { SkippedRow, SkipReason } from "../../transfer/import-links.ts";
import { print } from "./print.ts";

/** Printed rows per reason. */
export const MAX_ROWS = 20;
/** Limits printed rows, because a cell may have millions of characters. */
const MAX_LENGTH = 200;
/** Limits the memory for a file in which each row has a reason of its own. */
const MAX_REASONS = 200;

/** The rules that only imports have. */
const IMPORT_RULES: Partial<Record<SkipReason["rule"], string>> = {
  "conflict.store": "another link has the code already",
  "conflict.file": "another link earlier in the file has the same code",
  "visits.no-link": "visits: no link in the file has the code",
  "code.unreachable": "code: no address can have a code with /, +, a dot or a control character",
  "code.empty": "code: it is missing",
  dates: "dates: they are not between 1970 and 9999",
};

/** Collects skipped rows. Prints the first ones, and writes all to the file `path` if given. */
export function openSkippedRows(path: string | undefined) {
  const file = path === undefined ? undefined : explainFailure(path, () => openSync(path, "w", 0o600));
  const reasons = new Map<string, { rows: string[]; count: number }>();
  let total = 0;
  return {
    add({ place, code, why }: SkippedRow): void {
      total++;
      const { reason, detail } = describe(why);
      const row = escapeLine(
        `${place}${code === "" ? "" : `: ${code}`}${detail === undefined ? "" : ` (${detail})`}`,
      );
      if (path !== undefined && file !== undefined)
        explainFailure(path, () => writeAll(file, Buffer.from(`${row}: ${escapeLine(reason)}\n`)));
      const key = reasons.has(reason) || reasons.size < MAX_REASONS ? reason : "other reasons";
      const group = reasons.get(key) ?? { rows: [], count: 0 };
      reasons.set(key, group);
      group.count++;
      if (group.rows.length < MAX_ROWS)
        group.rows.push(row.length > MAX_LENGTH ? `${row.slice(0, MAX_LENGTH)}…` : row);
    },
    count: () => total,
    print(): void {
      for (const [reason, { rows, count }] of reasons) {
        print(`left out, ${count.toLocaleString("en")}: ${escapeLine(reason)}`);
        for (const row of rows) print(`  ${row}`);
        if (count > rows.length)
          print(
            `  and ${(count - rows.length).toLocaleString("en")} more${path === undefined ? "; --report FILE lists all" : ""}`,
          );
      }
    },
    [Symbol.dispose](): void {
      if (file !== undefined) closeSync(file);
    },
  };
}

function explainFailure<T>(path: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    throw new StoreUnusable(`The report ${path} could not be written: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}

/** Separates the text that groups rows from the detail of one row. */
function describe(why: SkipReason): { readonly reason: string; readonly detail?: string | undefined } {
  if (why.rule === "row") return { reason: why.reason };
  const importRule = IMPORT_RULES[why.rule];
  if (importRule !== undefined) return { reason: importRule };
  const { rule, ...values } = why as Refusal;
  const reason = message("en", rule, {
    ...values,
    ...("character" in why && { character: "A character" }),
    ...("host" in why && { host: "the host" }),
  });
  return {
    // Some messages start with "The control character {character}" or similar.
    reason: `${rule.startsWith("code.") ? "code" : "URL"}: ${reason.replace(" A character", "")}`,
    detail: "character" in why ? why.character : "host" in why ? why.host : undefined,
  };
}
