// Finds the links of colleagues, for people whom the proxy names.
import type { WallClock } from "../links/clock.ts";
import { type CodeCase, keyOf, lookUpCode, type LinkKey, splitKey } from "../links/code.ts";
import { type Blocked, createLinkCheck } from "../links/link-check.ts";
import type { LinkId, LinkStore } from "../links/link-store.ts";
import { hasPassword, shownCode, stateOf, type StoredLink } from "../links/link.ts";
import type { Target } from "../links/target.ts";
import type { VisitedLink, VisitStore } from "../visits/days/visit-store.ts";
import type { ListPage } from "./inspection.ts";
import type { LinkCursor } from "./link-query.ts";
import type { ModerationStore } from "./moderation-store.ts";
import { byUse, createMostUsed } from "./most-used.ts";

export interface DirectoryQuery {
  /** See `Domain`. */
  readonly keyPrefix: string;
  /** The reader. Only owners see a destination behind a password, and links before their start. */
  readonly person: string;
  /** A part of a code, a title, a destination or an owner's name. "" finds all links. */
  readonly text: string;
  /**
   * `used`: by their visits, then links without visits. With a text, the same as `newest`, because the caller sorts the result. `near`: at
   * most three links whose codes resemble the text.
   */
  readonly order: "used" | "newest" | "near";
}

/** A link as a colleague sees it. */
export interface ListedLink {
  /** As its maker wrote it. */
  readonly code: string;
  readonly title: string | undefined;
  readonly owner: string | undefined;
  /** Undefined behind a password. */
  readonly target: Target | undefined;
  readonly hasEnded: boolean;
  /** See {@link createMostUsed}. */
  readonly visits: number;
}

interface DirectoryPage {
  /** There may be fewer than the limit, or none, although more follow. */
  readonly links: readonly ListedLink[];
  /** Undefined at the end. */
  readonly cursor: string | undefined;
  /** The share of all links that the search has looked at so far, from 0 to 1. */
  readonly searched: number;
}

/** Reads a part of a page within milliseconds. Rejects with `StoreUnavailable`. */
export type Directory = (query: DirectoryQuery, page: ListPage) => Promise<DirectoryPage>;

export interface DirectoryOptions {
  readonly store: Pick<LinkStore, "find" | "findAll"> &
    Pick<VisitStore, "visited"> &
    Pick<ModerationStore, "search">;
  readonly clock: WallClock;
  readonly blocked: Blocked;
  readonly codeCase: CodeCase;
  readonly codeHoldMs: number;
}

/** Links whose codes are compared: the most used and the newest. */
export const NEAR = { used: 5000, newest: 200, found: 20, shown: 3 };
/** The minimum similarity of codes, from 0 to 1. */
const ALIKE = 0.2;

/** Cursors: visits are still being counted, then links by their visits after one, then all that the store finds. */
const [COUNTING, USED, FOUND] = ["c", "u", "f"] as const;

export function createDirectory({
  store,
  clock,
  blocked,
  codeCase,
  codeHoldMs,
}: DirectoryOptions): Directory {
  const mostUsed = createMostUsed(store, clock);
  const { disabledReasonOf } = createLinkCheck(clock, blocked);

  /** The link as the reader sees it. Empty if it isn't for the reader, or if nothing that the reader sees has the text. */
  function list(link: StoredLink, { person, text, order }: DirectoryQuery, key?: LinkKey): ListedLink[] {
    const nowMs = clock.nowMs();
    const isOwn = link.terms?.owner === person;
    const state = stateOf({ ...link, disabled: disabledReasonOf(link) }, nowMs);
    const isHidden = state === "disabled" || state === "withdrawn" || (state === "scheduled" && !isOwn);
    if (isHidden || nowMs >= link.endsMs + codeHoldMs) return [];
    const { code } = splitKey(shownCode(link) as LinkKey);
    const { title, owner } = link.terms ?? {};
    const isSecret = hasPassword(link) && !isOwn;
    const seen = [code, title, owner, ...(isSecret ? [] : [link.originalUrl, link.target])];
    const hasText =
      order === "near" ||
      (key !== undefined && link.code.startsWith(key)) ||
      seen.some((one = "") => one.toLowerCase().includes(text.toLowerCase()));
    const target = isSecret ? undefined : link.target;
    const hasEnded = state === "expired" || state === "used_up";
    return hasText ? [{ code, title, owner, target, hasEnded, visits: mostUsed.visitsOf(link) }] : [];
  }

  async function listVisited(ids: readonly LinkId[], query: DirectoryQuery) {
    const links = new Map(
      (await store.findAll(ids.map(({ code }) => code))).map((link) => [link.code, link]),
    );
    return ids.flatMap(({ code, createdMs }) => {
      const link = links.get(code);
      return link?.createdMs === createdMs ? list(link, query) : [];
    });
  }

  /** Links after the cursor in the order of their visits. */
  async function readUsed(query: DirectoryQuery, cursor: string, limit: number) {
    const start = readPosition(cursor);
    const { links: all } = mostUsed;
    const ids: VisitedLink[] = [];
    for (const id of all.slice(start === undefined ? 0 : firstAfter(all, start))) {
      if (ids.length === limit) break;
      if (splitKey(id.code).keyPrefix === query.keyPrefix) ids.push(id);
    }
    const last = ids.length === limit ? ids.at(-1) : undefined;
    const next = last && USED + [last.visits, last.createdMs, last.code].join(".");
    return { links: await listVisited(ids, query), cursor: next ?? FOUND, searched: 0 };
  }

  async function readNear(query: DirectoryQuery): Promise<ListedLink[]> {
    const { keyPrefix } = query;
    const wanted = lookUpCode(query.text, codeCase) ?? query.text;
    const newest = await store.search({ keyPrefix }, { limit: NEAR.newest });
    const used = mostUsed.links.slice(0, NEAR.used);
    const ids = new Map([...used, ...newest.links].map(({ code, createdMs }) => [code, createdMs]));
    const alike = likenessTo(wanted);
    const nearest = [...ids]
      .filter(([key]) => splitKey(key).keyPrefix === keyPrefix)
      .map(([code, createdMs]) => ({ code, createdMs, likeness: alike(code.slice(keyPrefix.length)) }))
      .filter(({ likeness }) => likeness > ALIKE)
      .toSorted((one, other) => other.likeness - one.likeness)
      .slice(0, NEAR.found);
    return (await listVisited(nearest, query)).slice(0, NEAR.shown);
  }

  return async (query, { cursor, limit }) => {
    const { keyPrefix, text, order } = query;
    if (!(await mostUsed.count())) return { links: [], cursor: cursor ?? COUNTING, searched: 0 };
    if (order === "near") return { links: await readNear(query), cursor: undefined, searched: 1 };
    const byVisits = order === "used" && text === "";
    const code = lookUpCode(text, codeCase);
    const key = code === undefined ? undefined : keyOf(keyPrefix, code);
    if (cursor === undefined || cursor === COUNTING) {
      // An exact match of the code comes first.
      const link = key === undefined ? undefined : await store.find(key);
      const links = link === undefined ? [] : list(link, query, key);
      return { links, cursor: byVisits ? USED : FOUND, searched: 0 };
    }
    if (cursor.startsWith(USED)) return readUsed(query, cursor, limit);
    const from = (cursor.slice(FOUND.length) || undefined) as LinkCursor | undefined;
    const page = await store.search({ text: text || undefined, key, keyPrefix }, { cursor: from, limit });
    const rest = page.links.filter((link) => link.code !== key && !(byVisits && mostUsed.visitsOf(link) > 0));
    return {
      ...page,
      links: rest.flatMap((link) => list(link, query, key)),
      cursor: page.cursor && FOUND + page.cursor,
    };
  };
}

/** The index of the first link after `start`, which may be gone. */
function firstAfter(links: readonly VisitedLink[], start: VisitedLink): number {
  let [low, high] = [0, links.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const link = links[middle];
    if (link !== undefined && byUse(link, start) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function readPosition(cursor: string): VisitedLink | undefined {
  const [, visits, createdMs, code] = /^u(\d{1,15})\.(-?\d{1,15})\.([^\0]+)$/s.exec(cursor) ?? [];
  return code === undefined
    ? undefined
    : { visits: Number(visits), createdMs: Number(createdMs), code: code as LinkKey };
}

/** The share of pairs of letters that two codes have in common (Dice's coefficient), with their starts and ends. */
function likenessTo(wanted: string): (code: string) => number {
  const spell = (code: string) => ` ${code.toLowerCase()} `;
  const letters = spell(wanted);
  const pairs = new Set(Array.from({ length: letters.length - 1 }, (_, at) => letters.slice(at, at + 2)));
  return (code) => {
    const others = spell(code);
    let common = 0;
    for (let at = 1; at < others.length; at++) if (pairs.has(others.slice(at - 1, at + 1))) common++;
    return (2 * common) / (pairs.size + others.length - 1);
  };
}
