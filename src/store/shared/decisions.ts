// What the operator, or enough reports, decide about links and hosts.

import type { Code } from "../../links/code.ts";
import type { Reason } from "../../links/link.ts";
import type { Decision, LinkId } from "../../links/store.ts";
import type { AnswerAction } from "../../moderation/reports/case.ts";
import type { HostRule } from "../../moderation/store.ts";
import { enter } from "./operator-journal.ts";
import { insertInto, isStorable, list, type Run, type Statements } from "./sql.ts";

/** In the table of changes, stands for the rules about hosts. No link has this code. */
export const RULES = "";

const HOSTS = `SELECT host, reason, since_ms AS "sinceMs" FROM hosts WHERE host > $1 ORDER BY host LIMIT $2`;
const BLOCK = `
  INSERT INTO hosts (host, reason, since_ms) VALUES ($1, $2, $3)
  ON CONFLICT (host) DO UPDATE SET reason = excluded.reason, since_ms = excluded.since_ms
    WHERE hosts.reason <> excluded.reason
  RETURNING host`;
const UNBLOCK = "DELETE FROM hosts WHERE host = $1 RETURNING host";

export interface LockedLink extends LinkId {
  /** Null if it works. */
  readonly disabled: Reason | "deleted" | null;
}

/** Forgets the visits of a link, also those that others add at this moment or later. */
export type EraseVisits = (run: Run, link: LinkId) => Promise<void>;

/**
 * Keeps others from changing links before the transaction ends. Returns those that exist, in the order of `links`. They are
 * locked in the order of their codes, so that two transactions wait for each other instead of ending in a deadlock. Comes
 * first: later statements see what was committed while this one waited, such as a case that a report has opened.
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

/** Links that are locked. Returns those that it changed. */
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
  await enter(run, "disable", decision, changed);
  if (who !== "reports") await closeCases(run, codes, "disable", atMs);
  return changed.map(idOf);
}

/** Links that are locked. Returns those that it changed. */
export async function enableLocked(
  run: Run,
  links: readonly LockedLink[],
  decision: Decision,
): Promise<LinkId[]> {
  const changed = links.filter(({ disabled }) => disabled !== "deleted" && disabled !== null);
  if (changed.length === 0) return [];
  const codes = await recordChange(run, changed);
  await run(`UPDATE links SET disabled = NULL WHERE code IN (${list(codes)})`, codes);
  await enter(run, "enable", decision, changed);
  return changed.map(idOf);
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
  await enter(run, "block-host", { ...decision, reason }, [{ host }]);
  return true;
}

export function createDecisions({ transaction }: Statements, eraseVisits: EraseVisits) {
  return {
    disable: (links: readonly LinkId[], decision: Decision & { readonly reason: Reason }) =>
      transaction(async (run) => disableLocked(run, await lockLinks(run, links), decision)),
    enable: (links: readonly LinkId[], decision: Decision) =>
      transaction(async (run) => enableLocked(run, await lockLinks(run, links), decision)),
    erase: (id: LinkId, decision: Decision) =>
      transaction(async (run) => {
        const [link] = await lockLinks(run, [id]);
        if (link === undefined || link.disabled === "deleted") return false;
        const codes = await recordChange(run, [link]);
        await run(
          "UPDATE links SET disabled = 'deleted', original_url = '', target = NULL, terms = NULL WHERE code = $1",
          codes,
        );
        await eraseVisits(run, link);
        await enter(run, "erase", decision, [link]);
        await closeCases(run, codes, "erase", decision.atMs);
        return true;
      }),
    blockHost: (rule: Pick<HostRule, "host" | "reason">, decision: Decision) =>
      transaction((run) => block(run, rule, decision)),
    unblockHost: (host: string, decision: Decision) =>
      transaction(async (run) => {
        const { rows } = await run(UNBLOCK, [host]);
        if (rows.length === 0) return false;
        await insertInto(run, "changes (code)", [[RULES]]);
        await enter(run, "unblock-host", decision, [{ host }]);
        return true;
      }),
  };
}

export function createHostsReader(run: Run) {
  return {
    async hosts(after: string, limit: number) {
      return isStorable(after) ? (await run<HostRule>(HOSTS, [after, limit])).rows : [];
    },
  };
}

/** For the memories of all processes. Returns the codes. */
async function recordChange(run: Run, links: readonly LinkId[]): Promise<Code[]> {
  const codes = links.map(({ code }) => code);
  await insertInto(
    run,
    "changes (code)",
    codes.map((code) => [code]),
  );
  return codes;
}

/** A decision of the operator about a link answers its case. An earlier answer stays. */
async function closeCases(
  run: Run,
  codes: readonly Code[],
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

function idOf({ code, createdMs }: LinkId): LinkId {
  return { code, createdMs };
}
