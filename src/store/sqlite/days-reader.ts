// The visits of a link's days, for the reading half.
import type { Database } from "bun:sqlite";

import { merge, type Sums } from "../../visits/day.ts";
import type { DaySums, DayVisits } from "../../visits/store.ts";

type Asked = [code: string, createdMs: number, firstDay: number, lastDay: number];

/** Each day is one look-up by key, because rows are ordered by day so that new ones stand together. */
const daysIn = (table: string, columns: string) => `
  SELECT * FROM (
    WITH RECURSIVE span (day) AS (
      SELECT max(?3, (SELECT min(day) FROM ${table} WHERE day > 0))
      UNION ALL SELECT day + 1 FROM span WHERE day < min(?4, (SELECT max(day) FROM ${table})))
    SELECT span.day, visits, bots${columns} FROM span CROSS JOIN ${table} AS counted
      ON counted.day = span.day AND counted.day <= ?4 AND code = ?1 AND created_ms = ?2)`;
const HAS_OLD = "SELECT EXISTS (SELECT 1 FROM old_visits) AS hasOld";

function prepareFor(database: Database, tables: readonly string[]) {
  const all = (select: (table: string) => string) => tables.map(select).join(" UNION ALL ");
  const sums = all((table) => daysIn(table, ""));
  const before = all(
    (table) => `SELECT visits, bots FROM ${table} WHERE day = 0 AND code = ?1 AND created_ms = ?2`,
  );
  const details = all((table) => daysIn(table, ", CAST(detail AS BLOB) AS detail"));
  return {
    days: database.prepare<DayVisits, Asked>(`${details} ORDER BY day`),
    daySums: database.prepare<DaySums, Asked>(
      `SELECT day, sum(visits) AS visits, sum(bots) AS bots FROM (${sums}) GROUP BY day`,
    ),
    sums: database.prepare<Sums, Asked>(`
      SELECT coalesce(sum(visits), 0) AS visits, coalesce(sum(bots), 0) AS bots
      FROM (${before} UNION ALL SELECT visits, bots FROM (${sums}))`),
  };
}

/** What an earlier version counted has a table of its own, until it was moved. Looking there takes as long again. */
export function prepareDays(database: Database) {
  const hasOld = database.prepare<{ hasOld: number }, []>(HAS_OLD);
  const current = prepareFor(database, ["visits"]);
  let withOld: typeof current | undefined;

  /** Rows only ever move from the old table to the new one: if the old one is empty, all are in the new one. */
  function prepared() {
    if (hasOld.get()?.hasOld === 0) return current;
    withOld ??= prepareFor(database, ["visits", "old_visits"]);
    return withOld;
  }

  return {
    days: (...asked: Asked): DayVisits[] => mergeEqualDays(prepared().days.all(...asked)),
    daySums: (...asked: Asked): DaySums[] => prepared().daySums.all(...asked),
    sums: (...asked: Asked): Sums => prepared().sums.get(...asked) ?? { visits: 0, bots: 0 },
    close() {
      for (const statement of [hasOld, ...Object.values(current), ...Object.values(withOld ?? {})])
        statement.finalize();
    },
  };
}

/** A day has two rows if some of its visits were counted by an earlier version. */
function mergeEqualDays(days: readonly DayVisits[]): DayVisits[] {
  const merged: DayVisits[] = [];
  for (const day of days) {
    const last = merged.at(-1);
    if (last?.day === day.day) merged[merged.length - 1] = { day: day.day, ...merge(last, day) };
    else merged.push(day);
  }
  return merged;
}
