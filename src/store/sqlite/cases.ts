// The writer's half of the reports: runs in the worker thread, one transaction a call.
import type { Database } from "bun:sqlite";

import type { Decision, LinkId } from "../../links/store.ts";
import {
  addReport,
  type Answer,
  type Case,
  type CaseAnswer,
  type CaseBounds,
  type CaseStore,
  isDue,
  mainReason,
  MAX_CASE_NOTES,
  MAX_DAILY_REPORTS,
  type Report,
} from "../../moderation/reports/case.ts";
import { type CaseRow, toCase } from "./case-row.ts";
import type { GuardTables } from "./guard.ts";

/** Notes of all cases together, so that a flood of reports cannot fill the disk: at most 400 MB. */
const MAX_NOTES = 50_000;

const FIND = "SELECT * FROM cases WHERE code = ?1 AND created_ms = ?2";
const FIND_STATE = "SELECT disabled FROM links WHERE code = ?1 AND created_ms = ?2";
const KEEP = `
  INSERT INTO cases
    (code, created_ms, is_open, first_ms, last_ms, reports, reasons, pending, disabled_ms, answer, answered_ms)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
  ON CONFLICT (code, created_ms) DO UPDATE
    SET is_open = ?3, last_ms = ?5, reports = ?6, reasons = ?7, pending = ?8, disabled_ms = ?9,
        answer = ?10, answered_ms = ?11
  RETURNING id`;
const COUNT_REPORTERS = `
  SELECT count(*) AS reporters FROM
    (SELECT 1 FROM reporters WHERE day = ?1 AND case_id = ?2 LIMIT ${MAX_DAILY_REPORTS})`;
const FIND_REPORTER = "SELECT 1 FROM reporters WHERE day = ?1 AND case_id = ?2 AND reporter = ?3";
const ADD_REPORTER = "INSERT INTO reporters (day, case_id, reporter) VALUES (?1, ?2, ?3)";
const FORGET_REPORTERS = "DELETE FROM reporters WHERE day < ?1";
const ADD_NOTE = "INSERT INTO notes (case_id, noted_ms, reason, note) VALUES (?1, ?2, ?3, ?4) RETURNING id";
const FORGET_NOTES = `
  DELETE FROM notes WHERE id <= ?2 - ${MAX_NOTES} OR id <=
    (SELECT id FROM notes WHERE case_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ${MAX_CASE_NOTES}) AND case_id = ?1`;
/** Both states are named so that SQLite uses the index. */
const OLD = "SELECT id FROM cases WHERE is_open IN (0, 1) AND last_ms < ?1 LIMIT ?2";
const FORGET_NOTES_OF = "DELETE FROM notes WHERE case_id = ?1";
const FORGET = "DELETE FROM cases WHERE id = ?1";

/**
 * Nothing can be decided about a link that is gone: one that was purged, or whose code was given anew. Triggers cost the
 * inserts of other links nothing.
 */
const CLOSE_GONE = ["DELETE", "UPDATE OF created_ms"].map(
  (event, nth) => `
  CREATE TEMP TRIGGER link_gone_${nth} AFTER ${event} ON main.links BEGIN
    UPDATE cases SET is_open = 0, answer = 'erase', answered_ms = old.ends_ms, disabled_ms = NULL
    WHERE code = old.code AND created_ms = old.created_ms AND is_open = 1;
  END`,
);

type Reported = Awaited<ReturnType<CaseStore["report"]>>;
type KeptRow = [
  ...link: [code: string, createdMs: number],
  ...times: [isOpen: number, firstMs: number, lastMs: number],
  ...counts: [reports: number, reasons: string, pending: number],
  ...ends: [disabledMs: number | null, answer: string | null, answeredMs: number | null],
];

export function prepareCases(database: Database, guard: GuardTables) {
  for (const trigger of CLOSE_GONE) database.run(trigger);
  const find = database.prepare<CaseRow, [string, number]>(FIND);
  const findState = database.prepare<{ disabled: string | null }, [string, number]>(FIND_STATE);
  const keep = database.prepare<{ id: number }, KeptRow>(KEEP);
  const countReporters = database.prepare<{ reporters: number }, [number, number]>(COUNT_REPORTERS);
  const findReporter = database.prepare<unknown, [number, number, string]>(FIND_REPORTER);
  const addReporter = database.prepare<unknown, [number, number, string]>(ADD_REPORTER);
  const forgetReporters = database.prepare<unknown, [number]>(FORGET_REPORTERS);
  const addNote = database.prepare<{ id: number }, [number, number, string, string]>(ADD_NOTE);
  const forgetNotes = database.prepare<unknown, [number, number]>(FORGET_NOTES);
  const old = database.prepare<{ id: number }, [number, number]>(OLD);
  const forgetNotesOf = database.prepare<unknown, [number]>(FORGET_NOTES_OF);
  const forget = database.prepare<unknown, [number]>(FORGET);

  function keepCase({ code, createdMs, answer, ...one }: Case): number {
    const kept = keep.get(
      ...([code, createdMs] as const),
      ...([answer === undefined ? 1 : 0, one.firstMs, one.lastMs] as const),
      ...([one.reports, JSON.stringify(one.reasons), one.pending] as const),
      ...([one.disabledMs ?? null, answer?.action ?? null, answer?.atMs ?? null] as const),
    );
    if (kept === null) throw new Error(`The case of ${code} could not be kept`);
    return kept.id;
  }

  function counts({ day, reporter }: Report, caseId: number): boolean {
    if (findReporter.get(day, caseId, reporter) !== null) return false;
    return (countReporters.get(day, caseId)?.reporters ?? 0) < MAX_DAILY_REPORTS;
  }

  function reportOne(report: Report): Reported {
    // The link may have gone, or the operator may have disabled it, since the report found it.
    const link = findState.get(report.code, report.createdMs);
    if (link === null) return "repeated";
    const works = report.works && link.disabled === null;
    const one = { ...report, works };
    const row = find.get(one.code, one.createdMs);
    if (row !== null && !counts(one, row.id)) return "repeated";
    const counted = addReport(row === null ? undefined : toCase(row), one);
    const isNowDue = isDue(counted, one);
    const id = keepCase(isNowDue ? { ...counted, disabledMs: one.atMs } : counted);
    addReporter.run(one.day, id, one.reporter);
    if (one.note !== undefined) {
      const note = addNote.get(id, one.atMs, one.reason, one.note);
      forgetNotes.run(id, note?.id ?? 0);
    }
    if (!isNowDue) return "counted";
    const decision = { who: "reports", atMs: one.atMs, reason: mainReason(counted) } as const;
    guard.disable([one], decision);
    return "disabled";
  }

  const reportAll = database.transaction((reports: readonly Report[]) => reports.map(reportOne));

  /** What was decided before, perhaps by reports, is decided again: the journal tells that somebody has looked. */
  function act(link: LinkId, { disabledMs }: Case, answer: CaseAnswer, decision: Decision): void {
    const { action } = answer;
    switch (action) {
      case "disable": {
        const { reason } = answer;
        const isChanged = guard.disable([link], { ...decision, reason }).length > 0;
        if (!isChanged) guard.enter(action, decision, reason, link);
        break;
      }
      case "block-host": {
        const { reason, host } = answer;
        const isChanged = guard.blockHost({ host, reason }, decision);
        if (!isChanged) guard.enter(action, decision, reason, { host });
        break;
      }
      case "nothing":
        guard.enter("nothing-wrong", decision, null, link);
        if (disabledMs !== undefined) guard.enable([link], decision);
    }
  }

  const answerCase = database.transaction((link: LinkId, answer: CaseAnswer, decision: Decision) => {
    const row = find.get(link.code, link.createdMs);
    if (row === null) return false;
    const known = toCase(row);
    act(link, known, answer, decision);
    const given: Answer = { action: answer.action, atMs: decision.atMs };
    keepCase({ ...known, answer: given, disabledMs: undefined });
    return true;
  });

  const age = database.transaction(({ reportersBefore, casesBeforeMs }: CaseBounds, limit: number) => {
    forgetReporters.run(reportersBefore);
    const due = old.all(casesBeforeMs, limit);
    for (const { id } of due) {
      forgetNotesOf.run(id);
      forget.run(id);
    }
    return due.length;
  });

  const statements = [
    find,
    findState,
    keep,
    countReporters,
    findReporter,
    addReporter,
    forgetReporters,
    addNote,
  ];
  return {
    report: reportAll.immediate,
    answerCase: answerCase.immediate,
    age: age.immediate,
    close() {
      for (const statement of [...statements, forgetNotes, old, forgetNotesOf, forget]) statement.finalize();
    },
  };
}
