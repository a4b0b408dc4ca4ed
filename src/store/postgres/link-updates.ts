// Links in PostgreSQL: looked up, changed and purged. `inserts.ts` creates them.
import { applyChange, type Change, isSilent } from "../../links/change.ts";
import type { LinkKey } from "../../links/code.ts";
import type { LinkId, LinkStore, Updated } from "../../links/link-store.ts";
import type { StoredLink } from "../../links/link.ts";
import { type CommitFigures, createCommits, createStoreFigures } from "../shared/commits.ts";
import { isStorable } from "../shared/sql.ts";
import { createChanges } from "./changes.ts";
import { type Database, type Statements, WAIT_SHARE } from "./connection/database.ts";
import { closeCases, createInserts } from "./inserts.ts";
import { createLinkCount, type LinkCount } from "./link-count.ts";
import { columnsOf, GIVEN_LINKS, LINK_COLUMNS, type LinkRow, toLink } from "./link-row.ts";
import { createRepeatableRequests } from "./repeatable-requests.ts";
import type { Replicas } from "./replicas.ts";

/**
 * Skips locked rows until the next time. Answers the cases of purged links, because the operator can't decide about these any
 * more. A trigger deletes the sum of old days. The days of statistics age by themselves.
 */
const PURGE = `
  WITH due AS MATERIALIZED (
    SELECT code FROM links WHERE ends_ms <= $1 AND disabled IS NULL ORDER BY ends_ms LIMIT $2 FOR UPDATE SKIP LOCKED
  ), purged AS (
    DELETE FROM links WHERE code = ANY (ARRAY(SELECT code FROM due)) RETURNING code, created_ms, ends_ms
  ), answered AS (${closeCases("purged")}
  )
  SELECT count(*) AS purged FROM purged`;
/** For work that nobody waits for. */
const BACKGROUND_MS = 10_000;

/** The methods that write links, and the feed of changes. */
export function createLinks(
  database: Database,
  count: LinkCount = createLinkCount(database),
  onRead?: Replicas["read"],
  figures = createStoreFigures(),
) {
  const background = database.within(BACKGROUND_MS);
  const changes = createChanges(database, onRead);
  const inserts = createInserts(database, count, figures.links);
  const requests = createRepeatableRequests(database, background, count, figures.requests);
  const updates = createUpdates(database, figures.updates);

  return {
    insert: inserts.insert,
    insertOnce: requests.insertOnce,
    recall: requests.recall,
    forgetRequests: requests.forgetRequests,
    update: updates.update,
    changes: changes.changes,
    size: count.size,
    async purge(endedByMs, limit) {
      const { rows } = await background.run<{ purged: number }>(PURGE, [endedByMs, limit]);
      const purged = rows[0]?.purged ?? 0;
      count.add(-purged);
      if (purged < limit) await changes.forget(background);
      return purged;
    },
    /** Waits for accepted writes. */
    async close() {
      await Promise.all([inserts, requests, updates].map(({ settled }) => settled()));
      await count.close();
    },
  } satisfies Partial<LinkStore>;
}

/** Look-ups that wait for each other share a round trip. Others start while one takes long. */
const LOOK_UPS = { waiting: 10_000, batch: 200, atOnce: 3 };

const FIND = `SELECT ${LINK_COLUMNS} FROM links WHERE code = ANY ($1)`;

export function createLinksReader({ run, limitMs }: Pick<Statements, "run" | "limitMs">) {
  const lookUps = createCommits({ ...LOOK_UPS, waitMs: WAIT_SHARE * limitMs }, findAll);

  async function findAll(codes: readonly LinkKey[]): Promise<(StoredLink | undefined)[]> {
    const { rows } = await run<LinkRow>(FIND, [[...new Set(codes)]]);
    const linksByCode = new Map(rows.map((row) => [row.code, toLink(row)]));
    return codes.map((code) => linksByCode.get(code));
  }

  return {
    async find(code) {
      if (!isStorable(code)) return undefined;
      const [link] = await lookUps.add([code]);
      return link;
    },
  } satisfies Partial<LinkStore>;
}

/** Other commits start while one takes long: it may wait for links that another process has locked. */
const UPDATES = { waiting: 10_000, batch: 500, atOnce: 3 };

/** Locks in the order of the codes, which prevents deadlocks. */
const LOCK = `SELECT ${LINK_COLUMNS} FROM links WHERE code = ANY ($1) ORDER BY code FOR UPDATE`;
/** Writes locked rows. $7 are the links that caches have to forget. */
const WRITE = `
  WITH published AS (INSERT INTO changes (code) SELECT * FROM unnest($7::text[]))
  UPDATE links SET original_url = given.original_url, target = given.target, ends_ms = given.ends_ms,
    terms = given.terms
  FROM ${GIVEN_LINKS} WHERE links.code = given.code AND links.code = ANY ($1::text[])`;

interface Task {
  readonly link: LinkId;
  readonly change: Change;
}

/**
 * Changes share a transaction. If its outcome is unknown, all reject with `StoreUnavailable` and none is repeated: a visit
 * must not count twice. Callers may repeat any change but a visit.
 */
function createUpdates(
  { transaction, limitMs }: Pick<Statements, "transaction" | "limitMs">,
  figures?: CommitFigures,
) {
  const updates = createCommits({ ...UPDATES, waitMs: WAIT_SHARE * limitMs }, updateAll, figures);

  function updateAll(tasks: readonly Task[]): Promise<Updated[]> {
    const codes = [...new Set(tasks.map(({ link }) => link.code))];
    return transaction(async (run) => {
      const { rows } = await run<LinkRow>(LOCK, [codes]);
      const links = new Map(rows.map((row) => [row.code, toLink(row)]));
      const changed = new Set<LinkKey>();
      const codesToForget = new Set<LinkKey>();
      const updated = tasks.map(({ link: { code, createdMs }, change }): Updated => {
        const link = links.get(code);
        if (link?.createdMs !== createdMs) return { link: undefined, isChanged: false };
        const after = applyChange(link, change);
        if (after === undefined) return { link, isChanged: false };
        links.set(code, after);
        changed.add(code);
        if (!isSilent(change)) codesToForget.add(code);
        return { link: after, isChanged: true };
      });
      if (changed.size > 0) {
        const rewritten = [...links.values()].filter(({ code }) => changed.has(code));
        await run(WRITE, [...columnsOf(rewritten), [...codesToForget]]);
      }
      return updated;
    });
  }

  return {
    async update(link, change) {
      if (!isStorable(link.code)) return { link: undefined, isChanged: false };
      const [updated] = await updates.add([{ link, change }]);
      return updated;
    },
    settled: updates.settled,
  } satisfies Pick<LinkStore, "update"> & { settled: unknown };
}
