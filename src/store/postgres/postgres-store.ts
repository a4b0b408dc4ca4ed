import type { PostgresAddress } from "../../config/database-url.ts";
import type { LinkStore } from "../../links/link-store.ts";
import { FIGURE_LINKS } from "../../moderation/figures.ts";
import type { ModerationStore } from "../../moderation/moderation-store.ts";
import type { VisitStore } from "../../visits/days/visit-store.ts";
import { createCommits, createStoreFigures, type StoreFigures } from "../shared/commits.ts";
import { createFigures, createModeration, createModerationReader } from "../shared/moderation.ts";
import { createOwnedReader } from "../shared/owned-links.ts";
import { MAX_UNSENDABLE, type StoreReport } from "../shared/records.ts";
import { REPORTS } from "../shared/report-rows.ts";
import type { Run } from "../shared/sql.ts";
import {
  type Database,
  type DatabaseOptions,
  openDatabase,
  type OpeningOptions,
  reach,
  WAIT_SHARE,
} from "./connection/database.ts";
import { joinInstances } from "./instances.ts";
import { COUNT, createLinkCount } from "./link-count.ts";
import { createSearch } from "./link-search.ts";
import { createLinksReader, createLinks } from "./link-updates.ts";
import { openReplicas, type ReplicaOptions } from "./replicas.ts";
import { hasSchema, migrate, requireCurrentVersion, requireEncoding } from "./schema.ts";
import { identityOf } from "./store-identity.ts";
import { createVisits, createVisitsReader } from "./visit-queries.ts";
import { eraseVisits } from "./visit-rows.ts";

/** Views are rendered one after the other, and some run several reads at the same time. */
const READER_CONNECTIONS = 2;
const CONNECTIONS = 8;
/** Longer than usual: this thread has the lowest priority on one core. */
const READER_MS = 1500;
/** For work that nobody waits for, and for decisions about thousands of links. */
const BACKGROUND_MS = 10_000;
/** Together the figures read about 20,000 rows. */
const FIGURES_MS = 5000;
/** Counting a billion links takes minutes. */
const CHECK_MS = 3_600_000;

const NEWEST = `
  SELECT coalesce(target, original_url) AS target, 1 AS count FROM links ORDER BY created_ms DESC, code DESC LIMIT ${FIGURE_LINKS}`;
/** Each source has a row of the link. */
const VISITED = `
  WITH day AS MATERIALIZED (
    SELECT code, created_ms, visits FROM visits WHERE state = ANY ('{0,1}') AND day = $1 LIMIT ${FIGURE_LINKS}
  ), counted AS MATERIALIZED (
    SELECT code, created_ms, sum(visits)::bigint AS count FROM day GROUP BY code, created_ms
  )
  SELECT coalesce((SELECT coalesce(target, original_url) FROM links
    WHERE links.code = counted.code AND links.created_ms = counted.created_ms), '') AS target, count
  FROM counted`;

const OWNER_INDEX = {
  owner: "(terms::json ->> 'owner')",
  keyPrefix: "substr(code, 1, strpos(code, '/'))",
  values: "json_array_elements_text($1::json)",
};
const COUNT_LINKS = "SELECT count(*) AS links FROM links";
/** As `isSendable` decides. */
const UNSENDABLE = `
  SELECT code FROM links
  WHERE disabled IS DISTINCT FROM 'deleted' AND coalesce(target, original_url) !~ '^https?:[\\x21-\\x7E]+$'
  LIMIT ${MAX_UNSENDABLE}`;

export interface PostgresOptions
  extends OpeningOptions, Pick<DatabaseOptions, "onPrimary" | "limitMs">, Pick<ReplicaOptions, "onReplica"> {
  /** The most connections of this process to the primary, including those for views, and to each replica. */
  readonly connections?: number;
  /** How long the number of links stays valid. */
  readonly sizeKnownMs?: number;
  /** The replicas that look-ups may use. */
  readonly readFrom?: PostgresAddress | undefined;
  /** Collects the figures of commits. */
  readonly storeFigures?: StoreFigures;
  /** Called with faults of work that succeeded nevertheless. */
  readonly onFault?: (error: unknown) => void;
}

/** Links, visits and decisions in one PostgreSQL database, for any number of machines. Throws {@link StoreUnusable}. */
export async function openPostgresStore(
  address: PostgresAddress,
  {
    connections = CONNECTIONS,
    limitMs,
    sizeKnownMs,
    readFrom,
    storeFigures,
    onPrimary,
    onReplica,
    onFault = () => {},
    ...opening
  }: PostgresOptions = {},
): Promise<LinkStore & VisitStore & ModerationStore> {
  const own = Math.max(1, connections - READER_CONNECTIONS);
  const database = openDatabase(address, { connections: own, limitMs, onPrimary });
  let instances: Awaited<ReturnType<typeof joinInstances>>;
  try {
    instances = await reach(address, opening, async () => {
      await migrate(database);
      return joinInstances(database.run);
    });
  } catch (error) {
    await database.close();
    throw error;
  }
  const count = createLinkCount(database, sizeKnownMs);
  const figures = storeFigures ?? createStoreFigures();
  const replicas = readFrom && openReplicas(readFrom, database, { connections, onReplica });
  const links = createLinks(database, count, replicas?.read, figures);
  const moderation = createModeration(database, database.within(BACKGROUND_MS), { eraseVisits, lockHosts });
  const reports = createCommits(
    { ...REPORTS, waitMs: WAIT_SHARE * database.limitMs },
    moderation.reportAll,
    figures.reports,
  );
  const reader = readingHalf(database);
  return {
    ...reader,
    ...links,
    ...createVisits(database, onFault),
    ...moderation,
    async report(report) {
      const [outcome] = await reports.add([report]);
      return outcome;
    },
    async figures(nowMs: number) {
      await count.written();
      return reader.figures(nowMs);
    },
    findNear: replicas?.findNear,
    identity: () => identityOf(database.run, address),
    async close() {
      await Promise.all([links.close(), reports.settled(), replicas?.close(), instances.leave()]);
      await database.close();
    },
  };
}

/** Reads continue. */
async function lockHosts(run: Run): Promise<void> {
  await run("LOCK TABLE hosts IN SHARE ROW EXCLUSIVE MODE");
}

/** The methods that only read, on separate connections, which open with the first look-up. */
export function openPostgresReader(address: PostgresAddress) {
  const database = openDatabase(address, { connections: READER_CONNECTIONS, limitMs: READER_MS });
  return { ...readingHalf(database), close: database.close };
}

function readingHalf(database: Database) {
  return {
    ...createLinksReader(database),
    ...createSearch(database),
    ...createOwnedReader(database.run, OWNER_INDEX),
    ...createFigures(database.within(FIGURES_MS).run, { links: COUNT, newest: NEWEST, visited: VISITED }),
    ...createVisitsReader(database),
    ...createModerationReader(database.run),
  } satisfies Partial<LinkStore & VisitStore & ModerationStore>;
}

/** Whether Curt has used the database before. Throws {@link StoreUnusable}. */
export async function hasPostgresStore(address: PostgresAddress): Promise<boolean> {
  return withDatabase(address, ({ run }) => hasSchema(run));
}

/** Counts the links. Undefined if Curt has not used the database yet. Throws {@link StoreUnusable}. */
export async function checkPostgresStore(address: PostgresAddress): Promise<StoreReport | undefined> {
  return withDatabase(address, async ({ run }) => {
    await requireEncoding(run);
    if (!(await hasSchema(run))) return undefined;
    await requireCurrentVersion(run);
    const { rows } = await run<{ links: number }>(COUNT_LINKS);
    const unsendable = await run<{ code: string }>(UNSENDABLE);
    return { links: rows[0]?.links ?? 0, damage: [], unsendable: unsendable.rows.map(({ code }) => code) };
  });
}

async function withDatabase<T>(
  address: PostgresAddress,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const database = openDatabase(address, { connections: 1, limitMs: CHECK_MS });
  try {
    return await reach(address, {}, () => work(database));
  } finally {
    await database.close();
  }
}
