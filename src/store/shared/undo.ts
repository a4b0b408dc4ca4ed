import { isStillOpen, type OtherRevision, revisionOf } from "../../links/change.ts";
import type { LinkKey } from "../../links/code.ts";
import type { EditsClosed } from "../../links/edit.ts";
import type { Decision, EntryId, LinkId } from "../../links/link-store.ts";
import type { StoredLink } from "../../links/link.ts";
import type {
  HostRule,
  ModerationStore,
  NotUndone,
  OpenedForUndo,
} from "../../moderation/moderation-store.ts";
import {
  addEntry,
  canBeUndone,
  type EntryRow,
  findEntry,
  isSuperseded,
  REPLACED,
} from "./decision-entries.ts";
import { decide, type EngineParts, readHost, writeHost, writeLink } from "./decisions.ts";
import { keyOf, type LockedLink, lockLinks, readLocked, recordChange } from "./locked-links.ts";
import type { ReplacedRow } from "./records.ts";
import { isChangeable, stillHas, withFormer, writeOwners } from "./replaced-values.ts";
import { list, type Run, type Statements } from "./sql.ts";

const ROWS = `SELECT ${REPLACED}, ${isSuperseded("it")} AS superseded FROM replaced AS it WHERE entry = $1`;
const RESTORE_LINKS = `
  UPDATE links SET disabled = (
    SELECT value FROM replaced WHERE entry = $1 AND kind = 'link' AND subject = links.code)`;
/** Whether reports have opened it since, or arrived after the operator did. */
const STAYS_OPEN = "cases.is_open AND cases.pending > 0";
/** A case that stays open gets back what reports had done before the decision. */
const RESTORE_CASES = `
  UPDATE cases SET is_open = was.value IS NULL OR ${STAYS_OPEN},
    answer = CASE WHEN ${STAYS_OPEN} THEN NULL ELSE was.value END,
    answered_ms = CASE WHEN ${STAYS_OPEN} THEN NULL ELSE was.at_ms END,
    target_ms = CASE WHEN ${STAYS_OPEN} AND was.disabled_ms IS NULL THEN NULL ELSE was.target_ms END,
    pending = CASE WHEN ${STAYS_OPEN} THEN cases.pending ELSE was.pending END,
    disabled_ms = was.disabled_ms
  FROM replaced AS was
  WHERE was.entry = $1 AND was.kind = 'case' AND cases.code = was.subject AND cases.created_ms = was.created_ms`;

type Row = ReplacedRow & { readonly superseded: number | boolean };

export function createUndo(statements: Pick<Statements, "transaction">, { lockHosts }: EngineParts) {
  return {
    undo: (id: EntryId, decision: Decision, opened?: OpenedForUndo) =>
      decide(statements, decision, async (run): ReturnType<ModerationStore["undo"]> => {
        const entry = await findEntry(run, id);
        if (entry === undefined || (opened !== undefined && !isCorrectionOf(entry, opened)))
          return { kind: "decision.unknown" };
        const { rows: before } = await run<Row>(ROWS, [id]);
        const ids = before.filter(({ kind }) => kind !== "host").map(idOf);
        const locked = await lockLinks(run, [...ids, ...linkOf(entry)]);
        if (before.length > ids.length) await lockHosts(run);
        // Another decision may have come before the locks.
        const { rows } = await run<Row>(ROWS, [id]);
        const refusal = opened && (await refuse(run, rows, locked, opened));
        if (refusal !== undefined) return refusal;
        const existing = new Map(
          locked.flatMap((one) => (one.disabled === "deleted" ? [] : [[keyOf(one), one]])),
        );
        const isThere = (row: Row) => row.kind === "host" || existing.has(keyOf(idOf(row)));
        const isAlone = entry.code !== null || entry.host !== null;
        const groups = [...Map.groupBy(rows, ({ subject }) => (isAlone ? "" : subject)).values()];
        // A host's rule can be restored even if the link is gone.
        const free = groups
          .map((group) => group.filter(isThere))
          .filter(
            (there) => there.length > 0 && there.every((row) => row.undone_by === null && !row.superseded),
          );
        if (!canBeUndone(entry) || free.length === 0)
          return { kind: whyNot(entry, rows), ...(await readState(run, entry, locked)) };
        const restored = free.flat();
        const changeable = await readChangeable(run, restored, existing);
        if (!changeable.every((one) => stillHas(one.link, one.rows)))
          return { kind: "decision.superseded", ...(await readState(run, entry, locked)) };
        const former = changeable.map((one) => withFormer(one.link, one.rows, decision.atMs));
        if (former.includes(undefined))
          return { kind: "decision.final", ...(await readState(run, entry, locked)) };
        const links = isAlone ? linkOf(entry) : restored.filter(({ kind }) => kind === "link").map(idOf);
        const host = entry.host ?? undefined;
        const undoneBy = await addEntry(run, "undo", decision, { links, host, undoes: id });
        await restore(run, entry, restored, existing);
        for (const link of former) if (link !== undefined) await writeLink(run, link);
        const subjects = (isAlone ? rows : restored).map(({ subject }) => subject);
        await run(
          `UPDATE replaced SET undone_by = $1 WHERE entry = $2 AND subject IN (${list(subjects, 3)})`,
          [undoneBy, id, ...subjects],
        );
        const open = groups.filter((group) => group.some((row) => row.undone_by === null));
        return { changed: free.length, entry: undoneBy, skipped: open.length - free.length };
      }),
  };
}

function isCorrectionOf({ action, code, created_ms }: EntryRow, link: LinkId): boolean {
  return action === "correct" && code === link.code && created_ms === link.createdMs;
}

/** The right with which the link was opened may have ended since. */
async function refuse(
  run: Run,
  rows: readonly Row[],
  [locked]: readonly LockedLink[],
  opened: OpenedForUndo,
): Promise<OtherRevision | EditsClosed | undefined> {
  const link = locked && (await readLocked(run, locked));
  if (link !== undefined && !isStillOpen(link, opened))
    return { kind: "precondition.failed", revision: revisionOf(link) };
  const isClosed = !opened.canRetarget && rows.some(({ kind }) => kind === "target");
  return isClosed ? { kind: "edits.closed" } : undefined;
}

function whyNot(entry: EntryRow, rows: readonly Row[]): Exclude<NotUndone["kind"], "decision.unknown"> {
  if (!canBeUndone(entry) || rows.length === 0) return "decision.final";
  if (rows.every((row) => row.undone_by !== null)) return "decision.undone";
  return rows.some((row) => row.superseded) ? "decision.superseded" : "decision.final";
}

/** The present state of the link and the host of a decision. */
async function readState(run: Run, { code, created_ms, host }: EntryRow, locked: readonly LockedLink[]) {
  const link = locked.find((one) => one.code === code && one.createdMs === created_ms);
  return {
    disabled: link?.disabled,
    blocked: host === null ? undefined : ((await readHost(run, host))?.reason ?? null),
  };
}

async function restore(
  run: Run,
  { entry }: EntryRow,
  rows: readonly Row[],
  links: ReadonlyMap<string, LockedLink>,
): Promise<void> {
  const changed = rows.filter(
    (row) => row.kind === "link" && links.get(keyOf(idOf(row)))?.disabled !== row.value,
  );
  if (changed.length > 0) {
    const codes = await recordChange(run, changed.map(idOf));
    await run(`${RESTORE_LINKS} WHERE code IN (${list(codes, 2)})`, [entry, ...codes]);
  }
  await writeOwners(
    run,
    rows.flatMap((row) => {
      const link = row.kind === "owner" ? links.get(keyOf(idOf(row))) : undefined;
      return link === undefined ? [] : [{ ...link, owner: row.value ?? undefined }];
    }),
  );
  const cases = rows.filter(({ kind }) => kind === "case").map(({ subject }) => subject);
  if (cases.length > 0)
    await run(`${RESTORE_CASES} AND cases.code IN (${list(cases, 2)})`, [entry, ...cases]);
  for (const { kind, subject, value: reason, at_ms: sinceMs } of rows)
    if (kind === "host")
      await writeHost(run, subject, reason === null ? undefined : ({ reason, sinceMs } as HostRule));
}

/** Reads the links whose destination or terms these rows restore, with the rows of each. */
async function readChangeable(
  run: Run,
  rows: readonly Row[],
  links: ReadonlyMap<string, LockedLink>,
): Promise<readonly { readonly link: StoredLink; readonly rows: readonly Row[] }[]> {
  const changeable = [];
  for (const [key, group] of Map.groupBy(rows, (row) => keyOf(idOf(row)))) {
    const locked = group.some(isChangeable) ? links.get(key) : undefined;
    const link = locked && (await readLocked(run, locked));
    if (link !== undefined) changeable.push({ link, rows: group });
  }
  return changeable;
}

function idOf({ subject, created_ms }: ReplacedRow): LinkId {
  return { code: subject as LinkKey, createdMs: created_ms };
}

function linkOf({ code, created_ms }: EntryRow): LinkId[] {
  return code === null || created_ms === null ? [] : [{ code, createdMs: created_ms }];
}
