import type { Link } from "../../links/link.ts";
import { columnsOf, LINK_COLUMNS, type LinkRow, toLink } from "./link-row.ts";
import { reading, type Tables, writing } from "./record-table.ts";

const READ_LINKS = `
  SELECT ${LINK_COLUMNS}, place FROM links
  WHERE place >= $1 AND (place > $1 OR code > $2) ORDER BY place, code LIMIT $3`;
/** A link that is there keeps its place among the others. */
const WRITE_LINKS = `
  INSERT INTO links (code, original_url, target, created_ms, ends_ms, disabled, terms, site, place)
  SELECT code, original_url, target, created_ms, ends_ms, disabled, terms, site, last.place + nth
  FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::integer[], $7::text[], $8::text[])
      WITH ORDINALITY AS given (code, original_url, target, created_ms, ends_ms, site, terms, disabled, nth),
    (SELECT coalesce(max(place), 0) AS place FROM links) AS last
  ON CONFLICT (code) DO UPDATE
    SET original_url = excluded.original_url, target = excluded.target, created_ms = excluded.created_ms,
        ends_ms = excluded.ends_ms, disabled = excluded.disabled, terms = excluded.terms, site = excluded.site,
        place = CASE WHEN links.created_ms = excluded.created_ms THEN links.place ELSE excluded.place END
    WHERE (links.original_url, links.target, links.created_ms, links.ends_ms, links.disabled, links.terms)
      IS DISTINCT FROM (excluded.original_url, excluded.target, excluded.created_ms, excluded.ends_ms,
        excluded.disabled, excluded.terms)`;

type PlacedLink = LinkRow & { place: number };

export const LINK_RECORDS: Tables<"link"> = {
  link: {
    read: reading<PlacedLink, Link>(READ_LINKS, {
      start: [-1, ""],
      keyOf: ({ place, code }) => [place, code],
      toRecord: toLink,
    }),
    write: writing(WRITE_LINKS, (links) => [...columnsOf(links), links.map(({ disabled }) => disabled)]),
  },
};
