import { describeStore, type PostgresAddress } from "../../config/database-url.ts";
// A PostgreSQL database as records, to be copied from or to be filled.
import type { Link } from "../../links/link.ts";
import { StoreUnusable } from "../../links/store.ts";
import { HOUR_MS } from "../../links/time.ts";
import { type Counts, type FilledRecords, readAll, type Records } from "../records.ts";
import { type Database, openDatabase } from "./connection/database.ts";
import { reach } from "./connection/first-connection.ts";
import { beginCopy, finishCopy, keepProgress, requireWhole } from "./copied.ts";
import { GUARD_RECORDS } from "./guard-records.ts";
import { LINK_RECORDS } from "./link-records.ts";
import { LINK_COLUMNS, type LinkRow, toLink } from "./link-row.ts";
import { createLinksReader } from "./links-reader.ts";
import type { Tables } from "./record-table.ts";
import { hasSchema, migrate, requireCurrentVersion } from "./schema.ts";
import { readDays, VISIT_RECORDS } from "./visit-records.ts";
import { EMPTY } from "./visit-rows.ts";
import { createVisitsReader } from "./visits-reader.ts";

/** Reading one part and writing another go on at the same time. */
const CONNECTIONS = 2;
/** Nobody waits for a part. */
const PART_MS = 60_000;
/** Counting a billion links takes minutes. */
const COUNT_MS = 3_600_000;

/** Exporting a billion links takes hours. */
const SNAPSHOT_MS = 24 * HOUR_MS;
/** Records that a snapshot returns at once. */
const SNAPSHOT_PART = 1000;
const SNAPSHOT = [
  "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
  // Whoever takes what is read may be slow.
  `SET LOCAL idle_in_transaction_session_timeout = ${HOUR_MS}`,
];

const COUNT = `
  SELECT (SELECT count(*) FROM links) AS link,
    (SELECT count(*) FROM links WHERE disabled IS NOT NULL) AS disabled,
    (SELECT count(*) FROM links WHERE ends_ms IS NOT NULL) AS ending,
    counted.day, counted.visits, counted.bots,
    (SELECT count(*) FROM salts) AS salt,
    (SELECT count(*) FROM secrets) AS secret,
    (SELECT count(*) FROM hosts) AS host,
    (SELECT count(*) FROM journal) AS entry,
    (SELECT count(*) FROM cases) AS "case",
    (SELECT count(*) FROM reporters) AS reporter,
    (SELECT count(*) FROM counters) AS counter
  FROM (
    SELECT count(*) AS day, coalesce(sum(visits), 0)::bigint AS visits, coalesce(sum(bots), 0)::bigint AS bots
    FROM (SELECT sum(visits) AS visits, sum(bots) AS bots FROM visits WHERE state < ${EMPTY}
      GROUP BY code, created_ms, day) AS days
  ) AS counted`;
const SPREAD = `
  SELECT DISTINCT ${LINK_COLUMNS} FROM (SELECT min(created_ms) AS oldest, max(created_ms) AS newest FROM links) AS ends,
    generate_series(0, $1::integer - 1) AS nth,
    LATERAL (SELECT ${LINK_COLUMNS} FROM links WHERE created_ms >= oldest + nth * (newest + 1 - oldest) / $1
      ORDER BY created_ms, code LIMIT 1) AS found`;
/**
 * What a crash loses is copied again, because it loses the progress with it. `finish` waits until everything is on disk.
 */
const LATER = "SET LOCAL synchronous_commit = off";
/** Copies are not counted as they are made, because a copy may be repeated. */
const COUNT_LINKS = [
  "UPDATE link_count SET links = (SELECT count(*) FROM links)",
  // The first requests need good plans.
  "ANALYZE links, visits, cases, journal",
];

const TABLES: Tables = { ...LINK_RECORDS, ...VISIT_RECORDS, ...GUARD_RECORDS };

/** Opens a database that Curt has used. Throws {@link StoreUnusable}. */
export function openPostgresRecords(address: PostgresAddress): Promise<Records> {
  return opening(address, async (database) => {
    if (!(await hasSchema(database.run)))
      throw new StoreUnusable(`${describeStore(address)} is no store of Curt's yet.`);
    await requireCurrentVersion(database.run);
    await requireWhole(database.run);
    return reading(database);
  });
}

/** Opens a database that is to be filled, migrated where needed. Throws {@link StoreUnusable}. */
export function openPostgresToFill(address: PostgresAddress): Promise<FilledRecords> {
  return opening(address, async (database) => {
    await migrate(database);
    const whole = database.within(COUNT_MS);
    return {
      ...reading(database),
      begin: (copying) => database.transaction((run) => beginCopy(run, copying)),
      write: (kind, records, { before, after }) =>
        database.transaction(async (run) => {
          await run(LATER);
          if (!(await keepProgress(run, before, after)))
            throw new StoreUnusable(
              `${describeStore(address)} is filled or served by somebody else, or a failover lost what was written last. Run the same command again.`,
            );
          if (records.length > 0) await TABLES[kind].write(run, records);
        }),
      finish: () =>
        whole.transaction(async (run) => {
          for (const statement of COUNT_LINKS) await run(statement);
          await finishCopy(run);
        }),
    };
  });
}

export async function opening<T>(
  address: PostgresAddress,
  open: (database: Database) => Promise<T>,
): Promise<T> {
  const database = openDatabase(address, { connections: CONNECTIONS, limitMs: PART_MS });
  try {
    return await reach(address, {}, () => open(database));
  } catch (error) {
    await database.close();
    throw error;
  }
}

function reading(database: Database): Records {
  const { run } = database;
  return {
    find: createLinksReader(database).find,
    sums: createVisitsReader(database).sums,
    read: (kind, after, limit) => TABLES[kind].read(run, after, limit),
    snapshot: (work) =>
      database.within(SNAPSHOT_MS).transaction(async (inside) => {
        for (const statement of SNAPSHOT) await inside(statement);
        return work((kind) =>
          kind === "day"
            ? (readDays(inside) as AsyncGenerator<never>)
            : readAll((after) => TABLES[kind].read(inside, after, SNAPSHOT_PART)),
        );
      }),
    async count() {
      const [counts] = (await database.within(COUNT_MS).run<Counts>(COUNT)).rows;
      if (counts === undefined) throw new Error("A statement that always returns a row returned none");
      return counts;
    },
    async spread(count): Promise<Link[]> {
      return (await run<LinkRow>(SPREAD, [count])).rows.map(toLink);
    },
    close: database.close,
  };
}
