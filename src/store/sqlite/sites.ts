// An index for the operator's search: which links lead to a site, and when the links of a block were made. Creates do not
// wait for it. Links are added a block at a time, when no further link can get a rowid in it; the search walks through
// those that are not in it yet. So a file of an earlier version needs no other treatment than a new one.
import type { Database } from "bun:sqlite";

import { siteOf } from "../../guard/site.ts";
import type { LinkId } from "../../links/store.ts";
import type { Target } from "../../links/target.ts";

/** Rowids in one block, which is one transaction. A longer one would hold up creates. */
export const BLOCK_LINKS = 512;
/** Rowids in one part of the sites. */
const PART_LINKS = 32_768;

/** The newest link's rowid, and the first one that no block has. */
export const ENDS = `
  SELECT coalesce((SELECT max(rowid) FROM links), 0) AS newest,
    coalesce((SELECT max(block) + 1 FROM blocks), 0) * ${BLOCK_LINKS} AS unindexed`;
const FIRST_FROM = "SELECT min(rowid) AS link FROM links WHERE rowid >= ?1";
const LINKS = `
  SELECT rowid AS link, coalesce(target, original_url) AS target, created_ms AS createdMs
  FROM links WHERE rowid BETWEEN ?1 AND ?2`;
const ADD_SITE = "INSERT INTO sites (part, site, place) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
const ADD_BLOCK = "INSERT INTO blocks (block, oldest_ms, newest_ms) VALUES (?1, ?2, ?3)";
const FIND = `
  SELECT rowid AS link, coalesce(target, original_url) AS target FROM links WHERE code = ?1 AND created_ms = ?2`;
const REMOVE = "DELETE FROM sites WHERE part = ?1 AND site = ?2 AND place = ?3";
const OLDEST = "SELECT place FROM sites WHERE part = ?1 AND site = ?2 ORDER BY place LIMIT ?3";
const NEWEST =
  "SELECT place FROM sites WHERE part = ?1 AND site = ?2 AND place < ?3 ORDER BY place DESC LIMIT ?4";
/** Newest first. Asking each part by a statement of its own takes several times as long. */
const PARTS = `
  WITH RECURSIVE parts (part) AS (SELECT ?1 UNION ALL SELECT part - 1 FROM parts WHERE part > 0)
  SELECT part FROM parts WHERE EXISTS
    (SELECT 1 FROM sites WHERE sites.part = parts.part AND site IN (SELECT value FROM json_each(?2)))
  ORDER BY part DESC`;

export interface Ends {
  newest: number;
  unindexed: number;
}

interface IndexedLink {
  link: number;
  target: Target;
  createdMs: number;
}

export type SitesIndex = ReturnType<typeof prepareSites>;

/** The writer's half. All but `index` are to be called in a transaction. */
export function prepareSites(database: Database) {
  const ends = database.prepare<Ends, []>(ENDS);
  const firstFrom = database.prepare<{ link: number | null }, [number]>(FIRST_FROM);
  const links = database.prepare<IndexedLink, [number, number]>(LINKS);
  const addSite = database.prepare<unknown, [number, number, number]>(ADD_SITE);
  const addBlock = database.prepare<unknown, [number, number, number]>(ADD_BLOCK);
  const find = database.prepare<Omit<IndexedLink, "createdMs">, [string, number]>(FIND);
  const remove = database.prepare<unknown, [number, number, number]>(REMOVE);

  function indexBlock(block: number): void {
    const start = block * BLOCK_LINKS;
    const all = links.all(start, start + BLOCK_LINKS - 1);
    // In the order of the index, so that a page is changed once.
    const sites = all.map(({ link, target }) => ({ link, site: siteOf(target) }));
    for (const { site, link } of sites.toSorted((a, b) => a.site - b.site))
      addSite.run(partOf(link), site, link % PART_LINKS);
    const createdMs = all.map((link) => link.createdMs);
    addBlock.run(block, Math.min(...createdMs), Math.max(...createdMs));
  }

  const removeOne = (link: number, target: Target): void =>
    void remove.run(partOf(link), siteOf(target), link % PART_LINKS);

  const indexNext = database.transaction((): boolean => {
    const { newest, unindexed } = ends.get() ?? NO_LINKS;
    const first = firstFrom.get(unindexed)?.link ?? Number.POSITIVE_INFINITY;
    const block = Math.floor(first / BLOCK_LINKS);
    if (!isFull(block, newest)) return false;
    indexBlock(block);
    return isFull(block + 1, newest);
  });

  return {
    /** New links get rowids from here on: never one of a block, even if the links at its end are gone. */
    nextLink(): number {
      const { newest, unindexed } = ends.get() ?? NO_LINKS;
      return Math.max(newest + 1, unindexed);
    },
    /** Adds the next block if it is full, in one transaction. Returns whether the one after it is full too. */
    index: (): boolean => indexNext.immediate(),
    remove: removeOne,
    /** For a link with another target than before. A block that is not in the index yet gets the new one by itself. */
    move(link: number, from: Target, to: Target): void {
      if (siteOf(from) === siteOf(to)) return;
      removeOne(link, from);
      const { unindexed } = ends.get() ?? NO_LINKS;
      if (link < unindexed) addSite.run(partOf(link), siteOf(to), link % PART_LINKS);
    },
    /** For a link that will lose its target. */
    forget({ code, createdMs }: LinkId): void {
      const found = find.get(code, createdMs);
      if (found !== null) removeOne(found.link, found.target);
    },
    close() {
      for (const statement of [ends, firstFrom, links, addSite, addBlock, find, remove]) statement.finalize();
    },
  };
}

/** The reading half. */
export function prepareSitesReader(database: Database) {
  const newest = database.prepare<{ place: number }, [number, number, number, number]>(NEWEST);
  const oldest = database.prepare<{ place: number }, [number, number, number]>(OLDEST);
  const parts = database.prepare<{ part: number }, [number, string]>(PARTS);
  return {
    /** The oldest links of some sites in the first parts of the index: at most so many, oldest first in each part. */
    *oldest(sites: readonly number[], partsRead: number, atMost: number): Generator<number> {
      let left = atMost;
      for (const { part } of parts.all(partsRead - 1, JSON.stringify(sites)).toReversed())
        for (const site of sites)
          for (const { place } of oldest.all(part, site, left)) {
            yield part * PART_LINKS + place;
            left--;
          }
    },
    /** The newest links of some sites below a rowid, newest first: at least `atLeast`, unless there are no more. */
    newest(sites: readonly number[], below: number, atLeast: number): number[] {
      if (below <= 0) return [];
      const links: number[] = [];
      for (const { part } of parts.all(partOf(below - 1), JSON.stringify(sites))) {
        if (links.length >= atLeast) break;
        const start = part * PART_LINKS;
        const found = sites.flatMap((site) => newest.all(part, site, below - start, atLeast));
        links.push(...found.map(({ place }) => start + place).toSorted((a, b) => b - a));
      }
      return links;
    },
    close() {
      newest.finalize();
      oldest.finalize();
      parts.finalize();
    },
  };
}

const NO_LINKS: Ends = { newest: 0, unindexed: 0 };

/** Whether a block can be added: no new link gets a rowid in it. */
export function isFull(block: number, newest: number): boolean {
  return newest >= (block + 1) * BLOCK_LINKS - 1;
}

function partOf(link: number): number {
  return Math.floor(link / PART_LINKS);
}
