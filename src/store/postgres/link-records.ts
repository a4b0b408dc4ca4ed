import type { Link } from "../../links/link.ts";
import { columnsOf, LINK_COLUMNS, type LinkRow, toLink } from "./link-row.ts";
import { reading, type Tables, writing } from "./record-table.ts";

const READ_LINKS = `
  SELECT ${LINK_COLUMNS} FROM links WHERE (created_ms, code) > ($1, $2) ORDER BY created_ms, code LIMIT $3`;
const WRITE_LINKS = `
  INSERT INTO links (code, original_url, target, created_ms, ends_ms, disabled, terms)
  SELECT code, original_url, target, created_ms, ends_ms, disabled, terms
  FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::text[])
      AS given (code, original_url, target, created_ms, ends_ms, terms, disabled)
  ON CONFLICT (code) DO UPDATE
    SET original_url = excluded.original_url, target = excluded.target, created_ms = excluded.created_ms,
        ends_ms = excluded.ends_ms, disabled = excluded.disabled, terms = excluded.terms
    WHERE (links.original_url, links.target, links.created_ms, links.ends_ms, links.disabled, links.terms)
      IS DISTINCT FROM (excluded.original_url, excluded.target, excluded.created_ms, excluded.ends_ms,
        excluded.disabled, excluded.terms)`;

export const LINK_RECORDS: Tables<"link"> = {
  link: {
    read: reading<LinkRow, Link>(READ_LINKS, {
      start: [Number.MIN_SAFE_INTEGER, ""],
      keyOf: ({ created_ms: createdMs, code }) => [createdMs, code],
      toRecord: toLink,
    }),
    write: writing(WRITE_LINKS, (links) => [...columnsOf(links), links.map(({ disabled }) => disabled)]),
  },
};
