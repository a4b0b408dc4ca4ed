// Finds links for the operator, newest first: a rowid tells how new a link is, and where a search goes on. Each request
// looks at a bounded number of rows.
import type { Database } from "bun:sqlite";

import {
  leadsTo,
  type LinkCursor,
  type LinkPage,
  type LinkQuery,
  type PageRequest,
} from "../../guard/search.ts";
import { sitesOf } from "../../guard/site.ts";
import { type Code, lookUpCode } from "../../links/code.ts";
import { REASONS } from "../../links/link.ts";
import type { Target } from "../../links/target.ts";
import { LINK_COLUMNS, type LinkRow, toLink } from "./link-row.ts";
import { BLOCK_LINKS, type Ends, ENDS, isFull, prepareSitesReader } from "./sites.ts";

const BOUNDS = {
  /** What one request looks at, in rows and in milliseconds. */
  looked: 50_000,
  lookedMs: 20,
  /** It always takes so many steps: some hundred links are looked at even if the machine is busy. */
  steps: 4,
  /** Rows of the first step of a walk. Each next one is twice as long: long URLs may make each row slow. */
  firstWalked: 64,
  /** Rows of the longest step of a walk. */
  walked: 1024,
  /** Rows of one step that an index tells. They are spread over the file, and so cost more. */
  told: 1000,
  /** More codes with the same beginning, or links that have ended, are not sorted by age: walking soon comes upon some. */
  sorted: 10_000,
};
/** After every code with the same beginning. */
const LAST_CHARACTER = "\u{10FFFF}";
const BEFORE_ALL_MS = -8_640_000_000_000_000;
const AFTER_ALL_MS = 8_640_000_000_000_001;

/**
 * From $key to $told are the codes that were told before; from $key to $beyond those that begin with the text. LIKE would
 * take a hundred times as long for a URL of thousands of equal characters.
 */
const FILTER = `
  NOT (code >= $key AND code < $told)
  AND ($text IS NULL OR (code >= $key AND code < $beyond)
    OR instr(lower(original_url), lower($text)) OR instr(lower(target), lower($text)))
  AND ($host IS NULL OR instr(coalesce(target, original_url), $host))
  AND created_ms >= $from AND created_ms < $before
  AND CASE $state
    WHEN 'active' THEN disabled IS NULL AND (ends_ms IS NULL OR ends_ms > $now)
    WHEN 'ended' THEN disabled IS NULL AND ends_ms <= $now
    WHEN 'disabled' THEN disabled <> 'deleted'
    WHEN 'deleted' THEN disabled = 'deleted'
    ELSE TRUE END
  ORDER BY rowid DESC LIMIT $limit`;
const FIND = `SELECT rowid AS link, code, ${LINK_COLUMNS} FROM links`;
const WALK = `${FIND} WHERE rowid BETWEEN $low AND $high AND ${FILTER}`;
const PICK = `${FIND} WHERE rowid IN (SELECT value FROM json_each($links)) AND ${FILTER}`;

const NEWEST_BELOW = "SELECT max(rowid) AS link FROM links WHERE rowid < ?1";
const MADE = "SELECT created_ms AS ms FROM links WHERE rowid >= ?1 ORDER BY rowid LIMIT 1";
const BLOCK_OF_TIME = `
  SELECT block FROM blocks WHERE block <= ?1 AND newest_ms >= ?2 AND oldest_ms < ?3 ORDER BY block DESC LIMIT 1`;
const COUNT_CODES = `
  SELECT count(*) AS codes FROM (SELECT 1 FROM links WHERE code >= ?1 AND code < ?2 LIMIT ?3)`;
const COUNT_ENDED = "SELECT count(*) AS ended FROM (SELECT 1 FROM links WHERE ends_ms <= ?1 LIMIT ?2)";
// "+" keeps SQLite from walking through the rowids instead of the index.
const BY_CODE = `
  SELECT rowid AS link FROM links WHERE code >= ?1 AND code < ?2 AND +rowid < ?3 ORDER BY +rowid DESC LIMIT ?4`;
const BY_END = `
  SELECT rowid AS link FROM links WHERE ends_ms <= ?1 AND +rowid < ?2 ORDER BY +rowid DESC LIMIT ?3`;
const BY_DISABLED = `
  SELECT rowid AS link FROM links WHERE disabled = ?1 AND rowid < ?2 ORDER BY rowid DESC LIMIT ?3`;

type Filter = {
  readonly key: string;
  readonly beyond: string;
  readonly told: string;
  readonly text: string | null;
  readonly host: string | null;
  readonly from: number;
  readonly before: number;
  readonly state: string | null;
  readonly now: number;
  readonly limit: number;
};

type FoundRow = LinkRow & { link: number; code: string };

/** Links below this rowid were not looked at. Codes come first; afterwards they are not found again. */
interface Position {
  readonly part: "codes" | "links";
  readonly told: "beginning" | "whole" | "none";
  readonly below: number;
}

interface Step {
  readonly rows: readonly FoundRow[];
  readonly looked: number;
  /** Where the next step goes on; undefined after the last one. */
  readonly below: number | undefined;
}

export function prepareSearch(database: Database, bounds: Partial<typeof BOUNDS> = {}) {
  const {
    looked: maxLooked,
    lookedMs,
    steps: minSteps,
    firstWalked,
    walked,
    told: maxTold,
    sorted,
  } = { ...BOUNDS, ...bounds };
  const ends = database.prepare<Ends, []>(ENDS);
  const walk = database.prepare<FoundRow, [Filter & { low: number; high: number }]>(WALK);
  const pick = database.prepare<FoundRow, [Filter & { links: string }]>(PICK);
  const newestBelow = database.prepare<{ link: number | null }, [number]>(NEWEST_BELOW);
  const made = database.prepare<{ ms: number }, [number]>(MADE);
  const blockOfTime = database.prepare<{ block: number }, [number, number, number]>(BLOCK_OF_TIME);
  const countCodes = database.prepare<{ codes: number }, [string, string, number]>(COUNT_CODES);
  const countEnded = database.prepare<{ ended: number }, [number, number]>(COUNT_ENDED);
  const byEnd = database.prepare<{ link: number }, [number, number, number]>(BY_END);
  const byCode = database.prepare<{ link: number }, [string, string, number, number]>(BY_CODE);
  const bySite = prepareSitesReader(database);
  const byDisabled = database.prepare<{ link: number }, [string, number, number]>(BY_DISABLED);

  function begin({ key, beyond }: Pick<Filter, "key" | "beyond">): Position {
    if (key === "") return { part: "links", told: "none", below: Number.MAX_SAFE_INTEGER };
    const codes = countCodes.get(key, beyond, sorted)?.codes ?? 0;
    const told = codes < sorted ? "beginning" : "whole";
    return { part: "codes", told, below: Number.MAX_SAFE_INTEGER };
  }

  /** Walks through the rows from `low` on, or below it only through blocks with links of the time. */
  function walkDown(filter: Filter, below: number, low: number, rowsAtOnce: number): Step {
    const newest = newestBelow.get(below)?.link ?? -1;
    const from = Math.max(low, newest - rowsAtOnce + 1);
    if (newest < from) return { rows: [], looked: 0, below: undefined };
    const rows = walk.all({ ...filter, low: from, high: newest });
    const reached = rows.length === filter.limit ? (rows.at(-1)?.link ?? from) : from;
    return { rows, looked: newest - reached + 1, below: reached };
  }

  /** Looks at links that an index tells, newest first. Fewer than `maxTold` are all that it knows. */
  function pickFrom(filter: Filter, told: readonly number[]): Step {
    const links = told.slice(0, maxTold);
    const rows = links.length === 0 ? [] : pick.all({ ...filter, links: JSON.stringify(links) });
    const isCut = rows.length === filter.limit;
    const rest = told.length < maxTold ? undefined : links.at(-1);
    return { rows, looked: links.length, below: isCut ? rows.at(-1)?.link : rest };
  }

  function newestDisabled(states: readonly string[], below: number): number[] {
    const links = states.flatMap((state) => byDisabled.all(state, below, maxTold));
    return links.map(linkOf).toSorted((one, other) => other - one);
  }

  function stepOfCodes(filter: Filter, beyond: string, below: number): Step {
    const links = byCode.all(filter.key, beyond, below, maxTold);
    return pickFrom(filter, links.map(linkOf));
  }

  function stepOfLinks(
    filter: Filter,
    query: LinkQuery,
    sites: readonly number[] | undefined,
    from: number,
    rowsAtOnce: number,
  ) {
    const unindexed = ends.get()?.unindexed ?? 0;
    let below = from;
    let low = 0;
    const isTimed = query.madeFromMs !== undefined || query.madeBeforeMs !== undefined;
    if (below > unindexed) low = unindexed;
    else if (isTimed) {
      const lastBlock = Math.floor((below - 1) / BLOCK_LINKS);
      const block = blockOfTime.get(lastBlock, filter.from, filter.before)?.block;
      if (block === undefined) return { rows: [], looked: 0, below: undefined };
      below = Math.min(below, (block + 1) * BLOCK_LINKS);
      low = block * BLOCK_LINKS;
    }
    if (query.state === "disabled") return pickFrom(filter, newestDisabled(REASONS, below));
    if (query.state === "deleted") return pickFrom(filter, newestDisabled(["deleted"], below));
    if (sites !== undefined && below <= unindexed)
      return pickFrom(filter, bySite.newest(sites, below, maxTold));
    if (query.state === "ended" && (countEnded.get(filter.now, sorted)?.ended ?? 0) < sorted)
      return pickFrom(filter, byEnd.all(filter.now, below, maxTold).map(linkOf));
    const step = walkDown(filter, below, low, rowsAtOnce);
    // Above this row, all were looked at; below it, an index or the times of the blocks tell more.
    return step.below === undefined && low > 0 ? { ...step, below: low } : step;
  }

  return {
    search(query: LinkQuery, { cursor, limit, nowMs }: PageRequest): LinkPage {
      // No link has this character, at which SQLite's lower() stops reading.
      if (query.text?.includes("\0")) return { links: [], cursor: undefined, lookedBackToMs: undefined };
      const filter = filterOf(query, nowMs);
      const sites = query.host === undefined ? undefined : sitesOf(query.host);
      const found: FoundRow[] = [];
      const untilMs = performance.now() + lookedMs;
      let position = cursor === undefined ? begin(filter) : readCursor(cursor);
      let rowsAtOnce = Math.min(firstWalked, walked);
      for (let looked = 0, steps = 1; position !== undefined && found.length < limit; steps++) {
        const { part, told, below } = position;
        const toldBefore = told === "beginning" ? filter.beyond : told === "whole" ? `${filter.key}\0` : "";
        const left = limit - found.length;
        const step =
          part === "codes"
            ? stepOfCodes({ ...filter, limit: left }, toldBefore, below)
            : stepOfLinks({ ...filter, told: toldBefore, limit: left }, query, sites, below, rowsAtOnce);
        const isRight = ({ target, original_url: url }: FoundRow) =>
          query.host === undefined || leadsTo((target ?? url) as Target, query.host);
        found.push(...step.rows.filter(isRight));
        position = after(position, step.below);
        looked += step.looked;
        rowsAtOnce = Math.min(2 * rowsAtOnce, walked);
        if (looked >= maxLooked || (steps >= minSteps && performance.now() > untilMs)) break;
      }
      return {
        links: found.map((row) => toLink(row.code as Code, row)),
        cursor: position && writeCursor(position),
        lookedBackToMs: position?.part === "links" ? made.get(position.below)?.ms : undefined,
      };
    },
    /** Whether a block can be added to the index. */
    hasUnindexed(): boolean {
      const { newest: newestLink, unindexed } = ends.get() ?? { newest: 0, unindexed: 0 };
      return isFull(unindexed / BLOCK_LINKS, newestLink);
    },
    close() {
      const byIndex = [byCode, byDisabled, byEnd, blockOfTime, countCodes, countEnded];
      bySite.close();
      for (const statement of [ends, walk, pick, newestBelow, made, ...byIndex]) statement.finalize();
    },
  };
}

function linkOf({ link }: { link: number }): number {
  return link;
}

function filterOf(query: LinkQuery, nowMs: number): Filter {
  const key = (query.text && lookUpCode(query.text)) ?? "";
  return {
    key,
    beyond: key === "" ? "" : key + LAST_CHARACTER,
    told: "",
    text: query.text ?? null,
    // The target is looked at more closely afterwards.
    host: query.host ?? null,
    from: query.madeFromMs ?? BEFORE_ALL_MS,
    before: query.madeBeforeMs ?? AFTER_ALL_MS,
    state: query.state ?? null,
    now: nowMs,
    limit: 0,
  };
}

function after({ part, told }: Position, below: number | undefined): Position | undefined {
  if (below !== undefined) return { part, told, below };
  return part === "codes" ? { part: "links", told, below: Number.MAX_SAFE_INTEGER } : undefined;
}

function writeCursor({ part, told, below }: Position): LinkCursor {
  return [part, told, below].join("-") as LinkCursor;
}

function readCursor(cursor: LinkCursor): Position | undefined {
  const [, part, told, below] = /^(codes|links)-(beginning|whole|none)-(\d{1,16})$/.exec(cursor) ?? [];
  if (part === undefined) return undefined;
  return { part, told, below: Math.min(Number(below), Number.MAX_SAFE_INTEGER) } as Position;
}
