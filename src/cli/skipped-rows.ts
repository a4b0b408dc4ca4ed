import { closeSync, openSync, writeSync } from "node:fs";

import { escapeLine } from "../lib/escape-line.ts";
import { StoreUnusable } from "../links/store.ts";
import { message } from "../locales/messages.ts";
import type { Refused } from "../transfer/arriving-link.ts";
import type { Left, Why } from "../transfer/import-links.ts";
import { print } from "./terminal/print.ts";

/** Rows of each reason that are printed. */
const MAX_PRINTED = 20;
/** Per printed row. Rows of a file may have millions of characters. */
const MAX_LENGTH = 200;
/** More reasons than that are a mistake of a source. */
const MAX_REASONS = 200;

/** Collects rows that are not taken in. All of them go to the file `path`, if there is one, the first ones to the terminal. */
export function openLeftRows(path: string | undefined) {
  const file = path === undefined ? undefined : explained(path, () => openSync(path, "w", 0o600));
  const reasons = new Map<string, { rows: string[]; count: number }>();
  let all = 0;
  return {
    add({ place, code, why }: Left): void {
      all++;
      const { reason, detail } = inWords(why);
      const row = escapeLine(
        `${place}${code === "" ? "" : `: ${code}`}${detail === undefined ? "" : ` (${detail})`}`,
      );
      if (path !== undefined && file !== undefined)
        explained(path, () => writeSync(file, `${row}: ${escapeLine(reason)}\n`));
      const key = reasons.has(reason) || reasons.size < MAX_REASONS ? reason : "other reasons";
      const known = reasons.get(key) ?? { rows: [], count: 0 };
      reasons.set(key, known);
      known.count++;
      if (known.rows.length < MAX_PRINTED)
        known.rows.push(row.length > MAX_LENGTH ? `${row.slice(0, MAX_LENGTH)}…` : row);
    },
    count: () => all,
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

export type LeftRows = ReturnType<typeof openLeftRows>;

function explained<T>(path: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    throw new StoreUnusable(`The report ${path} could not be written: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}

/** The reason, which many rows share, and a detail of this one. */
function inWords(why: Why): { readonly reason: string; readonly detail?: string | undefined } {
  switch (why.kind) {
    case "row":
      return { reason: why.reason };
    case "conflict":
      return {
        reason:
          why.with === "store"
            ? "another link has the code already"
            : "another link earlier in the file has the same code",
      };
    case "refused":
      return { reason: ruleInWords(why.by), detail: detailOf(why.by) };
  }
}

/** The same text for all rows with the same reason, so that they are counted together. */
function ruleInWords(refused: Refused): string {
  if (refused.rule === "code.unreachable")
    return "code: no address leads to a code with /, +, a dot or a control character";
  if (refused.rule === "code.empty") return "code: there is none";
  if (refused.rule === "dates") return "dates: they are not between 1970 and 9999";
  const { rule, ...values } = refused;
  const common = {
    ...values,
    ...("character" in refused && { character: "A character" }),
    ...("host" in refused && { host: "the host" }),
  };
  // Some start with "The control character {character}" or the like.
  const words = message("en", rule, common).replace(" A character", "");
  return `${rule.startsWith("code.") ? "code" : "URL"}: ${words}`;
}

function detailOf(refused: Refused): string | undefined {
  if ("character" in refused) return refused.character;
  return "host" in refused ? refused.host : undefined;
}
