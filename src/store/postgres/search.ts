// Finds links for the operator, newest first. Each request looks at a bounded number of rows, in steps of one statement.
import {
  leadsTo,
  type LinkCursor,
  type LinkPage,
  type LinkQuery,
  type PageRequest,
} from "../../guard/search.ts";
import { sitesOf } from "../../guard/site.ts";
import { lookUpCode } from "../../links/code.ts";
import { REASONS } from "../../links/link.ts";
import type { Target } from "../../links/target.ts";
import type { Statements, Value } from "./database.ts";
import { type LinkRow, toLink } from "./link-row.ts";
import { count, ENDED, type FoundRow, MADE, type Order, SOURCES, step } from "./search-steps.ts";
import { isStorable } from "./text.ts";

const BOUNDS = {
  /** What one request looks at, in rows and in milliseconds. It always takes a step. */
  looked: 20_000,
  lookedMs: 300,
  /** Rows of the first step, and of the longest one. Long URLs may make rows slow, so steps grow only while they are fast. */
  first: 64,
  longest: 8192,
  fastMs: 75,
  /** More links that an index tells are not sorted by age: walking soon comes upon some. */
  sorted: 10_000,
};
/** Comes right after a code, as no code has this character. */
const FIRST_CHARACTER = "\u0001";
/** After every code with the same beginning. */
const LAST_CHARACTER = "\u{10FFFF}";
const BEFORE_ALL_MS = -8_640_000_000_000_000;
const AFTER_ALL_MS = 8_640_000_000_000_001;
/** Above every place. */
const TOP = Number.MAX_SAFE_INTEGER;

/**
 * What comes after `at` and `code` in the order was not looked at yet. Codes that begin with the text come first; those that
 * were `told` are not found again. All is in the order of the places, except that a search of a time in which many links
 * were made is in the order of that time.
 */
interface Position {
  readonly part: "codes" | "links";
  readonly told: "beginning" | "whole" | "none";
  readonly order: Order;
  readonly at: number;
  readonly code: string;
}

const NOTHING: LinkPage = { links: [], cursor: undefined, lookedBackToMs: undefined };

export function createSearch({ run }: Pick<Statements, "run">, bounds: Partial<typeof BOUNDS> = {}) {
  const { looked: maxLooked, lookedMs, first, longest, fastMs, sorted } = { ...BOUNDS, ...bounds };

  async function areFew(condition: string, ...values: Value[]): Promise<boolean> {
    const { rows } = await run<{ links: number }>(count(condition), [sorted, ...values]);
    return (rows[0]?.links ?? 0) < sorted;
  }

  async function begin({ key, beyond }: Filter): Promise<Position> {
    if (key === "") return { ...LINKS, told: "none" };
    const areSorted = await areFew("code >= $2 AND code < $3 ORDER BY code", key, beyond);
    return { ...LINKS, part: "codes", told: areSorted ? "beginning" : "whole" };
  }

  /** Which links are looked at: those that an index tells, if one does. May put them in another order. */
  async function choose(
    query: LinkQuery,
    filter: Filter,
    position: Position,
  ): Promise<{ source: string; value?: Value; position: Position }> {
    if (position.part === "codes")
      return { source: SOURCES.codes, value: toldBy(position, filter), position };
    if (position.order === "created_ms") return { source: SOURCES.time, position };
    if (query.state === "disabled") return { source: SOURCES.disabled, value: REASONS, position };
    if (query.state === "deleted") return { source: SOURCES.disabled, value: ["deleted"], position };
    const isTimed = query.madeFromMs !== undefined || query.madeBeforeMs !== undefined;
    if (isTimed && (await areFew(MADE("$2", "$3"), filter.from, filter.before)))
      return { source: SOURCES.made, position };
    const sites = query.host === undefined ? undefined : sitesOf(query.host);
    if (sites !== undefined) return { source: SOURCES.sites, value: sites, position };
    if (isTimed && position.at === TOP)
      return { source: SOURCES.time, position: { ...position, order: "created_ms", at: filter.before } };
    if (query.state === "ended" && (await areFew(ENDED("$2"), filter.now)))
      return { source: SOURCES.ended, position };
    return { source: SOURCES.place, position };
  }

  return {
    async search(query: LinkQuery, { cursor, limit, nowMs }: PageRequest): Promise<LinkPage> {
      if (![query.text, query.host].every((text) => isStorable(text ?? ""))) return NOTHING;
      const filter = filterOf(query, nowMs);
      const untilMs = performance.now() + lookedMs;
      const found: LinkRow[] = [];
      let position = cursor === undefined ? await begin(filter) : readCursor(cursor);
      let lookedBackToMs: number | undefined;
      let size = first;
      for (let looked = 0; position !== undefined && found.length < limit;) {
        const chosen = await choose(query, filter, position);
        const { order, at, code, part } = chosen.position;
        const left = limit - found.length;
        const begunMs = performance.now();
        const { rows } = await run<FoundRow>(step(chosen.source, order), [
          at,
          code,
          size,
          left,
          filter.key,
          filter.beyond,
          part === "codes" ? "" : toldBy(position, filter),
          filter.text,
          filter.host,
          filter.from,
          filter.before,
          filter.state,
          filter.now,
          ...(chosen.value === undefined ? [] : [chosen.value]),
        ]);
        const [reached] = rows;
        const matching = rows.filter(({ code: matched }) => matched !== null);
        const last = matching.length === left ? matching.at(-1) : undefined;
        if (last !== undefined) position = { ...chosen.position, at: last[order], code: last.code };
        else if (reached === undefined || reached.looked < size) position = after(position);
        else position = { ...chosen.position, at: reached.reached_at, code: reached.reached_code };
        lookedBackToMs = last?.created_ms ?? reached?.reached_ms ?? lookedBackToMs;
        found.push(
          ...matching.filter((row) => query.host === undefined || leadsTo(targetOf(row), query.host)),
        );
        looked += reached?.looked ?? 0;
        const nowAt = performance.now();
        if (nowAt - begunMs < fastMs) size = Math.min(4 * size, longest);
        if (looked >= maxLooked || nowAt > untilMs) break;
      }
      return {
        links: found.map(toLink),
        cursor: position && writeCursor(position),
        lookedBackToMs: position?.part === "links" ? lookedBackToMs : undefined,
      };
    },
  };
}

type Filter = ReturnType<typeof filterOf>;

function filterOf(query: LinkQuery, nowMs: number) {
  const key = (query.text && lookUpCode(query.text)) ?? "";
  return {
    key,
    beyond: key === "" ? "" : key + LAST_CHARACTER,
    text: query.text ?? null,
    // The target is looked at more closely afterwards.
    host: query.host ?? null,
    from: query.madeFromMs ?? BEFORE_ALL_MS,
    before: query.madeBeforeMs ?? AFTER_ALL_MS,
    state: query.state ?? null,
    now: nowMs,
  };
}

/** From the key to this are the codes that are told first. */
function toldBy({ told }: Position, { key, beyond }: Filter): string {
  return told === "beginning" ? beyond : told === "whole" ? key + FIRST_CHARACTER : "";
}

function targetOf({ target, original_url: url }: LinkRow): Target {
  return (target ?? url) as Target;
}

const LINKS = { part: "links", order: "place", at: TOP, code: "" } as const;

function after({ part, told }: Position): Position | undefined {
  return part === "codes" ? { ...LINKS, told } : undefined;
}

function writeCursor({ part, told, order, at, code }: Position): LinkCursor {
  return [part, told, order, at, encodeURIComponent(code)].join(".") as LinkCursor;
}

const CURSOR =
  /^(codes|links)\.(beginning|whole|none)\.(place|created_ms)\.(-?\d{1,16})\.([\w%.!~*'()-]{0,3000})$/;

function readCursor(cursor: LinkCursor): Position | undefined {
  const [, part, told, order, at, written = ""] = CURSOR.exec(cursor) ?? [];
  const code = part === undefined ? undefined : decode(written);
  if (code === undefined || !isStorable(code)) return undefined;
  return { part, told, order, at: Math.min(Number(at), TOP), code } as Position;
}

function decode(written: string): string | undefined {
  try {
    return decodeURIComponent(written);
  } catch {
    return undefined;
  }
}
