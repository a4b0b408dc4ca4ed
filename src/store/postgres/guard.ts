import type { AnswerAction } from "../../guard/case.ts";
import type {
  Action,
  GuardStore,
  HostRule,
  JournalCursor,
  JournalEntry,
  JournalQuery,
} from "../../guard/store.ts";
import type { Code } from "../../links/code.ts";
import type { Reason } from "../../links/link.ts";
import type { Decision, LinkId, LinkStore, Who } from "../../links/store.ts";
import type { Database, Run, Value } from "./database.ts";

const ENTRY = "INSERT INTO journal (entry, at_ms, who, action, reason, note, code, created_ms, host)";

/**
 * One statement decides about many links. They are locked in the order of their codes, so that two such statements wait
 * for each other instead of ending in a deadlock. What the operator does to a link also answers its case; an answer that
 * was given before stays.
 */
const decide = (from: string, to: string, more = "") => `
  WITH asked AS (
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::uuid[]) AS asked (code, created_ms, entry)
  ), found AS MATERIALIZED (
    SELECT links.code, links.created_ms, asked.entry FROM links JOIN asked USING (code, created_ms)
    WHERE links.code = ANY ($1::text[]) AND ${from} ORDER BY links.code FOR UPDATE OF links
  ), changed AS (
    UPDATE links SET ${to} FROM found WHERE links.code = found.code RETURNING found.*
  ), told AS (
    INSERT INTO changes (code, created_ms) SELECT code, created_ms FROM changed
  ), entered AS (
    ${ENTRY} SELECT entry, $4, $5, $6, $7::text, $8, code, created_ms, NULL FROM changed
  ), answered AS (
    UPDATE cases SET is_open = false, answer = $9::text, answered_ms = $4, disabled_ms = NULL FROM changed
    WHERE $9::text IS NOT NULL AND cases.is_open
      AND cases.code = changed.code AND cases.created_ms = changed.created_ms
  ) ${more}
  SELECT entry FROM changed`;
const DISABLE = decide(
  "links.disabled IS DISTINCT FROM $7::text AND links.disabled IS DISTINCT FROM 'deleted'",
  "disabled = $7::text",
);
const ENABLE = decide("links.disabled <> 'deleted'", "disabled = NULL");
const ERASE = decide(
  "links.disabled IS DISTINCT FROM 'deleted'",
  "disabled = 'deleted', original_url = '', target = NULL",
);
/** `changed` has one row if the rule has changed. */
const decideHost = (changed: string) => `
  WITH changed AS (${changed}), told AS (
    INSERT INTO changes (code, created_ms) SELECT '', 0 FROM changed
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
const ENTER = `${ENTRY} VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`;

const HOSTS = `SELECT host, reason, since_ms AS "sinceMs" FROM hosts WHERE host > $1 ORDER BY host LIMIT $2`;
const journalOf = (filter: string) => `
  SELECT entry, at_ms, who, action, reason, note, code, created_ms, host FROM journal
  WHERE entry < $1 AND ${filter} ORDER BY entry DESC LIMIT $2`;
const JOURNAL = journalOf("true");
const JOURNAL_OF_CODE = journalOf("code = $3");
const JOURNAL_OF_HOST = journalOf("host = $3");
const AFTER_ALL = "ffffffff-ffff-ffff-ffff-ffffffffffff";
const ENTRY_ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

interface EntryRow {
  entry: string;
  at_ms: number;
  who: Who;
  action: Action;
  reason: Reason | null;
  note: Uint8Array | null;
  code: Code | "";
  created_ms: number | null;
  host: string | null;
}

/** What is decided about links. `answer` is what it means for their cases. */
interface LinksDecision extends Decision {
  readonly action: Action;
  readonly reason?: Reason;
  readonly answer?: AnswerAction;
}

/** What an entry of the journal is about. */
type Subject = Partial<LinkId> & { readonly host?: string };

/** What the operator decides. Those methods that take `run` can be part of a larger transaction. */
export function createGuard({ run }: Database) {
  /** Returns the links that it changed, in the order of `links`. */
  async function decideAll(
    statement: string,
    links: readonly LinkId[],
    { atMs, who, action, reason, note, answer }: LinksDecision,
    on: Run,
  ): Promise<LinkId[]> {
    const asked = distinct(links).map((link) => ({ ...link, entry: Bun.randomUUIDv7() }));
    if (asked.length === 0) return [];
    const { rows } = await on<{ entry: string }>(statement, [
      asked.map(({ code }) => code),
      asked.map(({ createdMs }) => createdMs),
      asked.map(({ entry }) => entry),
      ...[atMs, who, action, reason, bytesOf(note), who === "reports" ? undefined : answer],
    ]);
    const changed = new Set(rows.map(({ entry }) => entry));
    return asked
      .filter(({ entry }) => changed.has(entry))
      .map(({ code, createdMs }) => ({ code, createdMs }));
  }

  async function decideOnHost(
    statement: string,
    { action, reason, host }: { action: Action; reason?: Reason; host: string },
    { atMs, who, note }: Decision,
    on: Run,
  ): Promise<boolean> {
    const entry = Bun.randomUUIDv7();
    const { rows } = await on(statement, [entry, atMs, who, action, reason, bytesOf(note), host]);
    return rows.length > 0;
  }

  return {
    disable: (links: readonly LinkId[], decision: Decision & { readonly reason: Reason }, on = run) =>
      decideAll(DISABLE, links, { ...decision, action: "disable", answer: "disable" }, on),
    enable: (links: readonly LinkId[], decision: Decision, on = run) =>
      decideAll(ENABLE, links, { ...decision, action: "enable" }, on),
    async erase(link: LinkId, decision: Decision) {
      const erased = await decideAll(ERASE, [link], { ...decision, action: "erase", answer: "erase" }, run);
      return erased.length > 0;
    },
    blockHost: ({ host, reason }: Pick<HostRule, "host" | "reason">, decision: Decision, on = run) =>
      decideOnHost(BLOCK, { action: "block-host", reason, host }, decision, on),
    unblockHost: (host: string, decision: Decision) =>
      decideOnHost(UNBLOCK, { action: "unblock-host", host }, decision, run),
    /** Enters in the journal what changed nothing else. */
    async enter(
      { action, reason, atMs, who, note }: LinksDecision,
      { code, createdMs, host }: Subject,
      on: Run,
    ): Promise<void> {
      const words: Value[] = [atMs, who, action, reason, bytesOf(note)];
      await on(ENTER, [Bun.randomUUIDv7(), ...words, code ?? "", createdMs, host]);
    },
    async hosts(after: string, limit: number) {
      return isStorable(after) ? (await run<HostRule>(HOSTS, [after, limit])).rows : [];
    },
    async journal({ limit, before, code, host }: JournalQuery) {
      const last = before ?? AFTER_ALL;
      const subject = code ?? host;
      // Nothing comes after a cursor that is none of ours.
      if (!ENTRY_ID.test(last) || !isStorable(subject ?? "")) return [];
      const statement = code !== undefined ? JOURNAL_OF_CODE : host !== undefined ? JOURNAL_OF_HOST : JOURNAL;
      const values = subject === undefined ? [last, limit] : [last, limit, subject];
      return (await run<EntryRow>(statement, values)).rows.map(toEntry);
    },
  } satisfies Partial<LinkStore & GuardStore> & { enter: unknown };
}

export type Guard = ReturnType<typeof createGuard>;

/** PostgreSQL refuses text with a NUL, so no link has such a code. */
export function isStorable(text: string): boolean {
  return !text.includes("\0");
}

function distinct(links: readonly LinkId[]): LinkId[] {
  const byKey = new Map(links.map((link) => [`${link.createdMs} ${link.code}`, link]));
  return [...byKey.values()].filter(({ code }) => isStorable(code));
}

function bytesOf(note: string | undefined): Uint8Array | undefined {
  return note === undefined ? undefined : Buffer.from(note);
}

function toEntry({ entry, at_ms, who, action, reason, note, code, created_ms, host }: EntryRow): JournalEntry {
  return {
    cursor: entry as JournalCursor,
    atMs: at_ms,
    who,
    action,
    ...(reason !== null && { reason }),
    ...(note !== null && { note: textOf(note) }),
    ...(code !== "" && { code }),
    ...(created_ms !== null && { createdMs: created_ms }),
    ...(host !== null && { host }),
  };
}

export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}
