import type { LinkKey } from "../../links/code.ts";
import type { Reason } from "../../links/reasons.ts";
import type { Decision, LinkId, Who } from "../../links/store.ts";
import type { Action, DecisionCursor, DecisionEntry, DecisionQuery } from "../../moderation/store.ts";
import { idOf } from "./link-row.ts";
import { bytesOf, insertInto, isStorable, type Run, textOf } from "./sql.ts";

const COLUMNS = "at_ms, who, operator, action, reason, note, code, created_ms, host";
export const ENTRIES = `SELECT entry, ${COLUMNS} FROM journal ORDER BY entry`;
const FIND = `SELECT entry, ${COLUMNS} FROM journal WHERE entry = $1`;

interface EntryRow {
  entry: number;
  at_ms: number;
  who: Who;
  operator: string | null;
  action: Action;
  reason: Reason | null;
  note: Uint8Array | null;
  code: LinkKey | null;
  created_ms: number | null;
  host: string | null;
}

/** The link or host of a decision. */
export type Subject = LinkId | { readonly host: string };

/** Adds an entry for each subject, in the transaction of the decision. */
export async function addEntries(
  run: Run,
  action: Action,
  { atMs, who, by, note, reason }: Decision & { readonly reason?: Reason | undefined },
  subjects: readonly Subject[],
): Promise<void> {
  const entry = { atMs, who, by, action, reason, note };
  await insertEntries(
    run,
    subjects.map((subject) =>
      "host" in subject ? { ...entry, host: subject.host } : { ...entry, ...idOf(subject) },
    ),
  );
}

/** Inserts entries, which have all their numbers or none. Returns the new ones. */
export async function insertEntries(
  run: Run,
  entries: readonly Omit<DecisionEntry, "cursor">[],
): Promise<void> {
  await insertInto(
    run,
    `journal (${COLUMNS})`,
    entries.map(({ atMs, who, by, action, reason, note, code, createdMs, host }) => {
      const bytes = note === undefined ? undefined : bytesOf(note);
      return [atMs, who, by, action, reason, bytes, code, createdMs, host];
    }),
    "ON CONFLICT DO NOTHING RETURNING entry",
  );
}

export function createDecisionsReader(run: Run) {
  return {
    async decisions({ limit, before, code, host }: DecisionQuery) {
      const subject = code ?? host;
      // An invalid cursor ends the list.
      if (!/^\d{1,15}$/.test(before ?? "0") || !isStorable(subject ?? "")) return [];
      const below = before === undefined ? Number.MAX_SAFE_INTEGER : Number(before);
      const filter = code !== undefined ? "AND code = $3" : host !== undefined ? "AND host = $3" : "";
      const { rows } = await run<EntryRow>(
        `SELECT entry, ${COLUMNS} FROM journal WHERE entry < $1 ${filter} ORDER BY entry DESC LIMIT $2`,
        subject === undefined ? [below, limit] : [below, limit, subject],
      );
      return rows.map((row) => ({ ...toEntry(row), cursor: String(row.entry) as DecisionCursor }));
    },
  };
}

export function toEntry(row: EntryRow): Omit<DecisionEntry, "cursor"> {
  const { at_ms, who, operator, action, reason, note, code, created_ms, host } = row;
  return {
    entry,
    atMs: at_ms,
    who,
    ...(operator !== null && { by: operator }),
    action,
    ...(reason !== null && { reason }),
    ...(note !== null && { note: textOf(note) }),
    ...(code !== null && { code }),
    ...(created_ms !== null && { createdMs: created_ms }),
    ...(host !== null && { host }),
  };
}
