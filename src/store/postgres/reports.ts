import type { Reason } from "../../links/link.ts";
import { type LinkId, StoreUnavailable } from "../../links/store.ts";
import {
  addReport,
  type Case,
  type CaseStore,
  isDue,
  mainReason,
  MAX_CASE_NOTES,
  MAX_DAILY_REPORTS,
  type Report,
} from "../../moderation/reports/case.ts";
import { type CommitFigures, createCommits } from "../commits.ts";
import { type CaseRow, toCase, toRow } from "./case-row.ts";
import { type Database, WAIT_SHARE } from "./connection/database.ts";
import { createNotes } from "./notes.ts";
import { bytesOf, isStorable } from "./text.ts";

const REPORTS = { waiting: 1000, batch: 100 };

/** All about one link and day. Each sub-select is a look-up by key, whatever the statistics of the tables say. */
const LOOK = `
  SELECT code, created_ms AS "createdMs", day,
    (SELECT coalesce(disabled, '') FROM links
      WHERE links.code = asked.code AND links.created_ms = asked.created_ms) AS disabled,
    (SELECT to_jsonb(cases) FROM cases
      WHERE cases.code = asked.code AND cases.created_ms = asked.created_ms) AS "caseRow",
    (SELECT count(*) FROM (SELECT FROM reporters
      WHERE reporters.code = asked.code AND reporters.created_ms = asked.created_ms AND reporters.day = asked.day
      LIMIT ${MAX_DAILY_REPORTS}) AS all_of_day) AS reporters,
    ARRAY(SELECT reporter FROM reporters
      WHERE reporters.code = asked.code AND reporters.created_ms = asked.created_ms AND reporters.day = asked.day
        AND reporters.reporter = ANY (asked.reporters)) AS known
  FROM (
    SELECT code, created_ms, day, array_agg(reporter) AS reporters
    FROM unnest($1::text[], $2::bigint[], $3::integer[], $4::text[]) AS asked (code, created_ms, day, reporter)
    GROUP BY code, created_ms, day
  ) AS asked`;
/**
 * Keeps the cases whose link and case are still as they were when they were looked at, with all that belongs to them, and
 * returns which these are. A link that is due is disabled. Links are locked in the order of their codes.
 */
const KEEP = `
  WITH next AS (
    SELECT * FROM jsonb_to_recordset($1) AS next (
      code text, created_ms bigint, is_open boolean, first_ms bigint, last_ms bigint, reports integer, reasons jsonb,
      pending integer, disabled_ms bigint, answer text, answered_ms bigint, version integer,
      was_disabled text, due_reason text, entry uuid)
  ), held AS MATERIALIZED (
    SELECT asked.* FROM (SELECT code, created_ms, was_disabled FROM next ORDER BY code COLLATE "C") AS asked
    CROSS JOIN LATERAL (
      SELECT FROM links
      WHERE links.code = asked.code AND links.created_ms = asked.created_ms
        AND coalesce(links.disabled, '') = asked.was_disabled FOR UPDATE
    ) AS held
  ), kept AS (
    INSERT INTO cases (code, created_ms, is_open, first_ms, last_ms, reports, reasons, pending, disabled_ms, answer,
      answered_ms, version)
    SELECT code, created_ms, is_open, first_ms, last_ms, reports, reasons, pending, disabled_ms, answer,
      answered_ms, version FROM next JOIN held USING (code, created_ms)
    ON CONFLICT (code, created_ms) DO UPDATE
      SET is_open = excluded.is_open, last_ms = excluded.last_ms, reports = excluded.reports,
          reasons = excluded.reasons, pending = excluded.pending, disabled_ms = excluded.disabled_ms,
          answer = excluded.answer, answered_ms = excluded.answered_ms, version = excluded.version
      WHERE cases.version = excluded.version - 1
    RETURNING code, created_ms
  ), counted AS (
    SELECT * FROM unnest($2::text[], $3::bigint[], $4::integer[], $5::text[], $6::uuid[], $7::bigint[], $8::text[],
      $9::bytea[]) AS counted (code, created_ms, day, reporter, id, at_ms, reason, note)
    JOIN kept USING (code, created_ms)
  ), known AS (
    INSERT INTO reporters (code, created_ms, day, reporter) SELECT code, created_ms, day, reporter FROM counted
    ON CONFLICT DO NOTHING
  ), noted AS (
    INSERT INTO notes (code, created_ms, id, noted_ms, reason, note)
    SELECT code, created_ms, id, at_ms, reason, note FROM counted WHERE note IS NOT NULL
  ), forgotten AS (
    DELETE FROM notes USING kept
    WHERE notes.code = kept.code AND notes.created_ms = kept.created_ms AND id <= (
      SELECT id FROM notes AS later WHERE later.code = kept.code AND later.created_ms = kept.created_ms
      ORDER BY id DESC LIMIT 1 OFFSET ${MAX_CASE_NOTES})
  ), disabled AS (
    UPDATE links SET disabled = next.due_reason FROM next JOIN kept USING (code, created_ms)
    WHERE links.code = next.code AND next.due_reason IS NOT NULL
    RETURNING next.code, next.created_ms, next.disabled_ms, next.due_reason, next.entry
  ), told AS (
    INSERT INTO changes (code) SELECT code FROM disabled
  ), entered AS (
    INSERT INTO journal (entry, at_ms, who, action, reason, code, created_ms)
    SELECT entry, disabled_ms, 'reports', 'disable', due_reason, code, created_ms FROM disabled
  )
  SELECT code, created_ms AS "createdMs" FROM kept`;

type Reported = Awaited<ReturnType<CaseStore["report"]>>;

interface Seen extends LinkId {
  readonly day: number;
  /** Empty if it is not, null if the link is gone. */
  readonly disabled: string | null;
  readonly caseRow: CaseRow | null;
  /** On that day. */
  readonly reporters: number;
  /** Of those who report it now. */
  readonly known: readonly string[];
}

/** What reports make of a case. */
interface Next {
  readonly seen: Seen;
  readonly one: Case | undefined;
  /** Why the reports disable the link, if they do. */
  readonly dueReason?: Reason;
}

/** Adds reports to cases. Reports that wait for each other share two statements: one looks, one writes what follows. */
export function createReports({ run, limitMs }: Pick<Database, "run" | "limitMs">, figures?: CommitFigures) {
  const waitMs = WAIT_SHARE * limitMs;
  const notes = createNotes({ run });
  const commits = createCommits(
    { ...REPORTS, waitMs },
    async (reports: readonly Report[], sinceMs) => {
      const outcomes = await reportAll(reports, sinceMs);
      await notes.added(reports.filter(({ note }) => note !== undefined).length);
      return outcomes;
    },
    figures,
  );

  async function reportAll(reports: readonly Report[], sinceMs: number): Promise<Reported[]> {
    const { outcomes, counted, changed } = addAll(reports, await look(reports));
    const kept = await keep(counted, [...changed.values()]);
    const again = new Set(
      reports.filter((report) => changed.has(linkKey(report)) && !kept.has(linkKey(report))),
    );
    if (again.size === 0) return outcomes;
    // Of those who report the same link at the same moment, one gets through with each try.
    if (performance.now() - sinceMs > waitMs)
      throw new StoreUnavailable("Others report the same links at the same moment");
    const later = await reportAll([...again], sinceMs);
    return reports.map((report, nth) => (again.has(report) ? later.shift() : outcomes[nth]) ?? "repeated");
  }

  async function look(reports: readonly Report[]): Promise<readonly Seen[]> {
    const asked = reports.filter(({ code }) => isStorable(code));
    const { rows } = await run<Seen>(LOOK, [
      asked.map(({ code }) => code),
      asked.map(({ createdMs }) => createdMs),
      asked.map(({ day }) => day),
      asked.map(({ reporter }) => reporter),
    ]);
    return rows;
  }

  async function keep(counted: readonly Report[], changed: readonly Next[]): Promise<Set<string>> {
    if (changed.length === 0) return new Set();
    const { rows } = await run<LinkId>(KEEP, [
      JSON.stringify(changed.map(toNextRow)),
      counted.map(({ code }) => code),
      counted.map(({ createdMs }) => createdMs),
      counted.map(({ day }) => day),
      counted.map(({ reporter }) => reporter),
      counted.map(() => Bun.randomUUIDv7()),
      counted.map(({ atMs }) => atMs),
      counted.map(({ reason }) => reason),
      counted.map(({ note }) => (note === undefined ? undefined : bytesOf(note))),
    ]);
    return new Set(rows.map(linkKey));
  }

  return {
    async report(report: Report): Promise<Reported> {
      const [outcome = "repeated"] = await commits.add([report]);
      return outcome;
    },
    /** Resolves when no report waits any more. */
    settled: commits.settled,
  } satisfies Partial<CaseStore> & { settled: unknown };
}

/** Adds one report after the other to what was seen. */
function addAll(reports: readonly Report[], seen: readonly Seen[]) {
  const days = new Map(
    seen.map(({ known, reporters, ...row }) => [
      dayKey(row),
      { known: new Set(known), left: MAX_DAILY_REPORTS - reporters },
    ]),
  );
  const links = new Map(
    seen.map((row): [string, Next] => [
      linkKey(row),
      { seen: row, one: row.caseRow === null ? undefined : toCase(row.caseRow) },
    ]),
  );
  const changed = new Map<string, Next>();
  const counted: Report[] = [];
  const outcomes = reports.map((report): Reported => {
    const [key, day] = [linkKey(report), days.get(dayKey(report))];
    const before = changed.get(key) ?? links.get(key);
    if (day === undefined || before === undefined || before.seen.disabled === null) return "repeated";
    if (day.left === 0 || day.known.has(report.reporter)) return "repeated";
    day.known.add(report.reporter);
    day.left--;
    counted.push(report);
    // The link may have been disabled since the report found it.
    const isEnabled = before.seen.disabled === "" && before.dueReason === undefined;
    const one = { ...report, works: report.works && isEnabled };
    const next = addReport(before.one, one);
    const isNowDue = isDue(next, one);
    const due = isNowDue && { one: { ...next, disabledMs: one.atMs }, dueReason: mainReason(next) };
    changed.set(key, { ...before, one: next, ...due });
    return isNowDue ? "disabled" : "counted";
  });
  return { outcomes, counted, changed };
}

function toNextRow({ seen, one, dueReason }: Next) {
  if (one === undefined) throw new Error(`Nothing was reported about ${seen.code}`);
  const version = (seen.caseRow?.version ?? 0) + 1;
  const entry = Bun.randomUUIDv7();
  return { ...toRow(one), version, was_disabled: seen.disabled, due_reason: dueReason, entry };
}

function linkKey({ code, createdMs }: LinkId): string {
  return `${createdMs} ${code}`;
}

function dayKey({ day, ...link }: LinkId & { readonly day: number }): string {
  return `${day} ${linkKey(link)}`;
}
