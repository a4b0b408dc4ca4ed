import type { LinkId } from "../../links/link-store.ts";
import { targetSinceMs } from "../../links/link.ts";
import { parseTerms } from "../../links/terms/term-values.ts";
import {
  type CaseStore,
  MAX_CASE_NOTES,
  MAX_DAILY_REPORTS,
  addReport,
  type Case,
  isDue,
  mainReason,
  type Report,
} from "../../moderation/case.ts";
import { findCases, insertCases, insertNotes, keepCase } from "./cases.ts";
import { addEntry } from "./decision-entries.ts";
import { setLinks } from "./decisions.ts";
import { keyOf, type LockedLink, lockLinks } from "./locked-links.ts";
import { insertInto, list, type Run, type Statements } from "./sql.ts";

/** Small batches, because creates in the SQLite file wait for them. */
export const REPORTS = { waiting: 1000, batch: 100 };
/** Notes of all cases together, so that a flood of reports cannot fill the disk: at most 400 MB. */
const MAX_NOTES = 50_000;
/** Each process deletes the oldest notes after adding this many, up to twice as many. */
const NOTES_BETWEEN = 100;

const FORGET_OLDEST_NOTES = `
  DELETE FROM notes WHERE id IN (
    SELECT id FROM notes WHERE id <= (SELECT id FROM notes ORDER BY id DESC LIMIT 1 OFFSET ${MAX_NOTES})
    LIMIT ${2 * NOTES_BETWEEN} FOR UPDATE SKIP LOCKED)`;

type ReportOutcome = Awaited<ReturnType<CaseStore["report"]>>;

/** The reports about a link on one day so far. */
interface DayReports {
  readonly reporters: Set<string>;
  /** How many more reports count. */
  remaining: number;
}

/** Adds reports to cases, many in one transaction. */
export function createReports({ transaction }: Statements) {
  let notesSinceForgotten = 0;

  async function addNotes(run: Run, reports: readonly Report[]): Promise<void> {
    const withNotes = reports.flatMap(({ note, ...report }) =>
      note === undefined ? [] : { ...report, note },
    );
    if (withNotes.length === 0) return;
    await insertNotes(run, withNotes);
    const codes = [...new Set(withNotes.map(({ code }) => code))];
    await run(
      `DELETE FROM notes WHERE code IN (${list(codes)}) AND id <= (
        SELECT id FROM notes AS later WHERE later.code = notes.code AND later.created_ms = notes.created_ms
        ORDER BY id DESC LIMIT 1 OFFSET ${MAX_CASE_NOTES})`,
      codes,
    );
    notesSinceForgotten += withNotes.length;
    if (notesSinceForgotten < NOTES_BETWEEN) return;
    notesSinceForgotten = 0;
    await run(FORGET_OLDEST_NOTES);
  }

  return {
    reportAll: (reports: readonly Report[]): Promise<ReportOutcome[]> =>
      transaction(async (run) => {
        const links = await lockLinks(run, reports);
        if (links.length === 0) return reports.map(() => "repeated");
        const cases = await findCases(run, links);
        const days = await findDays(run, links, reports);
        const { outcomes, newReports, changed, due } = addAll(reports, links, cases, days);
        await insertCases(run, changed);
        const reporters = newReports.map(({ code, createdMs, day, reporter }) => [
          code,
          createdMs,
          day,
          reporter,
        ]);
        await insertInto(run, "reporters (code, created_ms, day, reporter)", reporters);
        await addNotes(run, newReports);
        for (const { link, one, atMs } of due) {
          const reason = mainReason(one);
          const entry = await addEntry(run, "disable", { who: "reports", atMs, reason }, { links: [link] });
          await setLinks(run, entry, [link], reason);
          await keepCase(run, entry, one);
        }
        return outcomes;
      }),
  };
}

/** Finds earlier reports by link and day. */
async function findDays(
  run: Run,
  links: readonly LinkId[],
  reports: readonly Report[],
): Promise<Map<string, DayReports>> {
  const codes = links.map(({ code }) => code);
  const days = [...new Set(reports.map(({ day }) => day))];
  const reporters = [...new Set(reports.map(({ reporter }) => reporter))];
  const ofLinks = `day IN (${list(days)}) AND code IN (${list(codes, days.length + 1)})`;
  const { rows: counts } = await run<LinkId & { day: number; count: number }>(
    `SELECT code, created_ms AS "createdMs", day, count(*) AS count FROM reporters
    WHERE ${ofLinks} GROUP BY code, created_ms, day`,
    [...days, ...codes],
  );
  const { rows: known } = await run<LinkId & { day: number; reporter: string }>(
    `SELECT code, created_ms AS "createdMs", day, reporter FROM reporters
    WHERE ${ofLinks} AND reporter IN (${list(reporters, days.length + codes.length + 1)})`,
    [...days, ...codes, ...reporters],
  );
  const reportsOfDay = new Map<string, DayReports>();
  for (const row of counts)
    reportsOfDay.set(dayKey(row), { reporters: new Set(), remaining: MAX_DAILY_REPORTS - row.count });
  for (const row of known) reportsOfDay.get(dayKey(row))?.reporters.add(row.reporter);
  return reportsOfDay;
}

/** Adds reports to cases one after the other. */
function addAll(
  reports: readonly Report[],
  links: readonly LockedLink[],
  cases: readonly Case[],
  days: Map<string, DayReports>,
) {
  const linkOf = new Map(links.map((link) => [keyOf(link), link]));
  const caseOf = new Map(cases.map((one) => [keyOf(one), one]));
  const changed = new Map<string, Case>();
  const due = new Map<string, { link: LockedLink; one: Case; atMs: number }>();
  const newReports: Report[] = [];
  const outcomes = reports.map((report): ReportOutcome => {
    const key = keyOf(report);
    const link = linkOf.get(key);
    // The operator may have deleted it since the report found it: there is nothing left to look at.
    if (link === undefined || link.disabled === "deleted") return "repeated";
    const day = days.get(dayKey(report)) ?? { reporters: new Set(), remaining: MAX_DAILY_REPORTS };
    days.set(dayKey(report), day);
    if (day.remaining <= 0 || day.reporters.has(report.reporter)) return "repeated";
    day.reporters.add(report.reporter);
    day.remaining--;
    newReports.push(report);
    // The link may have been disabled since the report found it.
    const works = report.works && link.disabled === null && !due.has(key);
    const one = addReport(changed.get(key) ?? caseOf.get(key), { ...report, works });
    const isNowDue = isDue(one, { ...report, works });
    // The maker may have changed the target since the report read it.
    const targetMs = targetSinceMs({ ...link, terms: parseTerms(link.terms) });
    changed.set(key, isNowDue ? { ...one, disabledMs: report.atMs, targetMs } : one);
    if (!isNowDue) return "counted";
    due.set(key, { link, one, atMs: report.atMs });
    return "disabled";
  });
  return { outcomes, newReports, changed: [...changed.values()], due: [...due.values()] };
}

function dayKey({ day, ...link }: LinkId & { readonly day: number }): string {
  return `${day} ${keyOf(link)}`;
}
