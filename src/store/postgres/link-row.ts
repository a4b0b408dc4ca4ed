import type { LinkKey } from "../../links/code.ts";
import type { StoredLink } from "../../links/link.ts";
import { termsJson } from "../../links/terms/term-values.ts";
import * as shared from "../shared/link-row.ts";
import type { Value } from "./connection/connection.ts";

/** The columns of {@link LinkRow}. */
export const LINK_COLUMNS = `code, ${shared.LINK_COLUMNS}`;

export type LinkRow = shared.LinkRow & { code: LinkKey };

export function toLink(row: LinkRow): StoredLink {
  return shared.toLink(row.code, row);
}

/** A source of rows, with the columns of {@link columnsOf} as `$1` to `$6`. It numbers the rows from 1. */
export const GIVEN_LINKS = `
  unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[]) WITH ORDINALITY
    AS given (code, original_url, target, created_ms, ends_ms, terms, nth)`;

export function columnsOf(links: readonly StoredLink[]): Value[] {
  return [
    links.map(({ code }) => code),
    links.map(({ originalUrl }) => originalUrl),
    links.map(shared.storedTarget),
    links.map(({ createdMs }) => createdMs),
    links.map(shared.storedEndMs),
    links.map(termsJson),
  ];
}
