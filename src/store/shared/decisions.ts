// Decisions about links and hosts, by the operator or by enough reports.

import { applyChange, type Change, hasRevision, type OtherRevision, versionOf } from "../../links/change.ts";
import type { Decided, Decision, EntryId, LinkId, LinkStore, SeenLink } from "../../links/link-store.ts";
import type { StoredLink } from "../../links/link.ts";
import { isProblem, type Reason } from "../../links/problem.ts";
import { termsJson } from "../../links/terms/term-values.ts";
import type { AnswerAction } from "../../moderation/case.ts";
import type { Action, HostRule } from "../../moderation/moderation-store.ts";
import { addEntry } from "./decision-entries.ts";
import { storedEndMs, storedTarget } from "./link-row.ts";
import { keyOf, type LockedLink, lockLinks, readLocked, recordChange } from "./locked-links.ts";
import { keepValues, setOwners, WRITTEN } from "./replaced-values.ts";
import { insertInto, isStorable, list, type Run, type Statements } from "./sql.ts";

/** Stands for the host rules in the table of changes. No link has this code. */
export const RULES = "";

const UPDATE = "UPDATE links SET original_url = $2, target = $3, ends_ms = $4, terms = $5 WHERE code = $1";
const ERASE = "UPDATE links SET disabled = 'deleted', original_url = '', target = NULL, terms = NULL";
const FORGET_WRITTEN = `UPDATE replaced SET value = NULL, became = NULL WHERE kind IN (${WRITTEN}) AND subject`;
const HOSTS = `SELECT host, reason, since_ms AS "sinceMs" FROM hosts WHERE host > $1 ORDER BY host LIMIT $2`;
const FIND_HOST = 'SELECT host, reason, since_ms AS "sinceMs" FROM hosts WHERE host = $1';
const BLOCK = `
  INSERT INTO hosts (host, reason, since_ms) VALUES ($1, $2, $3)
  ON CONFLICT (host) DO UPDATE SET reason = excluded.reason, since_ms = excluded.since_ms`;
const UNBLOCK = "DELETE FROM hosts WHERE host = $1";
const KEEP_OPEN_CASES = `
  INSERT INTO replaced (entry, kind, subject, created_ms, value, at_ms, disabled_ms, target_ms, pending)
  SELECT $1, 'case', code, created_ms, answer, answered_ms, disabled_ms, target_ms, pending FROM cases
  WHERE is_open AND (code, created_ms) IN (
    SELECT subject, created_ms FROM replaced WHERE entry = $1 AND kind = 'link')`;
const ANSWER_CASES = `
  UPDATE cases SET is_open = FALSE, answer = $1, answered_ms = $2, disabled_ms = NULL
  WHERE is_open AND (code, created_ms) IN (SELECT subject, created_ms FROM replaced WHERE entry = $3 AND kind = 'case')`;

/** The result if the link or case doesn't exist, or the link was deleted. */
export const UNDECIDED: Decided = { changed: 0, entry: undefined };

/** The engine-specific parts. */
export interface EngineParts {
  /** Deletes the visits of a link, also those that others add concurrently or later. */
  readonly eraseVisits: (run: Run, link: LinkId) => Promise<void>;
  /** Blocks other decisions about hosts until the transaction ends. A host without a rule has no row to lock. */
  readonly lockHosts: (run: Run) => Promise<void>;
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

/** Records the state of locked links that a decision is about to replace. */
async function keepLinks(run: Run, entry: EntryId, links: readonly LockedLink[]): Promise<void> {
  await insertInto(
    run,
    "replaced (entry, kind, subject, created_ms, value)",
    links.map(({ code, createdMs, disabled }) => [entry, "link", code, createdMs, disabled]),
  );
}

/** Disables or enables locked links, and records their previous state. Returns how many changed. */
export async function setLinks(
  run: Run,
  entry: EntryId,
  links: readonly LockedLink[],
  disabled: Reason | null,
): Promise<number> {
  await keepLinks(run, entry, links);
  const changed = links.filter((link) => link.disabled !== disabled);
  if (changed.length === 0) return 0;
  const codes = await recordChange(run, changed);
  await run(`UPDATE links SET disabled = $1 WHERE code IN (${list(codes, 2)})`, [disabled, ...codes]);
  return changed.length;
}

/** Answers the open cases of the links of an entry. */
async function answerCases(run: Run, entry: EntryId, answer: AnswerAction, atMs: number): Promise<void> {
  await run(KEEP_OPEN_CASES, [entry]);
  await run(ANSWER_CASES, [answer, atMs, entry]);
}

/** Sets or removes the rule of a host, and records the previous one. Returns how many rules changed. */
export async function setHost(
  run: Run,
  entry: EntryId,
  host: string,
  rule: Pick<HostRule, "reason" | "sinceMs"> | undefined,
): Promise<number> {
  const before = await readHost(run, host);
  const values = [entry, "host", host, 0, before?.reason, before?.sinceMs];
  await insertInto(run, "replaced (entry, kind, subject, created_ms, value, at_ms)", [values]);
  if (before?.reason === rule?.reason) return 0;
  await writeHost(run, host, rule);
  return 1;
}

export async function readHost(run: Run, host: string): Promise<HostRule | undefined> {
  return (await run<HostRule>(FIND_HOST, [host])).rows[0];
}

/** Lets the caches of all processes forget all links. */
export async function writeHost(
  run: Run,
  host: string,
  rule: Pick<HostRule, "reason" | "sinceMs"> | undefined,
): Promise<void> {
  await insertInto(run, "changes (code)", [[RULES]]);
  await (rule === undefined ? run(UNBLOCK, [host]) : run(BLOCK, [host, rule.reason, rule.sinceMs]));
}

/** Writes a locked link. */
export async function writeLink(run: Run, link: StoredLink): Promise<void> {
  await recordChange(run, [link]);
  await run(UPDATE, [link.code, link.originalUrl, storedTarget(link), storedEndMs(link), termsJson(link)]);
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

export function createDecisions(statements: Statements, { eraseVisits, lockHosts }: EngineParts) {
  /** Records the state of locked links, and deletes them permanently. Returns how many changed. */
  async function eraseLinks(run: Run, entry: EntryId, links: readonly LockedLink[]): Promise<number> {
    await keepLinks(run, entry, links);
    const codes = await recordChange(run, links);
    await run(`${ERASE} WHERE code IN (${list(codes)})`, codes);
    await run(`${FORGET_WRITTEN} IN (${list(codes)})`, codes);
    for (const link of links) await eraseVisits(run, link);
    return links.length;
  }

  const decideLinks = (
    action: "disable" | "enable" | "erase",
    seen: readonly SeenLink[],
    decision: Decision & { readonly reason?: Reason },
  ) =>
    decide(statements, decision, async (run): Promise<Decided | OtherRevision> => {
      const locked = await lockSeen(run, seen);
      if (isProblem(locked)) return locked;
      const links = locked.filter(({ disabled }) => disabled !== "deleted");
      if (links.length === 0) return UNDECIDED;
      const entry = await addEntry(run, action, decision, { links });
      const changed =
        action === "erase"
          ? await eraseLinks(run, entry, links)
          : await setLinks(run, entry, links, decision.reason ?? null);
      if (action !== "enable") await answerCases(run, entry, action, decision.atMs);
      return { changed, entry };
    });

  const decideHost = (host: string, reason: Reason | undefined, decision: Decision) =>
    decide(statements, decision, async (run): Promise<Decided> => {
      await lockHosts(run);
      const action = reason === undefined ? "unblock-host" : "block-host";
      const entry = await addEntry(run, action, { ...decision, reason }, { host });
      const rule = reason && { reason, sinceMs: decision.atMs };
      return { changed: await setHost(run, entry, host, rule), entry };
    });

  return {
    change: (id: LinkId, change: Change, decision: Decision): ReturnType<LinkStore["change"]> =>
      decide(statements, decision, async (run) => {
        const [locked] = await lockLinks(run, [id]);
        const link = locked && (await readLocked(run, locked));
        const after = link && applyChange(link, change);
        if (link === undefined || after === undefined) return { link, isChanged: false, entry: undefined };
        await writeLink(run, after);
        const entry = await addEntry(run, actionOf(decision, link, after), decision, { links: [after] });
        if (decision.who === "person") await keepValues(run, entry, link, after);
        return { link: after, isChanged: true, entry };
      }),
    disable: (links: readonly SeenLink[], decision: Decision & { readonly reason: Reason }) =>
      decideLinks("disable", links, decision),
    enable: (links: readonly SeenLink[], decision: Decision) => decideLinks("enable", links, decision),
    handOver: (seen: readonly SeenLink[], owner: string, decision: Decision) =>
      decide(statements, decision, async (run): Promise<Decided | OtherRevision> => {
        const locked = await lockSeen(run, seen);
        if (isProblem(locked)) return locked;
        const links = locked.filter(({ disabled }) => disabled !== "deleted");
        if (links.length === 0) return UNDECIDED;
        const entry = await addEntry(run, "hand-over", decision, { links });
        return { changed: await setOwners(run, entry, links, owner), entry };
      }),
    erase: (link: SeenLink, decision: Decision) => decideLinks("erase", [link], decision),
    blockHost: ({ host, reason }: Pick<HostRule, "host" | "reason">, decision: Decision) =>
      decideHost(host, reason, decision),
    unblockHost: (host: string, decision: Decision) => decideHost(host, undefined, decision),
  };
}

function actionOf({ who }: Decision, before: StoredLink, after: StoredLink): Action {
  if (who !== "person") return "change";
  return before.terms?.owner === after.terms?.owner ? "correct" : "hand-over";
}

export function createHostsReader(run: Run) {
  return {
    async hosts(after: string, limit: number) {
      return isStorable(after) ? (await run<HostRule>(HOSTS, [after, limit])).rows : [];
    },
  };
}
