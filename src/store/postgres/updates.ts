import { applyChange, type Change, isSilent } from "../../links/change.ts";
import type { Code } from "../../links/code.ts";
import type { LinkId, LinkStore, Updated } from "../../links/store.ts";
import { type CommitFigures, createCommits } from "../commits.ts";
import { isStorable } from "../shared/sql.ts";
import { type Statements, WAIT_SHARE } from "./connection/database.ts";
import { columnsOf, GIVEN_LINKS, LINK_COLUMNS, type LinkRow, toLink } from "./link-row.ts";

/** A second commit begins while the first takes long: it may wait for links that another process has locked. */
const UPDATES = { waiting: 10_000, batch: 500, atOnce: 3 };

/** In the order of the codes, so that no two transactions wait for each other. */
const LOCK = `SELECT ${LINK_COLUMNS} FROM links WHERE code = ANY ($1) ORDER BY code FOR UPDATE`;
/** Rows that are locked. $7 are the links that caches have to forget. */
const WRITE = `
  WITH told AS (INSERT INTO changes (code) SELECT * FROM unnest($7::text[]))
  UPDATE links SET original_url = given.original_url, target = given.target, ends_ms = given.ends_ms,
    terms = given.terms
  FROM ${GIVEN_LINKS} WHERE links.code = given.code AND links.code = ANY ($1::text[])`;

interface Task {
  readonly link: LinkId;
  readonly change: Change;
}

/**
 * Many changes share a transaction. If its outcome is unknown, all of them reject with `StoreUnavailable` and none is tried
 * again: a visit must not count twice. A caller may repeat every change but a visit.
 */
export function createUpdates(
  { transaction, limitMs }: Pick<Statements, "transaction" | "limitMs">,
  figures?: CommitFigures,
) {
  const updates = createCommits({ ...UPDATES, waitMs: WAIT_SHARE * limitMs }, updateAll, figures);

  function updateAll(tasks: readonly Task[]): Promise<Updated[]> {
    const codes = [...new Set(tasks.map(({ link }) => link.code))];
    return transaction(async (run) => {
      const { rows } = await run<LinkRow>(LOCK, [codes]);
      const links = new Map(rows.map((row) => [row.code, toLink(row)]));
      const changed = new Set<Code>();
      const told = new Set<Code>();
      const updated = tasks.map(({ link: { code, createdMs }, change }): Updated => {
        const link = links.get(code);
        if (link?.createdMs !== createdMs) return { link: undefined, isChanged: false };
        const after = applyChange(link, change);
        if (after === undefined) return { link, isChanged: false };
        links.set(code, after);
        changed.add(code);
        if (!isSilent(change)) told.add(code);
        return { link: after, isChanged: true };
      });
      if (changed.size > 0) {
        const rewritten = [...links.values()].filter(({ code }) => changed.has(code));
        await run(WRITE, [...columnsOf(rewritten), [...told]]);
      }
      return updated;
    });
  }

  return {
    async update(link, change) {
      const unknown = { link: undefined, isChanged: false };
      if (!isStorable(link.code)) return unknown;
      const [updated = unknown] = await updates.add([{ link, change }]);
      return updated;
    },
    settled: updates.settled,
  } satisfies Pick<LinkStore, "update"> & { settled: unknown };
}
