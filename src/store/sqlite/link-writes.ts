// The writer's half of the links, in the worker thread. Each call is one transaction.
import { applyChange, type Change, isSilent } from "../../links/change.ts";
import type { LinkId, NewLink, Updated } from "../../links/link-store.ts";
import type { StoredLink } from "../../links/link.ts";
import { termsJson } from "../../links/terms/term-values.ts";
import { LINK_COLUMNS, type LinkRow, storedEndMs, storedTarget, toLink } from "../shared/link-row.ts";
import type { FileDatabase } from "./file/file-database.ts";
import { COUNT } from "./link-count.ts";

/** A reused code also gets a new rowid, because newer links have higher ones. */
const INSERT = `
  INSERT INTO links (code, original_url, target, created_ms, ends_ms, terms)
  VALUES (?1, ?2, ?3, ?4, ?5, ?7)
  ON CONFLICT (code) DO UPDATE
    SET rowid = excluded.rowid, original_url = excluded.original_url, target = excluded.target,
        created_ms = excluded.created_ms, ends_ms = excluded.ends_ms, terms = excluded.terms
    WHERE links.ends_ms <= ?6 AND links.disabled IS NULL`;
/** Read once per transaction, so that creates cost no more while recording is off. */
const IS_RECORDING = "SELECT 1 FROM event_recording";
/** Not a trigger, because an import must record no events. */
const ADD_EVENT = "INSERT INTO events (type, code, created_ms) VALUES ('link.created', ?1, ?2)";
/** Leaves existing codes alone. */
export const ADD_LINK = `
  INSERT INTO links (code, original_url, target, created_ms, ends_ms, disabled, terms)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (code) DO NOTHING`;
const FIND = `SELECT rowid, ${LINK_COLUMNS} FROM links WHERE code = ?1 AND created_ms = ?2`;
const UPDATE = `
  UPDATE links SET original_url = ?2, target = ?3, ends_ms = ?4, terms = ?5 WHERE rowid = ?1`;
/** A trigger deletes the sum of old days. The days of statistics age by themselves. */
const PURGE = `
  DELETE FROM links WHERE rowid IN (
    SELECT rowid FROM links WHERE ends_ms <= ?1 AND disabled IS NULL ORDER BY ends_ms LIMIT ?2)
  RETURNING 1`;

/** Rows cross to the writer's thread instead of links: they are shorter, and need no work there. */
export type Row = ReturnType<typeof columnsOf>;

export interface UpdateTask {
  readonly link: LinkId;
  readonly change: Change;
}

export function createLinks(database: FileDatabase, addChange: (code: string) => void) {
  const insert = database.statement<unknown, Row>(INSERT);
  const isRecording = database.statement<unknown, []>(IS_RECORDING);
  const addEvent = database.statement<unknown, [string, number]>(ADD_EVENT);
  const find = database.statement<LinkRow & { rowid: number }, [string, number]>(FIND);
  const update = database.statement<unknown, [number, string, string | null, number | null, string | null]>(
    UPDATE,
  );
  const count = database.statement<{ top: number; count: number }, []>(COUNT);
  const purge = database.statement<unknown, [number, number]>(PURGE);

  function insertAll(rows: readonly Row[]): boolean[] {
    const isRecorded = isRecording.get() !== null;
    return rows.map((row) => {
      const { changes } = insert.run(...row);
      if (changes === 1 && isRecorded) addEvent.run(row[0], row[3]);
      return changes === 1;
    });
  }

  function updateOne({ link: { code, createdMs }, change }: UpdateTask): Updated {
    const row = find.get(code, createdMs);
    if (row === null) return { link: undefined, isChanged: false };
    const before = toLink(code, row);
    const after = applyChange(before, change);
    if (after === undefined) return { link: before, isChanged: false };
    update.run(row.rowid, after.originalUrl, storedTarget(after), storedEndMs(after), termsJson(after));
    if (!isSilent(change)) addChange(code);
    return { link: after, isChanged: true };
  }

  const insertTransaction = database.transaction(insertAll);
  const updateTransaction = database.transaction((tasks: readonly UpdateTask[]) => tasks.map(updateOne));

  return {
    /** The group commit: one transaction and one sync. Waits for the fsync in COMMIT. Returns which were inserted. */
    insert: (rows: readonly Row[]): boolean[] => insertTransaction.immediate(rows),
    /** Inserts within the transaction of the caller. */
    insertAll,
    update: (tasks: readonly UpdateTask[]): Updated[] => updateTransaction.immediate(tasks),
    count: () => count.get() ?? { top: 0, count: 0 },
    /** RETURNING counts links only: `changes` also counts what triggers change. */
    purge: (endedByMs: number, limit: number): number => purge.all(endedByMs, limit).length,
  };
}

export type LinksTable = ReturnType<typeof createLinks>;

/** For {@link ADD_LINK}. */
export function columnsOf(link: StoredLink) {
  const { code, originalUrl, createdMs, disabled = null } = link;
  const row = [
    code,
    originalUrl,
    storedTarget(link),
    createdMs,
    storedEndMs(link),
    disabled,
    termsJson(link),
  ];
  return row as [string, string, string | null, number, number | null, string | number | null, string | null];
}

/** New links aren't disabled: in its place is the bound of codes that are free again. */
export function insertRow(link: NewLink): Row {
  const row = columnsOf(link);
  row[5] = link.freeIfEndedByMs;
  return row;
}
