import type { Decision, LinkId } from "../../links/store.ts";
import type { CaseAnswer, CaseBounds, CaseStore } from "../../moderation/reports/case.ts";
import type { Database } from "./connection/database.ts";
import { bytesOf, isStorable } from "./text.ts";

/** So that no statement takes long. */
const FORGOTTEN_AT_ONCE = 10_000;

/**
 * What was decided before, perhaps by reports, is decided again: the journal tells that somebody has looked. The link is
 * locked before its case, as by reports.
 */
const ANSWER = `
  WITH held AS MATERIALIZED (
    SELECT code, disabled FROM links WHERE code = $1 AND created_ms = $2 FOR UPDATE
  ), known AS MATERIALIZED (
    SELECT code, created_ms, disabled_ms FROM cases
    WHERE code = $1 AND created_ms = $2 AND (SELECT count(*) FROM held) >= 0 FOR UPDATE
  ), answered AS (
    UPDATE cases
    SET is_open = false, answer = $3, answered_ms = $4, disabled_ms = NULL, version = cases.version + 1
    FROM known WHERE cases.code = known.code AND cases.created_ms = known.created_ms
  ), changed AS (
    UPDATE links SET disabled = $5 FROM held, known
    WHERE links.code = held.code AND held.disabled IS DISTINCT FROM 'deleted' AND CASE $3
      WHEN 'disable' THEN held.disabled IS DISTINCT FROM $5
      WHEN 'nothing' THEN held.disabled IS NOT NULL AND known.disabled_ms IS NOT NULL END
    RETURNING links.code, links.created_ms
  ), ruled AS (
    INSERT INTO hosts (host, reason, since_ms) SELECT $6, $5, $4 FROM known WHERE $3 = 'block-host'
    ON CONFLICT (host) DO UPDATE SET reason = excluded.reason, since_ms = excluded.since_ms
      WHERE hosts.reason <> excluded.reason
    RETURNING host
  ), told AS (
    INSERT INTO changes (code) SELECT code FROM changed UNION ALL SELECT '' FROM ruled
  ), entered AS (
    INSERT INTO journal (entry, at_ms, who, action, reason, note, code, created_ms, host)
    SELECT $7::uuid, $4::bigint, $9, CASE $3 WHEN 'nothing' THEN 'nothing-wrong' ELSE $3 END, $5, $10::bytea,
      CASE $3 WHEN 'block-host' THEN '' ELSE code END, CASE $3 WHEN 'block-host' THEN NULL ELSE created_ms END, $6
    FROM known
    UNION ALL
    SELECT $8::uuid, $4::bigint, $9, 'enable', NULL, $10::bytea, code, created_ms, NULL FROM changed
    WHERE $3 = 'nothing'
  )
  SELECT code FROM known`;
const FORGET_REPORTERS = `
  DELETE FROM reporters WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM reporters WHERE day < $1 LIMIT ${FORGOTTEN_AT_ONCE} FOR UPDATE SKIP LOCKED))`;
/** Both states are named so that PostgreSQL uses the index. */
const FORGET_CASES = `
  WITH forgotten AS (
    DELETE FROM cases WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM cases WHERE is_open = ANY ('{true,false}') AND last_ms < $1 LIMIT $2 FOR UPDATE SKIP LOCKED))
    RETURNING code, created_ms
  ), with_notes AS (
    DELETE FROM notes USING forgotten
    WHERE notes.code = forgotten.code AND notes.created_ms = forgotten.created_ms
  )
  SELECT code FROM forgotten`;

/** For work that nobody waits for. */
const BACKGROUND_MS = 10_000;

/** Answers cases and forgets old ones. */
export function createCases(database: Database) {
  const { run } = database;
  const background = database.within(BACKGROUND_MS);
  return {
    async answerCase({ code, createdMs }: LinkId, answer: CaseAnswer, { who, atMs, note }: Decision) {
      if (!isStorable(code)) return false;
      const { rows } = await run(ANSWER, [
        code,
        createdMs,
        answer.action,
        atMs,
        answer.action === "nothing" ? undefined : answer.reason,
        answer.action === "block-host" ? answer.host : undefined,
        // In this order.
        Bun.randomUUIDv7(),
        Bun.randomUUIDv7(),
        who,
        note === undefined ? undefined : bytesOf(note),
      ]);
      return rows.length > 0;
    },
    async ageCases({ reportersBefore, casesBeforeMs }: CaseBounds, limit: number): Promise<number> {
      for (let forgotten = FORGOTTEN_AT_ONCE; forgotten === FORGOTTEN_AT_ONCE;)
        ({ count: forgotten } = await background.run(FORGET_REPORTERS, [reportersBefore]));
      return (await background.run(FORGET_CASES, [casesBeforeMs, limit])).rows.length;
    },
  } satisfies Partial<CaseStore>;
}
