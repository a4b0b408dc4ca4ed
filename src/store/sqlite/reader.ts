// The reading half: prepared single-key look-ups, on the thread that serves.

import type { LinkKey } from "../../links/code.ts";
import {
  type Changes,
  type Position,
  type RepeatableRequest,
  StoreUnavailable,
} from "../../links/link-store.ts";
import type { StoredLink } from "../../links/link.ts";
import { FIGURE_LINKS } from "../../moderation/figures.ts";
import type { LinkQuery, PageRequest } from "../../moderation/link-query.ts";
import type { Sums } from "../../visits/days/day.ts";
import type { DaySums, DayVisits, VisitedLink } from "../../visits/days/visit-store.ts";
import { LINK_COLUMNS, type LinkRow, toLink } from "../shared/link-row.ts";
import { createFigures, createModerationReader } from "../shared/moderation.ts";
import { createOwnedReader } from "../shared/owned-links.ts";
import { createChangesReader } from "./changes.ts";
import type { FileDatabase } from "./file/file-database.ts";
import { type Identity, isInPlace, replacedMeanwhile, watchPlace } from "./file/file-identity.ts";
import { openReader } from "./file/file.ts";
import { identityOf } from "./file/store-identity.ts";
import { COUNT } from "./link-count.ts";
import { createSearch } from "./link-search.ts";
import { createRecall } from "./repeatable-requests.ts";
import { runOn } from "./sql.ts";
import { daysWithVisits, LAST_DAY } from "./visit-writes.ts";

/** Sums that are remembered until something is written. */
const MAX_REMEMBERED = 64;

const FIND = `SELECT ${LINK_COLUMNS} FROM links WHERE code = ?1`;
const NEWEST = "SELECT coalesce(max(rowid), 0) AS rowid FROM links";
const OWNER_INDEX = {
  owner: "terms ->> 'owner'",
  keyPrefix: "substr(code, 1, instr(code, '/'))",
  values: "value FROM json_each($1)",
};
const VISITED = "SELECT code, created_ms AS createdMs, visits FROM visits WHERE day = ?1 LIMIT ?2";
const VERSION = "PRAGMA data_version";
const NEWEST_SALT_DAY = "SELECT max(day) AS day FROM salts";
const FIGURES = {
  links: COUNT,
  newest: `
    SELECT coalesce(target, original_url) AS target, 1 AS count FROM links ORDER BY rowid DESC LIMIT ${FIGURE_LINKS}`,
  visited: `
    SELECT coalesce((SELECT coalesce(target, original_url) FROM links
      WHERE links.code = day.code AND links.created_ms = day.created_ms), '') AS target, visits AS count
    FROM (SELECT code, created_ms, visits FROM visits WHERE day = $1 LIMIT ${FIGURE_LINKS}) AS day`,
};

/**
 * Opens a file that the writer has prepared and identified. Its methods throw {@link StoreUnavailable} where they
 * cannot look. `find` returns a link from whichever file is open, but undefined only if the right one lacks it.
 */
export function createReader(path: string, opened: Identity) {
  const database = openReader(path);
  const find = database.statement<LinkRow, [string]>(FIND);
  const newestLink = database.statement<{ rowid: number }, []>(NEWEST);
  const changesSince = createChangesReader(database);
  const newestSaltDay = database.statement<{ day: number | null }, []>(NEWEST_SALT_DAY);
  const visits = createDaysReader(database);
  const visited = database.statement<VisitedLink, [number, number]>(VISITED);
  const run = runOn(database, fail);
  const { search } = createSearch(database);
  const requests = createRecall(database);
  const version = database.statement<{ data_version: number }, []>(VERSION);
  const place = watchPlace(path, opened);
  // Opened by its path, which may lead to another file than the writer opened.
  if (!isInPlace(path, opened)) {
    database.close();
    throw replacedMeanwhile(path);
  }

  /** Remembers sums: adding up many days costs 30 redirects, and an open preview reads them every few seconds. */
  function untilWritten<R>(read: (...range: DayRange) => R) {
    const results = new Map<string, R>();
    let ofVersion: number | undefined;
    return (...range: DayRange): R =>
      reading(() => {
        const newest = version.get()?.data_version;
        if (newest !== ofVersion || results.size >= MAX_REMEMBERED) results.clear();
        ofVersion = newest;
        const key = range.join(" ");
        const result = results.get(key) ?? read(...range);
        results.set(key, result);
        return result;
      });
  }
  const sums = untilWritten(visits.sums);
  const daySums = untilWritten<readonly DaySums[]>(visits.daySums);

  return {
    find(code: LinkKey): StoredLink | undefined {
      const row = reading(() => find.get(code));
      if (row !== null) return toLink(code, row);
      // Checking each time would make a 404 a tenth more expensive.
      place.requireLately();
      return undefined;
    },
    newestRowid: (): number => reading(() => newestLink.get())?.rowid ?? 0,
    /** Called several times a second, so it is the first to notice when the file was moved. */
    changes(position: Position | undefined): Changes {
      place.requireNow();
      return reading(() => changesSince(position));
    },
    recall: (request: RepeatableRequest) => reading(() => requests.recall(request)),
    newestSaltDay: (): number => reading(() => newestSaltDay.get())?.day ?? Number.POSITIVE_INFINITY,
    sums: (code: LinkKey, createdMs: number): Sums => sums(code, createdMs, 0, LAST_DAY),
    days: (code: LinkKey, createdMs: number, firstDay: number, lastDay: number): DayVisits[] =>
      reading(() => visits.days(code, createdMs, firstDay, lastDay)),
    daySums,
    visited: (day: number, limit: number): VisitedLink[] => reading(() => visited.all(day, limit)),
    identity: () => reading(() => identityOf(database, path)),
    ...createModerationReader(run),
    ...createOwnedReader(run, OWNER_INDEX),
    ...createFigures(run, FIGURES),
    search: (query: LinkQuery, page: PageRequest) => reading(() => search(query, page)),
    close: () => database.close(),
  };
}

/** A failed read says nothing about the link. */
function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    return fail(error);
  }
}

function fail(cause: unknown): never {
  throw new StoreUnavailable("The store cannot be read", { cause });
}

type DayRange = [code: string, createdMs: number, firstDay: number, lastDay: number];

const daysWith = (columns: string, first: string) => `
  WITH RECURSIVE ${daysWithVisits(first, "?4")}
  SELECT span.day, visits, bots${columns} FROM span CROSS JOIN visits AS counted
    ON counted.day = span.day AND code = ?1 AND created_ms = ?2`;
/** Day 0 holds the sum of old days. */
const FROM_FIRST = "max(?3, 1)";
const SUMS = `
  SELECT coalesce(sum(visits), 0) AS visits, coalesce(sum(bots), 0) AS bots FROM (${daysWith("", "?3")})`;

function createDaysReader(database: FileDatabase) {
  const days = database.statement<DayVisits, DayRange>(
    `${daysWith(", detail", FROM_FIRST)} ORDER BY span.day`,
  );
  const daySums = database.statement<DaySums, DayRange>(`${daysWith("", FROM_FIRST)} ORDER BY span.day`);
  const sums = database.statement<Sums, DayRange>(SUMS);

  return {
    days: (...range: DayRange): DayVisits[] => days.all(...range),
    daySums: (...range: DayRange): DaySums[] => daySums.all(...range),
    sums: (...range: DayRange): Sums => sums.get(...range) ?? { visits: 0, bots: 0 },
  };
}
