// The reading half: prepared single-key look-ups, on the thread that serves.
import type { Changes, Position } from "../../links/change-feed.ts";
import type { Code } from "../../links/code.ts";
import type { Link } from "../../links/link.ts";
import { type KeyedRequest, StoreUnavailable } from "../../links/store.ts";
import { DAY_MS } from "../../links/time.ts";
import { FIGURE_LINKS } from "../../moderation/figures.ts";
// The reading half: prepared single-key look-ups, on the thread that serves.
import type { LinkQuery, PageRequest } from "../../moderation/search.ts";
import type { Sums } from "../../visits/day.ts";
import type { DaySums, DayVisits } from "../../visits/store.ts";
import { RULES } from "../shared/decisions.ts";
import { createGuardReader } from "../shared/guard.ts";
import { createFigures } from "../shared/instance.ts";
import { LINK_COLUMNS, type LinkRow, toLink } from "../shared/link-row.ts";
import { prepareDays } from "./days-reader.ts";
import { type Identity, isInPlace, replacedMeanwhile, watchPlace } from "./file/file-identity.ts";
import { openReader } from "./file/file.ts";
import { prepareRecall } from "./requests.ts";
import { prepareSearch } from "./search.ts";
import { runOn } from "./sql.ts";

/** How long the number of links is taken as known: every generated code asks for it. */
const SIZE_KNOWN_MS = 1000;
/** Changes in one answer. */
const MAX_CHANGES = 1000;
/** Answers that are kept until something is written. */
const MAX_KEPT = 64;
/** 9999-12-31, in days since 1970. */
const LAST_DAY = 2_932_896;

const FIND = `SELECT ${LINK_COLUMNS} FROM links WHERE code = ?1`;
const SIZE = "SELECT coalesce(max(rowid), 0) AS size FROM links";
const NEWEST_CHANGE = "SELECT coalesce(max(revision), 0) AS revision FROM changes";
const OLDEST_CHANGE = "SELECT coalesce(min(revision), 1) AS revision FROM changes";
const CHANGES = "SELECT revision, code FROM changes WHERE revision > ?1 ORDER BY revision LIMIT ?2";
const VERSION = "PRAGMA data_version";
const NEWEST_SALT_DAY = "SELECT max(day) AS day FROM salts";
const FIGURES = {
  links: "SELECT coalesce(max(rowid), 0) AS count FROM links",
  newest: `
    SELECT coalesce(target, original_url) AS target, 1 AS count FROM links ORDER BY rowid DESC LIMIT ${FIGURE_LINKS}`,
  visited: `
    SELECT coalesce((SELECT coalesce(target, original_url) FROM links
      WHERE links.code = day.code AND links.created_ms = day.created_ms), '') AS target, visits AS count
    FROM (SELECT code, created_ms, visits FROM visits WHERE day = $1 LIMIT ${FIGURE_LINKS}) AS day`,
};

interface ChangeRow {
  revision: number;
  code: string;
}

/**
 * Opens a file that the writer has prepared and identified. Its methods throw {@link StoreUnavailable} where they
 * cannot look. A link that is found is told from whichever file is open; that there is none, only from the right one.
 */
export function createReader(path: string, opened: Identity, sizeKnownMs = SIZE_KNOWN_MS) {
  const database = openReader(path);
  const find = database.prepare<LinkRow, [string]>(FIND);
  const size = database.prepare<{ size: number }, []>(SIZE);
  const newestChange = database.prepare<{ revision: number }, []>(NEWEST_CHANGE);
  const oldestChange = database.prepare<{ revision: number }, []>(OLDEST_CHANGE);
  const changes = database.prepare<ChangeRow, [number, number]>(CHANGES);
  const newestSaltDay = database.prepare<{ day: number | null }, []>(NEWEST_SALT_DAY);
  const counted = prepareDays(database);
  const run = runOn(database, fail);
  const { search, ...searching } = prepareSearch(database);
  const requests = prepareRecall(database);
  const version = database.prepare<{ data_version: number }, []>(VERSION);
  let known = { size: 0, untilMs: 0 };
  const place = watchPlace(path, opened);
  // Opened by its path, which may lead to another file than the writer opened.
  if (!isInPlace(path, opened)) {
    database.close();
    throw replacedMeanwhile(path);
  }

  function changesSince(position: Position | undefined): Changes {
    const newest = newestChange.get()?.revision ?? 0;
    const since = position === undefined ? newest : Number(position);
    if (since >= newest) return { ...NO_CHANGES, position: positionAt(newest) };
    if (since < (oldestChange.get()?.revision ?? 1) - 1)
      return { ...NO_CHANGES, position: positionAt(newest), isComplete: false };
    const rows = changes.all(since, MAX_CHANGES);
    const codes = rows.map(({ code }) => code as Code).filter((code) => code !== RULES);
    const last = rows.at(-1)?.revision ?? newest;
    return {
      position: positionAt(last),
      codes,
      rules: codes.length < rows.length,
      hasMore: last < newest,
      isComplete: true,
    };
  }

  /** Adding up many days takes as long as thirty redirects, and an open preview asks for it every few seconds. */
  function untilWritten<R>(read: (...asked: [string, number, number, number]) => R) {
    const kept = new Map<string, R>();
    let ofVersion: number | undefined;
    return (...asked: [Code, number, number, number]): R =>
      reading(() => {
        const newest = version.get()?.data_version;
        if (newest !== ofVersion || kept.size >= MAX_KEPT) kept.clear();
        ofVersion = newest;
        const key = asked.join(" ");
        const result = kept.get(key) ?? read(...asked);
        kept.set(key, result);
        return result;
      });
  }
  const knownSums = untilWritten((...asked) => counted.sums(...asked));
  const knownDaySums = untilWritten((...asked): readonly DaySums[] => counted.daySums(...asked));

  return {
    find(code: Code): Link | undefined {
      const row = reading(() => find.get(code));
      if (row !== null) return toLink(code, row);
      // To look each time would cost a 404 a tenth more.
      place.requireLately();
      return undefined;
    },
    size(): number {
      const nowMs = performance.now();
      if (nowMs >= known.untilMs) {
        known = { size: reading(() => size.get())?.size ?? 0, untilMs: nowMs + sizeKnownMs };
      }
      return known.size;
    },
    /** Called several times a second, so it notices first that the file was moved. */
    changes(position: Position | undefined): Changes {
      place.requireNow();
      return reading(() => changesSince(position));
    },
    recall: (request: Pick<KeyedRequest, "key" | "body">) => reading(() => requests.recall(request)),
    newestSaltDay: (): number => reading(() => newestSaltDay.get())?.day ?? Number.POSITIVE_INFINITY,
    sums(code: Code, createdMs: number): Sums {
      // A clock may step back over midnight.
      const firstDay = Math.floor(createdMs / DAY_MS) - 1;
      return knownSums(code, createdMs, firstDay, LAST_DAY);
    },
    days: (code: Code, createdMs: number, firstDay: number, lastDay: number): DayVisits[] =>
      reading(() => counted.days(code, createdMs, firstDay, lastDay)),
    daySums: knownDaySums,
    ...createGuardReader(run),
    ...createFigures(run, FIGURES),
    search: (query: LinkQuery, page: PageRequest) => reading(() => search(query, page)),
    close() {
      searching.close();
      requests.close();
      counted.close();
      for (const statement of [find, size, newestChange, oldestChange, changes, newestSaltDay, version])
        statement.finalize();
      database.close();
    },
  };
}

const NO_CHANGES = { codes: [], rules: false, hasMore: false, isComplete: true };

function positionAt(revision: number): Position {
  return String(revision) as Position;
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
