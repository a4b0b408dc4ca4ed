// The statements of the operator's search.
import { LINK_COLUMNS, type LinkRow } from "./link-row.ts";

/** How links are ordered. A code tells equal ones apart. */
export type Order = "place" | "created_ms";

/** A match, beside what the step has reached; without a match, only that. */
export type FoundRow = LinkRow & {
  place: number;
  reached_at: number;
  reached_code: string;
  /** When that link was made. */
  reached_ms: number;
  looked: number;
};

const NEXT = "(place < $1 OR place = $1 AND code < $2)";
const NEWEST_FIRST = "ORDER BY place DESC, code DESC LIMIT $3";

/** The newest of each value in $14. */
const newestOfEach = (type: string, those: string) => `
  SELECT at, code FROM unnest($14::${type}[]) AS asked (value), LATERAL (
    SELECT place AS at, code FROM links WHERE ${those} AND place <= $1 AND ${NEXT} ${NEWEST_FIRST}) AS found
  ORDER BY at DESC, code DESC LIMIT $3`;
/** The index of sites has parts. */
const PART = "(links.place >> 35)::integer";
const inPart = (site: string) => `${PART} = part::integer AND links.site = ${site}`;
/**
 * The parts that have links, one after the other. Copied links have the lowest places, so tens of thousands of empty parts
 * may follow them.
 */
const parts = (first: string, next: string) => `
  WITH RECURSIVE parts (part) AS (
    SELECT ${first} >> 35 FROM links
    UNION ALL
    SELECT (SELECT ${next} >> 35) FROM parts WHERE part IS NOT NULL
  )
  SELECT part FROM parts WHERE part IS NOT NULL`;
const NEWEST_PARTS = parts(
  "least($1, max(place))",
  "(SELECT max(place) FROM links WHERE place < part << 35)",
);
/** They are read until there are enough. */
const newestOfSites = `
  SELECT at, code FROM (${NEWEST_PARTS}) AS parts,
    LATERAL (${newestOfEach("integer", inPart("asked.value"))}) AS of_part
  LIMIT $3`;
/** All of these are read and sorted: only for few. */
const newestOfFew = (those: string) => `
  SELECT place AS at, code FROM (SELECT place, code FROM links WHERE ${those} OFFSET 0) AS few
  WHERE ${NEXT} ${NEWEST_FIRST}`;

/** Conditions with the order of their index, which keeps PostgreSQL from reading another one. */
export const MADE = (from: string, before: string) =>
  `created_ms >= ${from} AND created_ms < ${before} ORDER BY created_ms, code`;
export const ENDED = (now: string) => `ends_ms <= ${now} ORDER BY ends_ms`;

/** Each names the next links in an order, at most $3 that come after $1 and the code $2. */
export const SOURCES = {
  place: `SELECT place AS at, code FROM links WHERE place <= $1 AND ${NEXT} ${NEWEST_FIRST}`,
  time: `
    SELECT created_ms AS at, code FROM links WHERE (created_ms, code) < ($1, $2) AND created_ms >= $10
    ORDER BY created_ms DESC, code DESC LIMIT $3`,
  sites: newestOfSites,
  disabled: newestOfEach("text", "links.disabled = asked.value"),
  made: newestOfFew(MADE("$10", "$11")),
  ended: newestOfFew(ENDED("$13")),
  codes: newestOfFew("code >= $5 AND code < $14 ORDER BY code"),
};

/** How many links there are, up to $1. */
export const count = (those: string) =>
  `SELECT count(*) AS links FROM (SELECT FROM links WHERE ${those} LIMIT $1) AS few`;

/** LIKE would take a hundred times as long for a URL of thousands of equal characters. In "C", only A to Z have two cases. */
const has = (column: string) => `strpos(lower(${column} COLLATE "C"), lower($8 COLLATE "C")) > 0`;

/** From $5 to $7 are the codes that were told before; from $5 to $6 those that begin with the text. */
const FILTER = `
  NOT (code >= $5 AND code < $7)
  AND ($8::text IS NULL OR (code >= $5 AND code < $6) OR ${has("original_url")} OR coalesce(${has("target")}, FALSE))
  AND ($9::text IS NULL OR strpos(coalesce(target, original_url), $9) > 0)
  AND created_ms >= $10 AND created_ms < $11
  AND CASE $12::text
    WHEN 'active' THEN disabled IS NULL AND (ends_ms IS NULL OR ends_ms > $13)
    WHEN 'ended' THEN disabled IS NULL AND ends_ms <= $13
    WHEN 'disabled' THEN disabled <> 'deleted'
    WHEN 'deleted' THEN disabled = 'deleted'
    ELSE $13::bigint IS NOT NULL END`;

/** Looks at links in an order, and returns at most $4 that match. */
export const step = (source: string, order: Order) => `
  WITH told AS MATERIALIZED (${source}), reached AS (
    SELECT at, code, (SELECT count(*) FROM told) AS looked FROM told ORDER BY at, code LIMIT 1
  )
  SELECT reached.at AS reached_at, reached.code AS reached_code, reached.looked, found.*,
    (SELECT created_ms FROM links WHERE links.code = reached.code) AS reached_ms
  FROM reached LEFT JOIN LATERAL (
    SELECT ${LINK_COLUMNS}, place
    FROM (SELECT * FROM links WHERE code = ANY (ARRAY(SELECT code FROM told)) OFFSET 0) AS links
    WHERE ${FILTER} ORDER BY ${order} DESC, code DESC LIMIT $4) AS found ON TRUE`;
