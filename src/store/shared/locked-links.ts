// Links that a transaction has locked, for decisions about them.
import type { LinkKey } from "../../links/code.ts";
import type { LinkId } from "../../links/link-store.ts";
import type { StoredLink } from "../../links/link.ts";
import type { Reason } from "../../links/problem.ts";
import { LINK_COLUMNS, type LinkRow, toLink } from "./link-row.ts";
import { insertInto, isStorable, list, type Run } from "./sql.ts";

const FIND = `SELECT ${LINK_COLUMNS} FROM links WHERE code = $1`;

export interface LockedLink extends LinkId {
  /** Null if it redirects. */
  readonly disabled: Reason | "deleted" | null;
  /** As {@link parseTerms} reads them. */
  readonly terms: string | null;
}

/**
 * Locks links until the transaction ends. Returns those that exist, in the order of `links`. Locks them in the order of
 * their codes, which prevents deadlocks. Must be the first statement: later ones then see what was committed while this
 * one waited, such as a new case.
 */
export async function lockLinks(run: Run, links: readonly LinkId[]): Promise<LockedLink[]> {
  const codes = [...new Set(links.map(({ code }) => code))].filter(isStorable);
  if (codes.length === 0) return [];
  const { rows } = await run<LockedLink>(
    `SELECT code, created_ms AS "createdMs", disabled, terms FROM links WHERE code IN (${list(codes)})
    ORDER BY code FOR UPDATE`,
    codes,
  );
  const existing = new Map(rows.map((row) => [keyOf(row), row]));
  return [...new Set(links.map((link) => existing.get(keyOf(link))))].filter((row) => row !== undefined);
}

/** Reads a locked link. */
export async function readLocked(run: Run, { code }: LockedLink): Promise<StoredLink | undefined> {
  const { rows } = await run<LinkRow>(FIND, [code]);
  return rows.map((row) => toLink(code, row))[0];
}

/** Lets the caches of all processes forget these links. Returns their codes. */
export async function recordChange(run: Run, links: readonly LinkId[]): Promise<LinkKey[]> {
  const codes = links.map(({ code }) => code);
  const rows = codes.map((code) => [code]);
  await insertInto(run, "changes (code)", rows);
  return codes;
}

export function keyOf({ code, createdMs }: LinkId): string {
  return `${createdMs} ${code}`;
}
