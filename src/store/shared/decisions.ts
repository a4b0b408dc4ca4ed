// Decisions about links and hosts, by the operator or by enough reports.

import {
  applyChange,
  type Change,
  hasRevision,
  type OtherRevision,
  termsJson,
  versionOf,
} from "../../links/change.ts";
import type { LinkKey } from "../../links/code.ts";
import type { StoredLink } from "../../links/link.ts";
import { isProblem } from "../../links/problem.ts";
import { type Reason, REASONS } from "../../links/reasons.ts";
import type { Decision, EnableDecision, LinkId, SeenLink, Updated } from "../../links/store.ts";
import type { AnswerAction } from "../../moderation/case.ts";
import type { HostRule } from "../../moderation/store.ts";
import { addEntries } from "./decision-entries.ts";
import { idOf, LINK_COLUMNS, type LinkRow, storedEndMs, storedTarget, toLink } from "./link-row.ts";
import { insertInto, isStorable, list, type Run, type Statements } from "./sql.ts";

/** Stands for the host rules in the table of changes. No link has this code. */
export const RULES = "";

const FIND = `SELECT ${LINK_COLUMNS} FROM links WHERE code = $1`;
const UPDATE = "UPDATE links SET original_url = $2, target = $3, ends_ms = $4, terms = $5 WHERE code = $1";
const HOSTS = `SELECT host, reason, since_ms AS "sinceMs" FROM hosts WHERE host > $1 ORDER BY host LIMIT $2`;
const BLOCK = `
  INSERT INTO hosts (host, reason, since_ms) VALUES ($1, $2, $3)
  ON CONFLICT (host) DO UPDATE SET reason = excluded.reason, since_ms = excluded.since_ms
    WHERE hosts.reason <> excluded.reason
  RETURNING host`;
const UNBLOCK = "DELETE FROM hosts WHERE host = $1 RETURNING host";

/** Links that a decision disabled, if it is the last one about them, with the reason for which they were disabled before it. */
const undoable = (codes: string) => `
  SELECT code, created_ms AS "createdMs", (
    SELECT CASE action WHEN 'disable' THEN reason END FROM journal AS former
    WHERE code = it.code AND created_ms = it.created_ms AND entry < it.entry AND action IN ('disable', 'enable')
    ORDER BY entry DESC LIMIT 1) AS former
  FROM journal AS it
  WHERE action = 'disable' AND at_ms = $1 AND code IN (${codes}) AND NOT EXISTS (
    SELECT 1 FROM journal AS later
    WHERE code = it.code AND created_ms = it.created_ms AND entry > it.entry AND action IN ('disable', 'enable'))`;

export interface LockedLink extends LinkId {
  /** Null if it redirects. */
  readonly disabled: Reason | "deleted" | null;
}

/** Deletes the visits of a link, also those that others add concurrently or later. */
export type EraseVisits = (run: Run, link: LinkId) => Promise<void>;

/**
 * Locks links until the transaction ends. Returns those that exist, in the order of `links`. Locks them in the order of
 * their codes, which prevents deadlocks. Must be the first statement: later ones then see what was committed while this
 * one waited, such as a new case.
 */
export async function lockLinks(run: Run, links: readonly LinkId[]): Promise<LockedLink[]> {
  const codes = [...new Set(links.map(({ code }) => code))].filter(isStorable);
  if (codes.length === 0) return [];
  const { rows } = await run<LockedLink>(
    `SELECT code, created_ms AS "createdMs", disabled FROM links WHERE code IN (${list(codes)})
    ORDER BY code FOR UPDATE`,
    codes,
  );
  const existing = new Map(rows.map((row) => [keyOf(row), row]));
  return [...new Set(links.map((link) => existing.get(keyOf(link))))].filter((row) => row !== undefined);
}

/** Reads a locked link. */
export async function readLocked(run: Run, { code }: LockedLink): Promise<StoredLink | undefined> {
  const { rows } = await run<LinkRow>(FIND, [code]);
  return rows.map((row) => toLink(code, row))[0];
}

/** Locks links like {@link lockLinks}. Returns `OtherRevision` instead if one isn't as the operator saw it. */
async function lockSeen(run: Run, links: readonly SeenLink[]): Promise<LockedLink[] | OtherRevision> {
  const locked = await lockLinks(run, links);
  for (const seen of links) {
    const same = seen.revision === undefined ? undefined : locked.find((one) => keyOf(one) === keyOf(seen));
    const other = same && otherRevision(await readLocked(run, same), seen);
    if (other !== undefined) return other;
  }
  return locked;
}

/** Returns the version of a locked link if it isn't the one that the operator saw. */
export function otherRevision(
  link: StoredLink | undefined,
  { revision }: SeenLink,
): OtherRevision | undefined {
  if (link === undefined || revision === undefined || hasRevision(link, { ifRevisions: [revision] }))
    return undefined;
  return { kind: "precondition.failed", revision: versionOf(link) };
}

/** Takes locked links. Returns those that it changed. */
export async function disableLocked(
  run: Run,
  links: readonly LockedLink[],
  decision: Decision & { readonly reason: Reason },
): Promise<LinkId[]> {
  const { reason, who, atMs } = decision;
  const changed = links.filter(({ disabled }) => disabled !== "deleted" && disabled !== reason);
  if (changed.length === 0) return [];
  const codes = await recordChange(run, changed);
  await run(`UPDATE links SET disabled = $1 WHERE code IN (${list(codes, 2)})`, [reason, ...codes]);
  await addEntries(run, "disable", decision, changed);
  if (who !== "reports") await closeCases(run, codes, "disable", atMs);
  return changed.map(idOf);
}

/** Takes locked links. Returns those that it changed. */
export async function enableLocked(
  run: Run,
  links: readonly LockedLink[],
  decision: Decision,
): Promise<LinkId[]> {
  const changed = links.filter(({ disabled }) => disabled !== "deleted" && disabled !== null);
  if (changed.length === 0) return [];
  const codes = await recordChange(run, changed);
  await run(`UPDATE links SET disabled = NULL WHERE code IN (${list(codes)})`, codes);
  await addEntries(run, "enable", decision, changed);
  return changed.map(idOf);
}

/** Takes locked links. Returns those whose last decision was that of `undoesMs`, in their state before it. */
async function undoLocked(
  run: Run,
  links: readonly LockedLink[],
  undoesMs: number,
  decision: Decision,
): Promise<LinkId[]> {
  if (links.length === 0) return [];
  const codes = links.map(({ code }) => code);
  const { rows } = await run<LinkId & { former: Reason | null }>(undoable(list(codes, 2)), [
    undoesMs,
    ...codes,
  ]);
  const formerOf = new Map(rows.map((row) => [keyOf(row), row.former]));
  const thoseOf = (reason: Reason | null) => links.filter((link) => formerOf.get(keyOf(link)) === reason);
  const changed = await enableLocked(run, thoseOf(null), decision);
  for (const reason of REASONS)
    changed.push(...(await disableLocked(run, thoseOf(reason), { ...decision, reason })));
  return changed;
}

/** Returns false, and changes nothing, if the host has this rule already. */
export async function block(
  run: Run,
  { host, reason }: Pick<HostRule, "host" | "reason">,
  decision: Decision,
): Promise<boolean> {
  const { rows } = await run(BLOCK, [host, reason, decision.atMs]);
  if (rows.length === 0) return false;
  await insertInto(run, "changes (code)", [[RULES]]);
  await addEntries(run, "block-host", { ...decision, reason }, [{ host }]);
  return true;
}

/** Returns false, and changes nothing, if the host has no rule. */
export async function unblock(run: Run, host: string, decision: Decision): Promise<boolean> {
  const { rows } = await run(UNBLOCK, [host]);
  if (rows.length === 0) return false;
  await insertInto(run, "changes (code)", [[RULES]]);
  await addEntries(run, "unblock-host", decision, [{ host }]);
  return true;
}

/** Runs a decision in one transaction. Triggers put the name in `acting` into its events; no other transaction sees it. */
export function decide<T>(
  { transaction }: Pick<Statements, "transaction">,
  { by }: Decision,
  work: (run: Run) => Promise<T>,
): Promise<T> {
  if (by === undefined) return transaction(work);
  return transaction(async (run) => {
    await run("INSERT INTO acting (operator) VALUES ($1)", [by]);
    const result = await work(run);
    await run("DELETE FROM acting");
    return result;
  });
}

export function createDecisions(statements: Statements, eraseVisits: EraseVisits) {
  return {
    change: (id: LinkId, change: Change, decision: Decision) =>
      decide(statements, decision, async (run): Promise<Updated> => {
        const [locked] = await lockLinks(run, [id]);
        const link = locked && (await readLocked(run, locked));
        const after = link && applyChange(link, change);
        if (after === undefined) return { link, isChanged: false };
        await recordChange(run, [after]);
        await run(UPDATE, [
          after.code,
          after.originalUrl,
          storedTarget(after),
          storedEndMs(after),
          termsJson(after),
        ]);
        await addEntries(run, "change", decision, [after]);
        return { link: after, isChanged: true };
      }),
    disable: (links: readonly SeenLink[], decision: Decision & { readonly reason: Reason }) =>
      decide(statements, decision, async (run) => {
        const locked = await lockSeen(run, links);
        return isProblem(locked) ? locked : disableLocked(run, locked, decision);
      }),
    enable: (links: readonly SeenLink[], decision: EnableDecision) =>
      decide(statements, decision, async (run) => {
        const locked = await lockSeen(run, links);
        if (isProblem(locked)) return locked;
        return decision.undoesMs === undefined
          ? enableLocked(run, locked, decision)
          : undoLocked(run, locked, decision.undoesMs, decision);
      }),
    erase: (id: SeenLink, decision: Decision) =>
      decide(statements, decision, async (run): Promise<boolean | OtherRevision> => {
        const locked = await lockSeen(run, [id]);
        if (isProblem(locked)) return locked;
        const [link] = locked;
        if (link === undefined || link.disabled === "deleted") return false;
        const codes = await recordChange(run, [link]);
        await run(
          "UPDATE links SET disabled = 'deleted', original_url = '', target = NULL, terms = NULL WHERE code = $1",
          codes,
        );
        await eraseVisits(run, link);
        await addEntries(run, "erase", decision, [link]);
        await closeCases(run, codes, "erase", decision.atMs);
        return true;
      }),
    blockHost: (rule: Pick<HostRule, "host" | "reason">, decision: Decision) =>
      decide(statements, decision, (run) => block(run, rule, decision)),
    unblockHost: (host: string, decision: Decision) =>
      decide(statements, decision, (run) => unblock(run, host, decision)),
  };
}

export function createHostsReader(run: Run) {
  return {
    async hosts(after: string, limit: number) {
      return isStorable(after) ? (await run<HostRule>(HOSTS, [after, limit])).rows : [];
    },
  };
}

/** Lets the caches of all processes forget these links. Returns their codes. */
async function recordChange(run: Run, links: readonly LinkId[]): Promise<LinkKey[]> {
  const codes = links.map(({ code }) => code);
  await insertInto(
    run,
    "changes (code)",
    codes.map((code) => [code]),
  );
  return codes;
}

/** Closes open cases: a decision of the operator about a link answers them. */
async function closeCases(
  run: Run,
  codes: readonly LinkKey[],
  answer: AnswerAction,
  atMs: number,
): Promise<void> {
  await run(
    `UPDATE cases SET is_open = FALSE, answer = $1, answered_ms = $2, disabled_ms = NULL
    WHERE is_open AND code IN (${list(codes, 3)})
      AND created_ms = (SELECT created_ms FROM links WHERE links.code = cases.code)`,
    [answer, atMs, ...codes],
  );
}

export function keyOf({ code, createdMs }: LinkId): string {
  return `${createdMs} ${code}`;
}
