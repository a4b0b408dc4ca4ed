import type { Code } from "../../links/code.ts";
import type { Reason } from "../../links/link.ts";
import type { Who } from "../../links/store.ts";
import type {
  Action,
  GuardStore,
  HostRule,
  JournalCursor,
  JournalEntry,
  JournalQuery,
} from "../../moderation/store.ts";
import type { Database } from "./connection/database.ts";
import { isStorable, textOf } from "./text.ts";

const HOSTS = `SELECT host, reason, since_ms AS "sinceMs" FROM hosts WHERE host > $1 ORDER BY host LIMIT $2`;
const journalOf = (filter: string) => `
  SELECT entry, at_ms, who, action, reason, note, code, created_ms, host FROM journal
  WHERE entry < $1 AND ${filter} ORDER BY entry DESC LIMIT $2`;
const JOURNAL = journalOf("true");
const JOURNAL_OF_CODE = journalOf("code = $3 AND host IS NULL");
const JOURNAL_OF_HOST = journalOf("host = $3");
const AFTER_ALL = "ffffffff-ffff-ffff-ffff-ffffffffffff";
const ENTRY_ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Of the journal. */
export interface EntryRow {
  entry: string;
  at_ms: number;
  who: Who;
  action: Action;
  reason: Reason | null;
  note: Uint8Array | null;
  code: Code | "";
  created_ms: number | null;
  host: string | null;
}

/** Reads what the operator decided. */
export function createGuardReader({ run }: Pick<Database, "run">) {
  return {
    async hosts(after: string, limit: number) {
      return isStorable(after) ? (await run<HostRule>(HOSTS, [after, limit])).rows : [];
    },
    async journal({ limit, before, code, host }: JournalQuery) {
      const last = before ?? AFTER_ALL;
      const subject = code ?? host;
      // Nothing comes after a cursor that is none of ours.
      if (!ENTRY_ID.test(last) || !isStorable(subject ?? "")) return [];
      const statement = code !== undefined ? JOURNAL_OF_CODE : host !== undefined ? JOURNAL_OF_HOST : JOURNAL;
      const values = subject === undefined ? [last, limit] : [last, limit, subject];
      return (await run<EntryRow>(statement, values)).rows.map(toEntry);
    },
  } satisfies Partial<GuardStore>;
}

function toEntry({
  entry,
  at_ms,
  who,
  action,
  reason,
  note,
  code,
  created_ms,
  host,
}: EntryRow): JournalEntry {
  return {
    cursor: entry as JournalCursor,
    atMs: at_ms,
    who,
    action,
    ...(reason !== null && { reason }),
    ...(note !== null && { note: textOf(note) }),
    ...(code !== "" && { code }),
    ...(created_ms !== null && { createdMs: created_ms }),
    ...(host !== null && { host }),
  };
}
