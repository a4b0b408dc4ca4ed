import { siteOf } from "../../guard/site.ts";
import { type Link, NEVER_MS } from "../../links/link.ts";
import { LINK_COLUMNS, type LinkRow, toLink } from "./link-row.ts";
import { reading, type Tables, writing } from "./record-table.ts";

const READ_LINKS = `
  SELECT ${LINK_COLUMNS}, place FROM links
  WHERE place >= $1 AND (place > $1 OR code > $2) ORDER BY place, code LIMIT $3`;
/** A link that is there keeps its place among the others. */
const WRITE_LINKS = `
  INSERT INTO links (code, original_url, target, created_ms, ends_ms, disabled, site, place)
  SELECT code, original_url, target, created_ms, ends_ms, disabled, site, last.place + nth
  FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::integer[])
      WITH ORDINALITY AS link (code, original_url, target, created_ms, ends_ms, disabled, site, nth),
    (SELECT coalesce(max(place), 0) AS place FROM links) AS last
  ON CONFLICT (code) DO UPDATE
    SET original_url = excluded.original_url, target = excluded.target, created_ms = excluded.created_ms,
        ends_ms = excluded.ends_ms, disabled = excluded.disabled, site = excluded.site,
        place = CASE WHEN links.created_ms = excluded.created_ms THEN links.place ELSE excluded.place END
    WHERE (links.original_url, links.target, links.created_ms, links.ends_ms, links.disabled) IS DISTINCT FROM
      (excluded.original_url, excluded.target, excluded.created_ms, excluded.ends_ms, excluded.disabled)`;

type PlacedLink = LinkRow & { place: number };

export const LINK_RECORDS: Tables<"link"> = {
  link: {
    read: reading<PlacedLink, Link>(READ_LINKS, {
      start: [-1, ""],
      keyOf: ({ place, code }) => [place, code],
      toRecord: toLink,
    }),
    write: writing(WRITE_LINKS, (links) => [
      links.map(({ code }) => code),
      links.map(({ originalUrl }) => originalUrl),
      links.map(({ originalUrl, target }) => ((target as string) === originalUrl ? null : target)),
      links.map(({ createdMs }) => createdMs),
      links.map(({ endsMs }) => (endsMs === NEVER_MS ? null : endsMs)),
      links.map(({ disabled }) => disabled),
      links.map(({ target, disabled }) => (disabled === "deleted" ? null : siteOf(target))),
    ]),
  },
};
