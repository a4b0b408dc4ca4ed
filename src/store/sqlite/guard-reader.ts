// The reading half of what the operator decided, on the reader's connection.
import type { Database } from "bun:sqlite";

import type { Code } from "../../links/code.ts";
import type { Reason } from "../../links/link.ts";
import type { Who } from "../../links/store.ts";
import type { Action, HostRule, JournalCursor, JournalEntry, JournalQuery } from "../../moderation/store.ts";

const HOSTS = `
  SELECT host, reason, since_ms AS sinceMs FROM hosts WHERE host > ?1 ORDER BY host LIMIT ?2`;
const JOURNAL = `
  SELECT entry, at_ms, who, action, reason, note, code, created_ms, host FROM journal
  WHERE entry < ?1 AND <filter> ORDER BY entry DESC LIMIT ?2`;

/** Of the journal. */
export interface EntryRow {
  entry: number;
  at_ms: number;
  who: Who;
  action: Action;
  reason: Reason | null;
  note: string | null;
  code: Code | null;
  created_ms: number | null;
  host: string | null;
}

export function prepareGuardReader(database: Database) {
  const prepareJournal = (filter: string) =>
    database.prepare<EntryRow, [number, number, string]>(JOURNAL.replace("<filter>", filter));
  const hosts = database.prepare<HostRule, [string, number]>(HOSTS);
  const all = prepareJournal("?3 = ''");
  const ofCode = prepareJournal("code = ?3");
  const ofHost = prepareJournal("host = ?3");

  return {
    hosts: (after: string, limit: number): HostRule[] => hosts.all(after, limit),
    journal({ limit, before, code, host }: JournalQuery): JournalEntry[] {
      const statement = code !== undefined ? ofCode : host !== undefined ? ofHost : all;
      const last = before === undefined ? Number.MAX_SAFE_INTEGER : Number(before);
      return statement.all(last, limit, code ?? host ?? "").map(toEntry);
    },
    close() {
      for (const statement of [hosts, all, ofCode, ofHost]) statement.finalize();
    },
  };
}

function toEntry(row: EntryRow): JournalEntry {
  const { entry, at_ms, who, action, reason, note, code, created_ms, host } = row;
  return {
    cursor: String(entry) as JournalCursor,
    atMs: at_ms,
    who,
    action,
    ...(reason !== null && { reason }),
    ...(note !== null && { note }),
    ...(code !== null && { code }),
    ...(created_ms !== null && { createdMs: created_ms }),
    ...(host !== null && { host }),
  };
}
