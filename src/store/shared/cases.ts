import type { OtherRevision } from "../../links/change.ts";
import type { LinkKey } from "../../links/code.ts";
import type { Decided, Decision, EntryId, LinkId, SeenLink } from "../../links/link-store.ts";
import { type StoredLink, targetSinceMs } from "../../links/link.ts";
import type { Reason } from "../../links/problem.ts";
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
import { addEntry } from "./decision-entries.ts";
import { decide, type EngineParts, otherRevision, setHost, setLinks, UNDECIDED } from "./decisions.ts";
import { type LockedLink, lockLinks, readLocked } from "./locked-links.ts";
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
  const { pending, ...reasons } = JSON.parse(row.reasons) as Case["reasons"] & { pending?: Case["reasons"] };
  return {
    code: row.code,
    createdMs: row.created_ms,
    firstMs: row.first_ms,
    lastMs: row.last_ms,
    reports: row.reports,
    reasons,
    pending: row.pending,
    pendingReasons: pending,
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
    const reasons = JSON.stringify({ ...one.reasons, pending: one.pendingReasons });
    const reported = [answer === undefined, one.firstMs, one.lastMs, one.reports, reasons, one.pending];
    const decided = [one.disabledMs, answer?.action, answer?.atMs, one.targetMs];
    return [one.code, one.createdMs, ...reported, ...decided];
  });
  return insertInto<LinkId>(run, `cases (${COLUMNS})`, rows, onConflict);
}

/** Records the state of a locked case that a decision is about to replace. */
export async function keepCase(run: Run, entry: EntryId, one: Case): Promise<void> {
  const answered = [one.answer?.action, one.answer?.atMs, one.disabledMs, one.targetMs, one.pending];
  await insertInto(
    run,
    "replaced (entry, kind, subject, created_ms, value, at_ms, disabled_ms, target_ms, pending)",
    [[entry, "case", one.code, one.createdMs, ...answered]],
  );
}

/** The actions of answers in the operator's journal. */
const ACTION_OF = { disable: "disable", "block-host": "block-host", nothing: "nothing-wrong" } as const;

/** Answers cases and forgets old ones. `background` is for work that nobody waits for. */
export function createCases(statements: Statements, background: Statements, { lockHosts }: EngineParts) {
  /** Locks a link and its case. `replace` writes the decision, and returns its entry and the case after it, if there is one. */
  const replaceCase = (
    seen: SeenLink,
    decision: Decision,
    replace: (
      run: Run,
      links: readonly LockedLink[],
      before: Case,
    ) => Promise<readonly [EntryId, Case] | undefined>,
  ) =>
    decide(statements, decision, async (run): Promise<Decided | OtherRevision> => {
      if (!isStorable(seen.code)) return UNDECIDED;
      const links = await lockLinks(run, [seen]);
      // A link that is gone cannot be locked, but its case can.
      const link: StoredLink | undefined = links[0] && (await readLocked(run, links[0]));
      const other = otherRevision(link, seen);
      if (other !== undefined) return other;
      // There is nothing left to look at.
      if (link?.disabled === "deleted") return UNDECIDED;
      const { rows } = await run<CaseRow>(`${FIND} FOR UPDATE`, [seen.code, seen.createdMs]);
      const [before] = rows.map(toCase);
      const decided = before && (await replace(run, links, before));
      if (before === undefined || decided === undefined) return UNDECIDED;
      const [entry, after] = decided;
      await keepCase(run, entry, before);
      await insertCases(run, [{ ...after, targetMs: after.answer && link && targetSinceMs(link) }]);
      return { changed: 1, entry };
    });

  return {
    answerCase: (seen: SeenLink, answer: CaseAnswer, decision: Decision) =>
      replaceCase(seen, decision, async (run, links, before) => {
        const { action, ...more } = answer;
        if (action === "block-host") await lockHosts(run);
        const { atMs } = decision;
        const reasoned = { ...decision, ...more };
        const entry = await addEntry(run, ACTION_OF[action], reasoned, { links: [seen], ...more });
        if (action === "disable") await setLinks(run, entry, links, answer.reason);
        // Every other answer enables a link that reports disabled: with its case closed, nobody would look at it again.
        else if (before.disabledMs !== undefined) await setLinks(run, entry, links, null);
        if (action === "block-host")
          await setHost(run, entry, answer.host, { reason: answer.reason, sinceMs: atMs });
        return [entry, { ...before, answer: { action, atMs }, disabledMs: undefined }];
      }),
    reopenCase: (seen: SeenLink, decision: Decision) =>
      replaceCase(seen, decision, async (run, _links, { answer, ...one }) => {
        if (answer === undefined) return undefined;
        return [
          await addEntry(run, "reopen", decision, { links: [seen] }),
          { ...one, pending: 0, pendingReasons: {} },
        ];
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
      const start = [state !== "answered", Number.MAX_SAFE_INTEGER, "", 0];
      const position = after === undefined ? start : positionOf(after);
      if (position === undefined) return [];
      const { rows } = await run<CaseRow>(LIST, [state === "open", ...position, limit]);
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

function cursorOf({ answer, lastMs, createdMs, code }: Case): CaseCursor {
  return [answer === undefined ? "open" : "answered", lastMs, createdMs, code].join(".") as CaseCursor;
}

/** The values of the case behind which a list continues. Undefined for an invalid cursor, which ends the list. */
function positionOf(cursor: CaseCursor) {
  const [, state, lastMs, createdMs, code] =
    /^(open|answered)\.(\d{1,15})\.(\d{1,15})\.(.+)$/s.exec(cursor) ?? [];
  if (code === undefined || !isStorable(code)) return undefined;
  return [state === "open", Number(lastMs), code, Number(createdMs)];
}
