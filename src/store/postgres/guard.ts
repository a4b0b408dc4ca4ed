import type { Reason } from "../../links/link.ts";
import type { Decision, LinkId, LinkStore } from "../../links/store.ts";
import type { AnswerAction } from "../../moderation/reports/case.ts";
import type { Action, GuardStore, HostRule } from "../../moderation/store.ts";
import { closeCases } from "./case-row.ts";
import type { Database, Run, Value } from "./connection/database.ts";
import { bytesOf, isStorable } from "./text.ts";
import { EMPTY, STOP_ADDING } from "./visit-rows.ts";

const ENTRY = "INSERT INTO journal (entry, at_ms, who, action, reason, note, code, created_ms, host)";

/**
 * Comes first in a transaction that decides about many links. They are locked in the order of their codes, so that two such
 * transactions wait for each other instead of ending in a deadlock. Each is looked up by itself, whatever the planner believes
 * of the table.
 *
 * It is a statement of its own because the next one then sees what was committed while this one waited, such as a case that a
 * report has opened.
 */
const LOCK = `
  SELECT FROM (
    SELECT * FROM unnest($1::text[], $2::bigint[]) AS asked (code, created_ms) ORDER BY code COLLATE "C"
  ) AS asked CROSS JOIN LATERAL (
    SELECT FROM links WHERE links.code = asked.code AND links.created_ms = asked.created_ms FOR UPDATE
  ) AS held`;
const decide = (from: string, to: string, more = "") => `
  WITH found AS MATERIALIZED (
    SELECT asked.* FROM unnest($1::text[], $2::bigint[], $3::uuid[]) AS asked (code, created_ms, entry)
    CROSS JOIN LATERAL (
      SELECT FROM links WHERE links.code = asked.code AND links.created_ms = asked.created_ms AND ${from}
    ) AS held
  ), changed AS (
    UPDATE links SET ${to} FROM found WHERE links.code = found.code RETURNING found.*
  ), told AS (
    INSERT INTO changes (code) SELECT code FROM changed
  ), entered AS (
    ${ENTRY} SELECT entry, $4, $5, $6, $7::text, $8, code, created_ms, NULL FROM changed
  ) ${more}
  SELECT entry FROM changed`;
/** What the operator does to a link answers its case. An answer that was given before stays. */
const answered = (answer: AnswerAction) => `
  , answered AS (${closeCases("changed", { answer, atMs: "$4" })})`;
const DISABLE = decide(
  "links.disabled IS DISTINCT FROM $7::text AND links.disabled IS DISTINCT FROM 'deleted'",
  "disabled = $7::text",
  answered("disable"),
);
const ENABLE = decide("links.disabled <> 'deleted'", "disabled = NULL");
/** The rows of visits stay until they are too old, so that nothing that was sent before counts again. */
const ERASE = decide(
  "links.disabled IS DISTINCT FROM 'deleted'",
  "disabled = 'deleted', original_url = '', target = NULL, terms = NULL",
  `${answered("erase")}, emptied AS (
    UPDATE visits SET state = ${EMPTY}, visits = 0, bots = 0, detail = NULL, version = visits.version + 1 FROM changed
    WHERE visits.code = changed.code AND visits.created_ms = changed.created_ms
  )`,
);
/** `changed` has one row if the rule has changed. */
const decideHost = (changed: string) => `
  WITH changed AS (${changed}), told AS (
    INSERT INTO changes (code) SELECT '' FROM changed
  ), entered AS (
    ${ENTRY} SELECT $1::uuid, $2::bigint, $3, $4, $5::text, $6, '', NULL, host FROM changed
  )
  SELECT host FROM changed`;
const BLOCK = decideHost(`
  INSERT INTO hosts (host, reason, since_ms) VALUES ($7, $5::text, $2::bigint)
  ON CONFLICT (host) DO UPDATE SET reason = excluded.reason, since_ms = excluded.since_ms
    WHERE hosts.reason <> excluded.reason
  RETURNING host`);
const UNBLOCK = decideHost("DELETE FROM hosts WHERE host = $7 RETURNING host");

interface Decided extends Decision {
  readonly action: Action;
  readonly reason?: Reason;
}

/** What the operator decides. */
export function createGuard({ run, transaction }: Pick<Database, "run" | "transaction">) {
  /** Returns the links that it changed, in the order of `links`. */
  async function decideAll(
    on: Run,
    statement: string,
    links: readonly LinkId[],
    decision: Decided,
  ): Promise<LinkId[]> {
    const asked = distinct(links).map((link) => ({ ...link, entry: Bun.randomUUIDv7() }));
    if (asked.length === 0) return [];
    const keys = [asked.map(({ code }) => code), asked.map(({ createdMs }) => createdMs)];
    await on(LOCK, keys);
    const { rows } = await on<{ entry: string }>(statement, [
      ...keys,
      asked.map(({ entry }) => entry),
      ...wordsOf(decision),
    ]);
    const changed = new Set(rows.map(({ entry }) => entry));
    return asked
      .filter(({ entry }) => changed.has(entry))
      .map(({ code, createdMs }) => ({ code, createdMs }));
  }

  async function decideOnHost(statement: string, host: string, decision: Decided): Promise<boolean> {
    const { rows } = await run(statement, [Bun.randomUUIDv7(), ...wordsOf(decision), host]);
    return rows.length > 0;
  }

  return {
    disable: (links: readonly LinkId[], decision: Decision & { readonly reason: Reason }) =>
      transaction((on) => decideAll(on, DISABLE, links, { ...decision, action: "disable" })),
    enable: (links: readonly LinkId[], decision: Decision) =>
      transaction((on) => decideAll(on, ENABLE, links, { ...decision, action: "enable" })),
    async erase(link: LinkId, decision: Decision) {
      const erased = await transaction(async (on) => {
        await on(STOP_ADDING);
        return decideAll(on, ERASE, [link], { ...decision, action: "erase" });
      });
      return erased.length > 0;
    },
    blockHost: ({ host, reason }: Pick<HostRule, "host" | "reason">, decision: Decision) =>
      decideOnHost(BLOCK, host, { ...decision, action: "block-host", reason }),
    unblockHost: (host: string, decision: Decision) =>
      decideOnHost(UNBLOCK, host, { ...decision, action: "unblock-host" }),
  } satisfies Partial<LinkStore & GuardStore>;
}

function distinct(links: readonly LinkId[]): LinkId[] {
  const byKey = new Map(links.map((link) => [`${link.createdMs} ${link.code}`, link]));
  return [...byKey.values()].filter(({ code }) => isStorable(code));
}

/** In the order of the columns. */
function wordsOf({ atMs, who, action, reason, note }: Decided): Value[] {
  return [atMs, who, action, reason, note === undefined ? undefined : bytesOf(note)];
}
