import type { LinkKey } from "../../links/code.ts";
import type { Decision, EntryId, LinkId, Who } from "../../links/link-store.ts";
import type { Reason } from "../../links/problem.ts";
import type {
  Action,
  DecisionEntry,
  DecisionFilter,
  DecisionQuery,
  Replaced,
} from "../../moderation/moderation-store.ts";
import { LINK_COLUMNS, type LinkRow, toLink } from "./link-row.ts";
import type { RecordOf } from "./records.ts";
import { isChangeable, stillHas } from "./replaced-values.ts";
import { bytesOf, insertInto, isStorable, list, type Run, textOf } from "./sql.ts";

const COLUMNS = "at_ms, who, operator, action, reason, note, code, created_ms, host, links, undoes";
export const ENTRIES = `SELECT entry, ${COLUMNS} FROM journal ORDER BY entry`;
const FIND = `SELECT entry, ${COLUMNS} FROM journal WHERE entry = $1`;

export interface EntryRow {
  entry: EntryId;
  at_ms: number;
  who: Who;
  operator: string | null;
  action: Action;
  reason: Reason | null;
  note: Uint8Array | null;
  code: LinkKey | null;
  created_ms: number | null;
  host: string | null;
  links: number | null;
  undoes: EntryId | null;
}

export const REPLACED =
  "entry, kind, subject, created_ms, value, at_ms, disabled_ms, target_ms, pending, undone_by, became";

/** Whether a later decision about the subject of a row stands. Entries of an earlier Curt have no rows in `replaced`. */
export const isSuperseded = (it: string) => `(
  EXISTS (
    SELECT 1 FROM replaced AS later
    WHERE later.subject = ${it}.subject AND later.kind = ${it}.kind AND later.created_ms = ${it}.created_ms
      AND later.entry > ${it}.entry AND later.undone_by IS NULL)
  OR ${it}.kind <> 'host' AND EXISTS (
    SELECT 1 FROM journal AS later
    WHERE later.code = ${it}.subject AND later.created_ms = ${it}.created_ms AND later.entry > ${it}.entry
      AND later.links IS NULL AND later.action <> 'change')
  OR ${it}.kind = 'host' AND EXISTS (
    SELECT 1 FROM journal AS later
    WHERE later.host = ${it}.subject AND later.entry > ${it}.entry AND later.links IS NULL))`;

/** Whether the link of a row is there, so that undoing can restore the value. */
const IS_THERE = `(it.kind = 'host' OR EXISTS (
  SELECT 1 FROM links WHERE links.code = it.subject AND links.created_ms = it.created_ms
    AND (links.disabled IS NULL OR links.disabled <> 'deleted')))`;
const IS_FREE = `it.undone_by IS NULL AND NOT ${isSuperseded("it")}`;
/** Whether {@link ModerationStore.undo} would restore something. `filter`: which links of a decision about many. */
const isRestorable = (filter: string) => `
  CASE WHEN code IS NULL AND host IS NULL THEN EXISTS (
    SELECT 1 FROM replaced AS it
    WHERE it.entry = journal.entry AND it.kind <> 'case' AND ${filter} AND ${IS_FREE} AND ${IS_THERE} AND NOT EXISTS (
      SELECT 1 FROM replaced AS its
      WHERE its.entry = it.entry AND its.kind = 'case' AND its.subject = it.subject AND ${isSuperseded("its")}))
  ELSE EXISTS (SELECT 1 FROM replaced AS it WHERE it.entry = journal.entry AND ${IS_THERE})
    AND NOT EXISTS (SELECT 1 FROM replaced AS it WHERE it.entry = journal.entry AND ${IS_THERE} AND NOT (${IS_FREE})) END`;
/** A page compares up to this number of values with later decisions: those of 50 entries about 10,000 links take seconds. */
const MAX_COMPARED = 50_000;

export interface Subjects {
  readonly links?: readonly LinkId[];
  readonly host?: string | undefined;
  readonly undoes?: EntryId;
}

/** Adds the entry of a decision in its transaction, which has locked everything that the decision is about. */
export async function addEntry(
  run: Run,
  action: Action,
  { atMs, who, by, note, reason }: Decision & { readonly reason?: Reason | undefined },
  { links = [], host, undoes }: Subjects,
): Promise<EntryId> {
  const [one] = links.length === 1 ? links : [];
  const subject = { code: one?.code, createdMs: one?.createdMs, host, links: links.length, undoes };
  const [row] = await insertEntries(run, [{ atMs, who, by, action, reason, note, ...subject }]);
  if (row === undefined) throw new Error("The entry is missing");
  return row.entry;
}

/** Inserts entries, which have all their numbers or none. Returns the new ones. */
export async function insertEntries(
  run: Run,
  entries: readonly RecordOf["entry"][],
): Promise<{ entry: EntryId }[]> {
  const areNumbered = entries[0]?.entry !== undefined;
  return insertInto(
    run,
    `journal (${areNumbered ? "entry, " : ""}${COLUMNS})`,
    entries.map(({ entry, atMs, who, by, action, reason, note, code, createdMs, host, links, undoes }) => {
      const bytes = note === undefined ? undefined : bytesOf(note);
      const values = [atMs, who, by, action, reason, bytes, code, createdMs, host, links, undoes];
      return areNumbered ? [entry, ...values] : values;
    }),
    "ON CONFLICT DO NOTHING RETURNING entry",
  );
}

export async function findEntry(run: Run, entry: EntryId): Promise<EntryRow | undefined> {
  return (await run<EntryRow>(FIND, [entry])).rows[0];
}

/** Whether it is a decision that can be undone at all. */
export function canBeUndone({ action, who, links }: Pick<EntryRow, "action" | "who" | "links">): boolean {
  return links !== null && who !== "reports" && !["change", "erase", "undo"].includes(action);
}

interface Group {
  readonly entry: EntryId;
  readonly kind: Replaced["kind"];
  readonly value: string | null;
  readonly became: string | null;
  readonly byReports: number | boolean;
  readonly count: number;
  readonly undone: number;
  readonly undoneBy: EntryId | null;
}

/** Limits values to those of a link, whose parameters are $n and the one after. */
const ofLink = (link: LinkId | undefined, n: number) =>
  link === undefined ? "TRUE" : `(subject = $${n} AND created_ms = $${n + 1})`;
const valuesOf = (link: LinkId | undefined) => (link === undefined ? [] : [link.code, link.createdMs]);

export function createDecisionsReader(run: Run) {
  /** Reads the values that these entries replaced, of one link or of all. */
  async function replacedBy(
    entries: readonly EntryId[],
    link: LinkId | undefined,
  ): Promise<readonly Group[]> {
    if (entries.length === 0) return [];
    const { rows } = await run<Group>(
      `SELECT entry, kind, value, became, disabled_ms IS NOT NULL AS "byReports", count(*) AS count,
        count(undone_by) AS undone, max(undone_by) AS "undoneBy"
      FROM replaced WHERE entry IN (${list(entries)}) AND (kind = 'host' OR ${ofLink(link, entries.length + 1)})
      GROUP BY entry, kind, value, became, disabled_ms IS NOT NULL ORDER BY kind DESC, count(*) DESC, value`,
      [...entries, ...valuesOf(link)],
    );
    return rows;
  }

  /** Which of these entries can be undone now, at least partly, or for one link. */
  async function undoable(entries: readonly EntryId[], link: LinkId | undefined): Promise<EntryId[]> {
    if (entries.length === 0) return [];
    const { rows } = await run<{ entry: EntryId }>(
      `SELECT entry FROM journal
      WHERE entry IN (${list(entries)}) AND ${isRestorable(ofLink(link, entries.length + 1))}`,
      [...entries, ...valuesOf(link)],
    );
    return rows.map(({ entry }) => entry);
  }

  /** Finds the entries whose links have other values by now. Holders of the key change them without an entry. */
  async function findChanged(
    rows: readonly EntryRow[],
    groups: ReadonlyMap<EntryId, readonly Group[]>,
  ): Promise<ReadonlySet<EntryId>> {
    const changeable = rows.filter(({ entry }) => groups.get(entry)?.some(isChangeable));
    const codes = [...new Set(changeable.flatMap(({ code }) => code ?? []))];
    if (codes.length === 0) return new Set();
    const found = await run<LinkRow & { code: LinkKey }>(
      `SELECT code, ${LINK_COLUMNS} FROM links WHERE code IN (${list(codes)})`,
      codes,
    );
    const links = new Map(found.rows.map((row) => [row.code, toLink(row.code, row)]));
    const changed = changeable.filter(({ entry, code }) => {
      const now = code === null ? undefined : links.get(code);
      return now !== undefined && !stillHas(now, groups.get(entry) ?? []);
    });
    return new Set(changed.map(({ entry }) => entry));
  }

  return {
    async decisions({
      limit,
      before = Number.MAX_SAFE_INTEGER,
      link,
      forColleagues = false,
      host,
      filter,
    }: DecisionQuery) {
      if (!isStorable(link?.code ?? host ?? filter?.by ?? "")) return [];
      let query = forColleagues ? FOR_COLLEAGUES : queryOf(link, host);
      let values: readonly (string | number)[] = host === undefined ? valuesOf(link) : [host];
      if (filter !== undefined) {
        query = filteredBy(filter);
        values = [filter.after, filter.by, ...filter.actions];
      }
      const { rows } = await run<EntryRow>(query, [before, limit, ...values]);
      const ids = rows.map(({ entry }) => entry);
      const groups = Map.groupBy(await replacedBy(ids, link), ({ entry }) => entry);
      const standing = ({ entry }: EntryRow) =>
        (groups.get(entry) ?? []).reduce((sum, { count, undone }) => sum + count - undone, 0);
      let compared = 0;
      const { near = [], far = [] } = Object.groupBy(
        rows.filter((row) => canBeUndone(row) && standing(row) > 0),
        (row) => ((compared += standing(row)) <= MAX_COMPARED ? "near" : "far"),
      );
      const open = new Set([
        ...(await undoable(
          near.map(({ entry }) => entry),
          link,
        )),
        ...far.map(({ entry }) => entry),
      ]);
      const changed = await findChanged(
        rows.filter(({ entry }) => open.has(entry)),
        groups,
      );
      return rows.map((row): DecisionEntry => {
        const own = groups.get(row.entry) ?? [];
        const undone = own.find(({ undoneBy }) => undoneBy !== null)?.undoneBy ?? undefined;
        return {
          ...toEntry(row),
          ...(link !== undefined && { code: link.code, createdMs: link.createdMs }),
          entry: row.entry,
          replaced: own.map(toReplaced),
          ...(undone !== undefined && { undone }),
          isUndoable: open.has(row.entry) && !changed.has(row.entry),
        };
      });
    },
  };
}

const newest = (from: string) =>
  `SELECT entry FROM (SELECT entry FROM ${from} ORDER BY entry DESC LIMIT $2) AS newest`;
/** Reads hardly more rows than it returns, however often the link was corrected. */
const FOR_COLLEAGUES = `
  SELECT entry, ${COLUMNS} FROM journal WHERE entry IN (
    ${newest("journal WHERE code = $3 AND created_ms = $4 AND entry < $1 AND who = 'person'")}
    UNION ${newest("replaced WHERE subject = $3 AND created_ms = $4 AND entry < $1 AND kind = 'owner'")})
  ORDER BY entry DESC LIMIT $2`;

/** Reads only the entries between two, because names and actions have no index. */
const filteredBy = ({ actions }: DecisionFilter) => `
  SELECT entry, ${COLUMNS} FROM journal
  WHERE entry < $1 AND entry > $3 AND ($4 = '' OR operator = $4) AND action IN (${list(actions, 5)})
  ORDER BY entry DESC LIMIT $2`;

/** Entries about a link or a host, including decisions about several links and their undoing. */
function queryOf(link: LinkId | undefined, host: string | undefined): string {
  const [own, of] =
    host === undefined
      ? ["code = $3 AND created_ms = $4", `${ofLink(link, 3)} AND kind <> 'host'`]
      : ["host = $3", "subject = $3 AND kind = 'host'"];
  const filter = `AND entry IN (
    SELECT entry FROM journal WHERE ${own}
    UNION SELECT entry FROM replaced WHERE ${of}
    UNION SELECT undone_by FROM replaced WHERE ${of})`;
  return `SELECT entry, ${COLUMNS} FROM journal WHERE entry < $1 ${link === undefined && host === undefined ? "" : filter}
    ORDER BY entry DESC LIMIT $2`;
}

function toReplaced({ kind, value, became, byReports, count }: Group): Replaced {
  const said = { kind, count, ...(value !== null && { value }) };
  if (kind === "owner" || isChangeable({ kind })) return { ...said, became: became ?? undefined } as Replaced;
  return (kind === "case" ? { ...said, byReports: Boolean(byReports) } : said) as Replaced;
}

export function toEntry(row: EntryRow): RecordOf["entry"] {
  const { entry, at_ms, who, operator, action, reason, note, code, created_ms, host, links, undoes } = row;
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
    ...(links !== null && { links }),
    ...(undoes !== null && { undoes }),
  };
}
