// The writer's half of what the operator decides: runs in the worker thread, one transaction a call.
import type { Database } from "bun:sqlite";

import type { Reason } from "../../links/link.ts";
import type { Decision, LinkId } from "../../links/store.ts";
import { DAY_MS } from "../../links/time.ts";
import type { AnswerAction } from "../../moderation/reports/case.ts";
import type { Action, HostRule } from "../../moderation/store.ts";
import { type ChangesTable, RULES } from "./changes.ts";

const DISABLE = `
  UPDATE links SET disabled = ?3
  WHERE code = ?1 AND created_ms = ?2 AND disabled IS NOT ?3 AND disabled IS NOT 'deleted'`;
const ENABLE = `
  UPDATE links SET disabled = NULL WHERE code = ?1 AND created_ms = ?2 AND disabled <> 'deleted'`;
const ERASE = `
  UPDATE links SET disabled = 'deleted', original_url = '', target = NULL, terms = NULL
  WHERE code = ?1 AND created_ms = ?2 AND disabled IS NOT 'deleted'`;
/** Each day is one look-up by key, because rows are ordered by day. Day 0 holds the sums of old days. */
const ERASE_VISITS = `
  WITH RECURSIVE span (day) AS (
    SELECT max(?3, (SELECT min(day) FROM visits WHERE day > 0))
    UNION ALL SELECT day + 1 FROM span WHERE day < (SELECT max(day) FROM visits))
  DELETE FROM visits
  WHERE day IN (SELECT 0 UNION ALL SELECT day FROM span) AND code = ?1 AND created_ms = ?2`;
const BLOCK = `
  INSERT INTO hosts (host, reason, since_ms) VALUES (?1, ?2, ?3)
  ON CONFLICT (host) DO UPDATE SET reason = ?2, since_ms = ?3 WHERE reason <> ?2`;
const UNBLOCK = "DELETE FROM hosts WHERE host = ?1";
const ENTER = `
  INSERT INTO journal (at_ms, who, action, reason, note, code, created_ms, host)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`;

/** What the operator does to a link answers its case. An answer that was given before stays. */
const ANSWER_CASE = `
  UPDATE cases SET is_open = 0, answer = ?3, answered_ms = ?4, disabled_ms = NULL
  WHERE code = ?1 AND created_ms = ?2 AND is_open = 1`;

/** What an entry of the journal is about. */
type Subject = Partial<LinkId> & { readonly host?: string };
type EntryRow = [
  atMs: number,
  who: string,
  action: Action,
  ...reasonNoteAndCode: [string | null, string | null, string | null],
  createdMs: number | null,
  host: string | null,
];

export function prepareGuard(database: Database, changes: ChangesTable) {
  const disable = database.prepare<unknown, [string, number, Reason]>(DISABLE);
  const enable = database.prepare<unknown, [string, number]>(ENABLE);
  const erase = database.prepare<unknown, [string, number]>(ERASE);
  const eraseVisits = database.prepare<unknown, [string, number, number]>(ERASE_VISITS);
  const block = database.prepare<unknown, [string, Reason, number]>(BLOCK);
  const unblock = database.prepare<unknown, [string]>(UNBLOCK);
  const enter = database.prepare<unknown, EntryRow>(ENTER);
  const answerCase = database.prepare<unknown, [string, number, AnswerAction, number]>(ANSWER_CASE);

  function note(action: Action, decision: Decision, reason: Reason | null, subject: Subject): void {
    const { code = null, createdMs = null, host = null } = subject;
    enter.run(decision.atMs, decision.who, action, reason, decision.note ?? null, code, createdMs, host);
  }

  function answer(action: AnswerAction, { code, createdMs }: LinkId, { who, atMs }: Decision): void {
    if (who !== "reports") answerCase.run(code, createdMs, action, atMs);
  }

  const disableAll = database.transaction(
    (links: readonly LinkId[], decision: Decision & { readonly reason: Reason }) =>
      links.filter((link) => {
        if (disable.run(link.code, link.createdMs, decision.reason).changes === 0) return false;
        changes.add(link.code);
        note("disable", decision, decision.reason, link);
        answer("disable", link, decision);
        return true;
      }),
  );
  const enableAll = database.transaction((links: readonly LinkId[], decision: Decision) =>
    links.filter((link) => {
      if (enable.run(link.code, link.createdMs).changes === 0) return false;
      changes.add(link.code);
      note("enable", decision, null, link);
      return true;
    }),
  );
  const eraseOne = database.transaction((link: LinkId, decision: Decision) => {
    const { code, createdMs } = link;
    if (erase.run(code, createdMs).changes === 0) return false;
    // A clock may step back over midnight.
    eraseVisits.run(code, createdMs, Math.floor(createdMs / DAY_MS) - 1);
    changes.add(code);
    note("erase", decision, null, link);
    answer("erase", link, decision);
    return true;
  });
  const blockOne = database.transaction(
    ({ host, reason }: Pick<HostRule, "host" | "reason">, decision: Decision) => {
      if (block.run(host, reason, decision.atMs).changes === 0) return false;
      changes.add(RULES);
      note("block-host", decision, reason, { host });
      return true;
    },
  );
  const unblockOne = database.transaction((host: string, decision: Decision) => {
    if (unblock.run(host).changes === 0) return false;
    changes.add(RULES);
    note("unblock-host", decision, null, { host });
    return true;
  });

  return {
    disable: disableAll.immediate,
    enable: enableAll.immediate,
    erase: eraseOne.immediate,
    blockHost: blockOne.immediate,
    unblockHost: unblockOne.immediate,
    /** Enters in the journal what changed nothing else. To be called in a transaction. */
    enter: note,
    close() {
      for (const statement of [disable, enable, erase, eraseVisits, block, unblock, enter, answerCase])
        statement.finalize();
    },
  };
}

export type GuardTables = ReturnType<typeof prepareGuard>;
