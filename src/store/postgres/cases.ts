import {
  type CaseAnswer,
  type CaseBounds,
  type CaseCursor,
  type CaseQuery,
  type CaseStore,
  type ListedCase,
  MAX_CASE_NOTES,
  MAX_DAILY_REPORTS,
} from "../../guard/case-store.ts";
import {
  addReport,
  type Answer,
  type AnswerAction,
  type Case,
  isDue,
  mainReason,
  type Report,
} from "../../guard/case.ts";
import type { Code } from "../../links/code.ts";
import type { Reason } from "../../links/link.ts";
import type { Decision, LinkId } from "../../links/store.ts";
import { createCommits } from "../commits.ts";
import type { Database, Run } from "./database.ts";
import { type Guard, isStorable, textOf } from "./guard.ts";

const REPORTS = { waiting: 1000, batch: 100 };
/** Notes of all cases together, so that a flood of reports cannot fill the disk: at most 400 MB, ... */
const MAX_NOTES = 50_000;
/** ... and so many more of each process. */
const NOTES_BETWEEN = 500;
/** So that no statement takes long. */
const FORGOTTEN_AT_ONCE = 10_000;

/** Whoever writes a case holds its link, so that reports in several processes follow one another. */
const HOLD_LINKS = "SELECT code, created_ms, disabled FROM links WHERE code = ANY ($1) ORDER BY code FOR UPDATE";
const HOLD_CASES = "SELECT * FROM cases WHERE code = ANY ($1) ORDER BY code, created_ms FOR UPDATE";
/** Returns the reporters who have not reported the link on that day yet, up to the limit of the day. */
const ADD_REPORTERS = `
  WITH asked AS (
    SELECT *, row_number() OVER (PARTITION BY code, created_ms, day) AS nth
    FROM unnest($1::text[], $2::bigint[], $3::integer[], $4::text[]) AS asked (code, created_ms, day, reporter)
  ), days AS (
    SELECT code, created_ms, day, (SELECT count(*) FROM (
      SELECT FROM reporters
      WHERE reporters.code = one.code AND reporters.created_ms = one.created_ms AND reporters.day = one.day
      LIMIT ${MAX_DAILY_REPORTS}) AS known) AS reporters
    FROM (SELECT DISTINCT code, created_ms, day FROM asked) AS one
  )
  INSERT INTO reporters (code, created_ms, day, reporter)
  SELECT code, created_ms, day, reporter FROM asked JOIN days USING (code, created_ms, day)
  WHERE reporters + nth <= ${MAX_DAILY_REPORTS}
  ON CONFLICT DO NOTHING RETURNING code, created_ms AS "createdMs", day, reporter`;
const COLUMNS = `
  code, created_ms, is_open, first_ms, last_ms, reports, reasons, pending, disabled_ms, answer, answered_ms`;
const KEEP_CASES = `
  INSERT INTO cases (${COLUMNS}) SELECT ${COLUMNS} FROM jsonb_populate_recordset(NULL::cases, $1)
  ON CONFLICT (code, created_ms) DO UPDATE
    SET is_open = excluded.is_open, last_ms = excluded.last_ms, reports = excluded.reports,
        reasons = excluded.reasons, pending = excluded.pending, disabled_ms = excluded.disabled_ms,
        answer = excluded.answer, answered_ms = excluded.answered_ms`;
const ADD_NOTES = `
  INSERT INTO notes (code, created_ms, id, noted_ms, reason, note)
  SELECT * FROM unnest($1::text[], $2::bigint[], $3::uuid[], $4::bigint[], $5::text[], $6::bytea[])`;
const FORGET_NOTES_OF = `
  DELETE FROM notes WHERE code = ANY ($1) AND id <= (
    SELECT id FROM notes AS later WHERE later.code = notes.code AND later.created_ms = notes.created_ms
    ORDER BY id DESC LIMIT 1 OFFSET ${MAX_CASE_NOTES})`;
const FORGET_NOTES = `
  DELETE FROM notes WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM notes WHERE id <= (SELECT id FROM notes ORDER BY id DESC LIMIT 1 OFFSET ${MAX_NOTES})
    LIMIT ${FORGOTTEN_AT_ONCE} FOR UPDATE SKIP LOCKED))`;
const FORGET_REPORTERS = `
  DELETE FROM reporters WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM reporters WHERE day < $1 LIMIT ${FORGOTTEN_AT_ONCE} FOR UPDATE SKIP LOCKED))`;
/** Both states are named so that PostgreSQL uses the index. */
const FORGET_CASES = `
  WITH old AS (
    SELECT code, created_ms FROM cases WHERE is_open = ANY ('{true,false}') AND last_ms < $1
    LIMIT $2 FOR UPDATE SKIP LOCKED
  ), forgotten AS (
    DELETE FROM cases USING old WHERE cases.code = old.code AND cases.created_ms = old.created_ms
    RETURNING cases.code, cases.created_ms
  ), with_notes AS (
    DELETE FROM notes USING forgotten
    WHERE notes.code = forgotten.code AND notes.created_ms = forgotten.created_ms
  )
  SELECT code FROM forgotten`;
const FIND = "SELECT * FROM cases WHERE code = $1 AND created_ms = $2";
const NOTES = "SELECT noted_ms, reason, note FROM notes WHERE code = $1 AND created_ms = $2 ORDER BY id DESC";
const LIST = `
  SELECT * FROM cases
  WHERE is_open BETWEEN $1 AND $2 AND (is_open, last_ms, code, created_ms) < ($2, $3, $4, $5)
  ORDER BY is_open DESC, last_ms DESC, code DESC, created_ms DESC LIMIT $6`;

interface CaseRow {
  code: Code;
  created_ms: number;
  is_open: boolean;
  first_ms: number;
  last_ms: number;
  reports: number;
  reasons: Case["reasons"];
  pending: number;
  disabled_ms: number | null;
  answer: AnswerAction | null;
  answered_ms: number | null;
}

interface NoteRow {
  noted_ms: number;
  reason: Reason;
  note: Uint8Array;
}

/** Where a list goes on: behind the case that this describes. */
interface Place extends LinkId {
  readonly isOpen: boolean;
  readonly lastMs: number;
}

type Reported = Awaited<ReturnType<CaseStore["report"]>>;
type Reporter = Pick<Report, "code" | "createdMs" | "day" | "reporter">;

export function createCases(database: Database, guard: Guard) {
  const { run, transaction } = database;
  const reports = createCommits(REPORTS, (all: readonly Report[]) =>
    transaction((within) => reportAll(within, all)),
  );
  /** Since the oldest notes were deleted. */
  let notesAdded = 0;

  async function reportAll(on: Run, all: readonly Report[]): Promise<Reported[]> {
    const codes = [...new Set(all.map(({ code }) => code))].filter(isStorable);
    const disabled = await holdLinks(on, codes);
    const found = all.filter((report) => disabled.has(linkKey(report)));
    const counting = await addReporters(on, found);
    if (counting.size === 0) return all.map(() => "repeated");
    const cases = await holdCases(on, codes);
    const counted: Report[] = [];
    const due: Case[] = [];
    const outcomes = all.map((report): Reported => {
      if (!counting.delete(reporterKey(report))) return "repeated";
      const key = linkKey(report);
      // The link may have been disabled since the report found it.
      const one = { ...report, works: report.works && disabled.get(key) === null };
      const next = addReport(cases.get(key), one);
      counted.push(report);
      if (!isDue(next, one)) {
        cases.set(key, next);
        return "counted";
      }
      const nextDisabled = { ...next, disabledMs: one.atMs };
      const reason = mainReason(next);
      cases.set(key, nextDisabled);
      disabled.set(key, reason);
      due.push(nextDisabled);
      return "disabled";
    });
    const changed = new Set(counted.map(linkKey));
    const rows = [...cases].filter(([key]) => changed.has(key)).map(([, one]) => toRow(one));
    await on(KEEP_CASES, [JSON.stringify(rows)]);
    await addNotes(on, counted);
    for (const one of due)
      await guard.disable([one], { who: "reports", atMs: one.disabledMs ?? 0, reason: mainReason(one) }, on);
    return outcomes;
  }

  async function addNotes(on: Run, of: readonly Report[]): Promise<void> {
    const noted = of.flatMap(({ note, ...report }) => (note === undefined ? [] : [{ ...report, note }]));
    if (noted.length === 0) return;
    await on(ADD_NOTES, [
      noted.map(({ code }) => code),
      noted.map(({ createdMs }) => createdMs),
      noted.map(() => Bun.randomUUIDv7()),
      noted.map(({ atMs }) => atMs),
      noted.map(({ reason }) => reason),
      noted.map(({ note }) => Buffer.from(note)),
    ]);
    await on(FORGET_NOTES_OF, [noted.map(({ code }) => code)]);
    notesAdded += noted.length;
    if (notesAdded < NOTES_BETWEEN) return;
    await on(FORGET_NOTES);
    notesAdded = 0;
  }

  /** What was decided before, perhaps by reports, is decided again: the journal tells that somebody has looked. */
  async function act(on: Run, link: LinkId, known: Case, answer: CaseAnswer, by: Decision): Promise<void> {
    const { action } = answer;
    switch (action) {
      case "disable": {
        const { reason } = answer;
        const changed = await guard.disable([link], { ...by, reason }, on);
        if (changed.length === 0) await guard.enter({ ...by, action, reason }, link, on);
        break;
      }
      case "block-host": {
        const { reason, host } = answer;
        const isChanged = await guard.blockHost({ host, reason }, by, on);
        if (!isChanged) await guard.enter({ ...by, action, reason }, { host }, on);
        break;
      }
      case "nothing":
        await guard.enter({ ...by, action: "nothing-wrong" }, link, on);
        if (known.disabledMs !== undefined) await guard.enable([link], by, on);
    }
  }

  return {
    async report(report: Report): Promise<Reported> {
      const [outcome = "repeated"] = await reports.add([report]);
      return outcome;
    },
    async caseOf({ code, createdMs }: LinkId) {
      if (!isStorable(code)) return undefined;
      const [{ rows }, notes] = await Promise.all([
        run<CaseRow>(FIND, [code, createdMs]),
        run<NoteRow>(NOTES, [code, createdMs]),
      ]);
      const [row] = rows;
      return row && { ...toCase(row), notes: notes.rows.map(toNote) };
    },
    async cases({ state, after, limit }: CaseQuery): Promise<ListedCase[]> {
      const place = after === undefined ? startOf(state !== "answered") : placeOf(after);
      if (place === undefined) return [];
      const { isOpen, lastMs, code, createdMs } = place;
      const isLastOpen = state === "open";
      const { rows } = await run<CaseRow>(LIST, [isLastOpen, isOpen, lastMs, code, createdMs, limit]);
      return rows.map((row) => ({ ...toCase(row), cursor: cursorOf(row) }));
    },
    answerCase: (link: LinkId, answer: CaseAnswer, decision: Decision) =>
      transaction(async (on) => {
        if (!isStorable(link.code)) return false;
        await on(HOLD_LINKS, [[link.code]]);
        const known = (await holdCases(on, [link.code])).get(linkKey(link));
        if (known === undefined) return false;
        await act(on, link, known, answer, decision);
        const given: Answer = { action: answer.action, atMs: decision.atMs };
        await on(KEEP_CASES, [JSON.stringify([toRow({ ...known, answer: given, disabledMs: undefined })])]);
        return true;
      }),
    async ageCases({ reportersBefore, casesBeforeMs }: CaseBounds, limit: number): Promise<number> {
      for (let forgotten = FORGOTTEN_AT_ONCE; forgotten === FORGOTTEN_AT_ONCE;)
        ({ count: forgotten } = await run(FORGET_REPORTERS, [reportersBefore]));
      await run(FORGET_NOTES);
      return (await run(FORGET_CASES, [casesBeforeMs, limit])).rows.length;
    },
    /** Resolves when no report waits any more. */
    settled: reports.settled,
  } satisfies CaseStore & { settled: unknown };
}

/** Why each link is disabled, or null. Links that are gone are missing. */
async function holdLinks(run: Run, codes: readonly string[]): Promise<Map<string, string | null>> {
  const { rows } = await run<{ code: Code; created_ms: number; disabled: string | null }>(HOLD_LINKS, [
    codes,
  ]);
  return new Map(
    rows.map(({ code, created_ms: createdMs, disabled }) => [linkKey({ code, createdMs }), disabled]),
  );
}

async function holdCases(run: Run, codes: readonly string[]): Promise<Map<string, Case>> {
  const { rows } = await run<CaseRow>(HOLD_CASES, [codes]);
  return new Map(rows.map(toCase).map((one) => [linkKey(one), one]));
}

async function addReporters(run: Run, reports: readonly Report[]): Promise<Set<string>> {
  if (reports.length === 0) return new Set();
  const asked = [...new Map(reports.map((report) => [reporterKey(report), report])).values()];
  const { rows } = await run<Reporter>(ADD_REPORTERS, [
    asked.map(({ code }) => code),
    asked.map(({ createdMs }) => createdMs),
    asked.map(({ day }) => day),
    asked.map(({ reporter }) => reporter),
  ]);
  return new Set(rows.map(reporterKey));
}

function linkKey({ code, createdMs }: LinkId): string {
  return `${createdMs} ${code}`;
}

function reporterKey({ day, reporter, ...link }: Reporter): string {
  return `${day} ${reporter} ${linkKey(link)}`;
}

function toCase(row: CaseRow): Case {
  return {
    code: row.code,
    createdMs: row.created_ms,
    firstMs: row.first_ms,
    lastMs: row.last_ms,
    reports: row.reports,
    reasons: row.reasons,
    pending: row.pending,
    disabledMs: row.disabled_ms ?? undefined,
    answer: row.answer === null ? undefined : { action: row.answer, atMs: row.answered_ms ?? 0 },
  };
}

function toRow({ answer, ...one }: Case): CaseRow {
  return {
    code: one.code,
    created_ms: one.createdMs,
    is_open: answer === undefined,
    first_ms: one.firstMs,
    last_ms: one.lastMs,
    reports: one.reports,
    reasons: one.reasons,
    pending: one.pending,
    disabled_ms: one.disabledMs ?? null,
    answer: answer?.action ?? null,
    answered_ms: answer?.atMs ?? null,
  };
}

function toNote({ noted_ms, reason, note }: NoteRow) {
  return { atMs: noted_ms, reason, note: textOf(note) };
}

function startOf(isOpen: boolean): Place {
  return { isOpen, lastMs: Number.MAX_SAFE_INTEGER, code: "" as Code, createdMs: 0 };
}

function cursorOf({ is_open, last_ms, created_ms, code }: CaseRow): CaseCursor {
  return [is_open ? "open" : "answered", last_ms, created_ms, code].join(".") as CaseCursor;
}

/** Nothing comes after a cursor that is none of ours. */
function placeOf(cursor: CaseCursor): Place | undefined {
  const [, state, lastMs, createdMs, code] = /^(open|answered)\.(\d{1,15})\.(\d{1,15})\.(.+)$/s.exec(cursor) ?? [];
  if (code === undefined || !isStorable(code)) return undefined;
  return { isOpen: state === "open", lastMs: Number(lastMs), createdMs: Number(createdMs), code: code as Code };
}
