import { StoreUnavailable } from "../../links/store.ts";
import { mergeDays } from "../../visits/day.ts";
import type { VisitStore } from "../../visits/store.ts";
import { decodeRows, type Row, type Slice } from "../../visits/visit-rows.ts";
import { createVisitsAgeing } from "./ageing.ts";
import type { Database } from "./connection/database.ts";
import { type Change, dayKey, findRows, inOrder, OPEN, type VisitRow, writeRows } from "./visit-rows.ts";

/** Only somebody who adds the same slice at the same time makes more than two necessary. */
const MAX_TRIES = 10;

/** Merging takes some 25 µs a row. Redirects, which share the thread, have their turn in between. */
const MERGED_AT_ONCE = 50;

/**
 * What a slice costs Curt and PostgreSQL together: two statements, and each row. How long it took would say more about the
 * network, or about a failover meanwhile, and visits would wait for up to a minute after it.
 */
const SLICE_WORK_MS = 0.5;
const ROW_WORK_MS = 0.05;

/** Whoever is first to ask for a day makes its salt. Two that ask at once may both find none: the second asks again. */
const SALT = `
  WITH forgotten AS (DELETE FROM salts WHERE day < $2), added AS (
    INSERT INTO salts (day, salt)
    VALUES ($1, sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())))
    ON CONFLICT (day) DO NOTHING RETURNING salt
  )
  SELECT salt FROM added UNION ALL SELECT salt FROM salts WHERE day = $1`;
const NEWEST_SALT_DAY = "SELECT max(day) AS day FROM salts";

/** Counts visits. {@link createVisitsReader} reads them. */
export function createVisits(database: Database) {
  const { run } = database;

  /** Adds rows of one source that are in the order of their keys, unless they are part of what is stored. */
  async function addRows(all: readonly Row[], { source, sequence }: Slice): Promise<void> {
    let left = all;
    for (let tries = 0; left.length > 0; tries++) {
      if (tries === MAX_TRIES) throw new StoreUnavailable("Others write the same visits all the time");
      const stored = new Map((await findRows(run, left, source)).map((row) => [dayKey(row), row]));
      left = left.filter((row) => (stored.get(dayKey(row))?.sequence ?? 0) < sequence);
      if (left.length === 0) return;
      const changes: Change[] = [];
      for (const row of left) {
        changes.push({
          row: { ...withStored(row, stored.get(dayKey(row))), source, sequence },
          added: row,
        });
        if (changes.length % MERGED_AT_ONCE === 0) await Bun.sleep(0);
      }
      // The next look tells which were not written.
      if ((await writeRows(run, changes)) === left.length) return;
    }
  }

  return {
    async add(slice: Slice): Promise<number> {
      const rows = inOrder(decodeRows(slice.rows));
      await addRows(rows, slice);
      return SLICE_WORK_MS + rows.length * ROW_WORK_MS;
    },
    async salt(day: number, oldest: number): Promise<Uint8Array> {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const [row] = (await run<{ salt: Uint8Array }>(SALT, [day, oldest])).rows;
        if (row !== undefined) return row.salt;
      }
      throw new StoreUnavailable("No salt could be kept");
    },
    async newestSaltDay(): Promise<number> {
      const { rows } = await run<{ day: number | null }>(NEWEST_SALT_DAY);
      return rows[0]?.day ?? Number.POSITIVE_INFINITY;
    },
    age: createVisitsAgeing(database),
  } satisfies Partial<VisitStore>;
}

/** A row that is closed stays so: merging drops the hashes of what is added. */
function withStored(row: Row, stored: VisitRow | undefined): Omit<VisitRow, "source" | "sequence"> {
  if (stored === undefined) return { ...row, version: 1, state: OPEN };
  const { detail, version, state } = stored;
  if (detail === null) return { ...row, version: version + 1, state: OPEN };
  return { ...row, ...mergeDays({ ...stored, detail }, row), version: version + 1, state };
}
