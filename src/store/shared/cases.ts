import type { OtherRevision } from "../../links/change.ts";
import type { LinkKey } from "../../links/code.ts";
import { type StoredLink, targetSinceMs } from "../../links/link.ts";
import type { Reason } from "../../links/reasons.ts";
import type { Decision, LinkId, SeenLink } from "../../links/store.ts";
import {
  type CaseAnswer,
  type CaseBounds,
  type CaseCursor,
  type CaseQuery,
  type ListedCase,
  MAX_CASE_NOTES,
  MAX_COUNTED_CASES,
  type Note,
  type AnswerAction,
  type Case,
} from "../../moderation/case.ts";
import { addEntries } from "./decision-entries.ts";
import {
  block,
  decide,
  disableLocked,
  enableLocked,
  type LockedLink,
  lockLinks,
  otherRevision,
  readLocked,
  unblock,
} from "./decisions.ts";
import { bytesOf, insertInto, isStorable, list, type Run, type Statements, textOf } from "./sql.ts";

const COLUMNS =
  "code, created_ms, is_open, first_ms, last_ms, reports, reasons, pending, disabled_ms, answer, answered_ms, target_ms";
const REPLACE = `
  ON CONFLICT (code, created_ms) DO UPDATE
  SET is_open = excluded.is_open, last_ms = excluded.last_ms, reports = excluded.reports, reasons = excluded.reasons,
    pending = excluded.pending, disabled_ms = excluded.disabled_ms, answer = excluded.answer,
    answered_ms = excluded.answered_ms, target_ms = excluded.target_ms`;
export const CASES = `SELECT ${COLUMNS} FROM cases ORDER BY code, created_ms`;
const FIND = `SELECT ${COLUMNS} FROM cases WHERE code = $1 AND created_ms = $2`;
const NOTES = `
  SELECT noted_ms, reason, note FROM notes WHERE code = $1 AND created_ms = $2
  ORDER BY id DESC LIMIT ${MAX_CASE_NOTES}`;
/** $1 is the state of the last case. Naming the first state again would keep SQLite from using all columns of the index. */
const LIST = `
  SELECT ${COLUMNS} FROM cases
  WHERE is_open >= $1 AND (is_open, last_ms, code, created_ms) < ($2, $3, $4, $5)
  ORDER BY is_open DESC, last_ms DESC, code DESC, created_ms DESC LIMIT $6`;
const COUNT_OPEN = `
  SELECT count(*) AS count FROM (SELECT 1 FROM cases WHERE is_open = TRUE LIMIT ${MAX_COUNTED_CASES}) AS few`;
const FORGET_REPORTERS = `
  DELETE FROM reporters WHERE (day, code, created_ms, reporter) IN (
    SELECT day, code, created_ms, reporter FROM reporters WHERE day < $1
    ORDER BY day LIMIT $2 FOR UPDATE SKIP LOCKED)
  RETURNING day`;
/** Names both states so that the index is used. */
const FORGET_CASES = `
  DELETE FROM cases WHERE (code, created_ms) IN (
    SELECT code, created_ms FROM cases WHERE is_open IN (TRUE, FALSE) AND last_ms < $1
    LIMIT $2 FOR UPDATE SKIP LOCKED)
  RETURNING code`;

export interface CaseRow {
  code: LinkKey;
  created_ms: number;
  first_ms: number;
  last_ms: number;
  reports: number;
  reasons: string;
  pending: number;
  disabled_ms: number | null;
  answer: AnswerAction | null;
  answered_ms: number | null;
  target_ms: number | null;
}

export interface NoteRow {
  noted_ms: number;
  reason: Reason;
  note: Uint8Array;
}

export function toCase(row: CaseRow): Case {
  return {
    code: row.code,
    createdMs: row.created_ms,
    firstMs: row.first_ms,
    lastMs: row.last_ms,
    reports: row.reports,
    reasons: JSON.parse(row.reasons) as Case["reasons"],
    pending: row.pending,
    disabledMs: row.disabled_ms ?? undefined,
    answer: row.answer === null ? undefined : { action: row.answer, atMs: row.answered_ms ?? 0 },
    targetMs: row.target_ms ?? undefined,
  };
}

/** Inserts notes of cases, oldest first within a case. */
export async function insertNotes(run: Run, notes: readonly (LinkId & Note)[]): Promise<void> {
  await insertInto(
    run,
    "notes (code, created_ms, noted_ms, reason, note)",
    notes.map(({ code, createdMs, atMs, reason, note }) => [code, createdMs, atMs, reason, bytesOf(note)]),
  );
}

/** Finds the cases of locked links. The lock keeps others from changing them. */
export async function findCases(run: Run, links: readonly LinkId[]): Promise<Case[]> {
  const { rows } = await run<CaseRow>(
    `SELECT ${COLUMNS} FROM cases WHERE code IN (${list(links)})`,
    links.map(({ code }) => code),
  );
  return rows.map(toCase);
}

export async function insertCases(run: Run, cases: readonly Case[], onConflict = REPLACE): Promise<LinkId[]> {
  const rows = cases.map(({ answer, ...one }) => {
    const times = [answer === undefined, one.firstMs, one.lastMs];
    const counts = [one.reports, JSON.stringify(one.reasons), one.pending];
    const decided = [one.disabledMs, answer?.action, answer?.atMs, one.targetMs];
    return [one.code, one.createdMs, ...times, ...counts, ...decided];
  });
  return insertInto<LinkId>(run, `cases (${COLUMNS})`, rows, onConflict);
}

/** Answers cases and forgets old ones. `background` is for work that nobody waits for. */
export function createCases(statements: Statements, background: Statements) {
  /** Records every answer in the journal, even one that changes nothing: it shows that the operator has looked. */
  async function act(
    run: Run,
    links: readonly LockedLink[],
    { disabledMs, ...id }: Case,
    answer: CaseAnswer,
    decision: Decision,
  ): Promise<void> {
    const { action } = answer;
    if (action === "nothing") {
      await addEntries(run, "nothing-wrong", decision, [id]);
      if (disabledMs !== undefined) await enableLocked(run, links, decision);
      return;
    }
    const because = { ...decision, reason: answer.reason };
    const isChanged =
      action === "disable"
        ? (await disableLocked(run, links, because)).length > 0
        : await block(run, answer, decision);
    if (!isChanged)
      await addEntries(run, action, because, [action === "disable" ? id : { host: answer.host }]);
  }

  /** Undoes the effect of an answer. */
  async function restore(
    run: Run,
    links: readonly LockedLink[],
    { disabled, host }: Restore,
    decision: Decision,
  ): Promise<void> {
    if (disabled === null) await enableLocked(run, links, decision);
    else if (disabled !== undefined) await disableLocked(run, links, { ...decision, reason: disabled });
    if (host === undefined) return;
    const { name, reason } = host;
    await (reason === undefined
      ? unblock(run, name, decision)
      : block(run, { host: name, reason }, decision));
  }

  /** Locks a link and its case, and replaces the case. False if there is none. */
  const replaceCase = (
    seen: SeenLink,
    decision: Decision,
    replace: (run: Run, links: readonly LockedLink[], before: Case) => Promise<Case | undefined>,
  ) =>
    decide(statements, decision, async (run): Promise<boolean | OtherRevision> => {
      if (!isStorable(seen.code)) return false;
      const links = await lockLinks(run, [seen]);
      // A link that is gone cannot be locked, but its case can.
      const link: StoredLink | undefined = links[0] && (await readLocked(run, links[0]));
      const other = otherRevision(link, seen);
      if (other !== undefined) return other;
      const { rows } = await run<CaseRow>(`${FIND} FOR UPDATE`, [seen.code, seen.createdMs]);
      const [before] = rows.map(toCase);
      const after = before && (await replace(run, links, before));
      if (after === undefined) return false;
      const isDecided = after.answer !== undefined || after.disabledMs !== undefined;
      await insertCases(run, [{ ...after, targetMs: isDecided && link ? targetSinceMs(link) : undefined }]);
      return true;
    });

  return {
    answerCase: (link: SeenLink, answer: CaseAnswer, decision: Decision) =>
      replaceCase(link, decision, async (run, links, before) => {
        await act(run, links, before, answer, decision);
        const { action } = answer;
        return { ...before, answer: { action, atMs: decision.atMs }, disabledMs: undefined };
      }),
    reopenCase: (link: SeenLink, before: Restore, decision: Decision) =>
      replaceCase(link, decision, async (run, links, { answer, ...one }) => {
        if (answer === undefined || answer.action === "erase") return undefined;
        await restore(run, links, before, decision);
        await addEntries(run, "reopen", decision, [link]);
        return { ...one, disabledMs: before.disabled ? decision.atMs : undefined };
      }),
    async ageCases({ reportersBefore, casesBeforeMs }: CaseBounds, limit: number): Promise<number> {
      const { rows: reporters } = await background.run(FORGET_REPORTERS, [reportersBefore, limit]);
      return background.transaction(async (run) => {
        const { rows } = await run<{ code: string }>(FORGET_CASES, [casesBeforeMs, limit]);
        const forgotten = Math.max(reporters.length, rows.length);
        if (rows.length === 0) return forgotten;
        const codes = rows.map(({ code }) => code);
        await run(
          `DELETE FROM notes WHERE code IN (${list(codes)}) AND NOT EXISTS (
            SELECT 1 FROM cases WHERE cases.code = notes.code AND cases.created_ms = notes.created_ms)`,
          codes,
        );
        return forgotten;
      });
    },
  };
}

/** The case behind which a list continues. */
interface CasePosition extends LinkId {
  readonly isOpen: boolean;
  readonly lastMs: number;
}

export function createCasesReader(run: Run) {
  /** One statement for all cases, because a page may have 200. Newest first. */
  async function notesOf(cases: readonly CaseRow[]) {
    if (cases.length === 0) return [];
    const codes = cases.map(({ code }) => code);
    const { rows } = await run<NoteRow & { code: LinkKey; created_ms: number }>(
      `SELECT code, created_ms, noted_ms, reason, note FROM notes WHERE code IN (${list(codes)}) ORDER BY id DESC`,
      codes,
    );
    return rows;
  }

  return {
    async caseOf({ code, createdMs }: LinkId) {
      if (!isStorable(code)) return undefined;
      const [cases, notes] = await Promise.all([
        run<CaseRow>(FIND, [code, createdMs]),
        run<NoteRow>(NOTES, [code, createdMs]),
      ]);
      const [row] = cases.rows;
      return row && { ...toCase(row), notes: notes.rows.map(toNote) };
    },
    async openCases() {
      const { rows } = await run<{ count: number }>(COUNT_OPEN);
      return rows[0]?.count ?? 0;
    },
    async cases({ state, after, limit }: CaseQuery): Promise<ListedCase[]> {
      const position = after === undefined ? startOf(state !== "answered") : positionOf(after);
      if (position === undefined) return [];
      const { isOpen, lastMs, code, createdMs } = position;
      const lastIsOpen = state === "open";
      const { rows } = await run<CaseRow>(LIST, [lastIsOpen, isOpen, lastMs, code, createdMs, limit]);
      const notes = await notesOf(rows);
      return rows.map(toCase).map((one) => ({
        ...one,
        notes: notes
          .filter((note) => note.code === one.code && note.created_ms === one.createdMs)
          .map(toNote),
        cursor: cursorOf(one),
      }));
    },
  };
}

export function toNote({ noted_ms, reason, note }: NoteRow): Note {
  return { atMs: noted_ms, reason, note: textOf(note) };
}

function startOf(isOpen: boolean): CasePosition {
  return { isOpen, lastMs: Number.MAX_SAFE_INTEGER, code: "" as LinkKey, createdMs: 0 };
}

function cursorOf({ answer, lastMs, createdMs, code }: Case): CaseCursor {
  return [answer === undefined ? "open" : "answered", lastMs, createdMs, code].join(".") as CaseCursor;
}

/** Undefined for an invalid cursor, which ends the list. */
function positionOf(cursor: CaseCursor): CasePosition | undefined {
  const [, state, lastMs, createdMs, code] =
    /^(open|answered)\.(\d{1,15})\.(\d{1,15})\.(.+)$/s.exec(cursor) ?? [];
  if (code === undefined || !isStorable(code)) return undefined;
  return {
    isOpen: state === "open",
    lastMs: Number(lastMs),
    createdMs: Number(createdMs),
    code: code as LinkKey,
  };
}
