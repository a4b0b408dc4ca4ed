import type { LinkKey } from "../../links/code.ts";
import type { LinkId, LinkStore, OwnedQuery } from "../../links/link-store.ts";
import { LINK_COLUMNS, type LinkRow, toLink } from "./link-row.ts";
import { isStorable, type Run } from "./sql.ts";

/** Expressions of the index `links_by_owner`, which each engine writes in its own way. */
interface OwnerIndex {
  readonly owner: string;
  readonly keyPrefix: string;
  /** The values of the JSON array $1, for a query of several links. */
  readonly values: string;
}

/** Later than every link. */
const START: LinkId = { createdMs: Number.MAX_SAFE_INTEGER, code: "" as LinkKey };

export function createOwnedReader(run: Run, { owner, keyPrefix: prefix, values }: OwnerIndex) {
  const OWNED = `
    SELECT code, ${LINK_COLUMNS} FROM links
    WHERE ${owner} IS NOT NULL AND ${owner} = $1 AND ${prefix} = $2 AND (created_ms, code) < ($3, $4)
    ORDER BY created_ms DESC, code DESC LIMIT $5`;
  const FIND_ALL = `SELECT code, ${LINK_COLUMNS} FROM links WHERE code IN (SELECT ${values})`;
  return {
    async owned({ owner: name, keyPrefix, after = START, limit }: OwnedQuery) {
      if (![name, after.code].every(isStorable)) return [];
      const { rows } = await run<LinkRow & { code: LinkKey }>(OWNED, [
        name,
        keyPrefix,
        after.createdMs,
        after.code,
        limit,
      ]);
      return rows.map((row) => toLink(row.code, row));
    },
    async findAll(codes: readonly LinkKey[]) {
      const { rows } = await run<LinkRow & { code: LinkKey }>(FIND_ALL, [JSON.stringify(codes)]);
      return rows.map((row) => toLink(row.code, row));
    },
  } satisfies Pick<LinkStore, "owned" | "findAll">;
}
