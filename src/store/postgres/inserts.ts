import { type LinkStore, type NewLink, StoreUnavailable } from "../../links/link-store.ts";
import { type CommitFigures, createCommits } from "../shared/commits.ts";
import { type Run, type Statements, WAIT_SHARE } from "./connection/database.ts";
import type { LinkCount } from "./link-count.ts";
import { columnsOf, GIVEN_LINKS } from "./link-row.ts";

/** Three commits at once: one that waits for a slow standby does not hold up the others. */
const INSERTS = { waiting: 10_000, batch: 1000, atOnce: 3 };
/** A failed commit is repeated only while its first link has waited less than this share of the limit. */
const REPEAT_SHARE = 0.85;
/** Pause before the repetition, in which the pool notices other connections that broke at the same time. */
const PAUSE_MS = 30;

/** Closes the open cases of links that are gone. `links` names a subquery with code, created_ms and ends_ms. */
export const closeCases = (links: string) => `
  UPDATE cases SET is_open = FALSE, answer = 'erase', answered_ms = ${links}.ends_ms, disabled_ms = NULL
  FROM ${links} WHERE cases.code = ${links}.code AND cases.created_ms = ${links}.created_ms AND cases.is_open`;

/**
 * Inserts in the order of the codes, which prevents deadlocks. A row with an `xmax` replaces an ended link, whose case is
 * closed. `links` still shows the old link, as it was before the statement.
 *
 * Repeated after an unknown outcome, the statement accepts a row with the same values as its own. It writes that row
 * again: only the commit of a write proves that the standby has everything written before. Such a row already
 * has its event. A trigger records a link that replaces another; recording all creates, it would also record imports.
 */
const INSERT = `
  WITH made AS (
    INSERT INTO links (code, original_url, target, created_ms, ends_ms, terms)
    SELECT code, original_url, target, created_ms, ends_ms, terms FROM ${GIVEN_LINKS}
    ORDER BY code COLLATE "C"
    ON CONFLICT (code) DO UPDATE
      SET original_url = excluded.original_url, target = excluded.target, created_ms = excluded.created_ms,
        ends_ms = excluded.ends_ms, terms = excluded.terms
      WHERE links.disabled IS NULL AND (links.ends_ms <= $7
        OR $8 AND links.created_ms = excluded.created_ms AND links.original_url = excluded.original_url
          AND links.target IS NOT DISTINCT FROM excluded.target
          AND links.ends_ms IS NOT DISTINCT FROM excluded.ends_ms
          AND links.terms IS NOT DISTINCT FROM excluded.terms)
    RETURNING code, created_ms, xmax <> 0 AS was_there
  ), replaced AS MATERIALIZED (
    SELECT links.code, links.created_ms, links.ends_ms FROM links JOIN made USING (code)
    WHERE links.code = ANY (ARRAY(SELECT code FROM made WHERE was_there)) AND links.created_ms <> made.created_ms
  ), answered AS (${closeCases("replaced")}
  ), recorded AS (
    INSERT INTO events (type, code, created_ms)
    SELECT 'link.created', made.code, made.created_ms FROM made CROSS JOIN event_recording
    WHERE types LIKE '% link.created %' AND NOT was_there
  )
  SELECT code, code = ANY (ARRAY(SELECT code FROM replaced)) AS is_replaced FROM made`;

/** Adds links with distinct codes in one statement. `added` doesn't count links that replace an ended one. */
export async function insertRows(
  run: Run,
  links: readonly NewLink[],
  isRepeated = false,
): Promise<{ readonly codes: ReadonlySet<string>; readonly added: number }> {
  const { rows } = await run<{ code: string; is_replaced: boolean }>(INSERT, [
    ...columnsOf(links),
    Math.min(...links.map(({ freeIfEndedByMs }) => freeIfEndedByMs)),
    isRepeated,
  ]);
  return {
    codes: new Set(rows.map(({ code }) => code)),
    added: rows.filter((row) => !row.is_replaced).length,
  };
}

/**
 * Adds links whose codes may repeat: the first of each code, then the rest. Returns which were added. `insert` takes links
 * with distinct codes, and returns the codes that it added.
 */
export async function insertInTurn(
  links: readonly NewLink[],
  insert: (links: readonly NewLink[]) => Promise<ReadonlySet<string>>,
): Promise<boolean[]> {
  const isInserted = links.map(() => false);
  for (let remaining = [...links.keys()]; remaining.length > 0;) {
    const first = new Map<string, number>();
    for (const nth of remaining) {
      const code = links[nth]?.code ?? "";
      if (!first.has(code)) first.set(code, nth);
    }
    const inserted = await insert([...first.values()].flatMap((nth) => links[nth] ?? []));
    for (const [code, nth] of first) isInserted[nth] = inserted.has(code);
    // The code of a link that was just added is taken, unless that link has ended already.
    remaining = remaining.filter((nth) => {
      const at = first.get(links[nth]?.code ?? "") ?? nth;
      const [added, link] = [links[at], links[nth]];
      return at !== nth && isInserted[at] && added && link && added.endsMs <= link.freeIfEndedByMs;
    });
  }
  return isInserted;
}

/**
 * Repeats work once if its outcome is unknown. `sinceMs` is when the first waiting item arrived, `limitMs` the limit of a
 * statement.
 */
export async function repeatIfUnknown<T>(
  sinceMs: number,
  limitMs: number,
  work: (isRepeated: boolean) => Promise<T>,
): Promise<T> {
  try {
    return await work(false);
  } catch (error) {
    const isUnknown = error instanceof StoreUnavailable;
    if (!isUnknown || performance.now() - sinceMs >= REPEAT_SHARE * limitMs) throw error;
    await Bun.sleep(PAUSE_MS);
    return work(true);
  }
}

/** Creates share a statement and its commit. Only durable links are counted. */
export function createInserts(
  { run, limitMs }: Pick<Statements, "run" | "limitMs">,
  count: Pick<LinkCount, "add">,
  figures?: CommitFigures,
) {
  const inserts = createCommits(
    { ...INSERTS, waitMs: WAIT_SHARE * limitMs },
    (links: readonly NewLink[], sinceMs) =>
      insertInTurn(links, (distinct) =>
        repeatIfUnknown(sinceMs, limitMs, async (isRepeated) => {
          const { codes, added } = await insertRows(run, distinct, isRepeated);
          count.add(added);
          return codes;
        }),
      ),
    figures,
  );

  return {
    insert: inserts.add,
    /** Resolves once all inserts are committed. */
    settled: inserts.settled,
  } satisfies Pick<LinkStore, "insert"> & { settled: unknown };
}
