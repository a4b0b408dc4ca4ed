// The visits of a link's days, for the reading half.
import type { Database } from "bun:sqlite";

import type { Sums } from "../../visits/day.ts";
import type { DaySums, DayVisits } from "../../visits/store.ts";

type DaysQuery = [code: string, createdMs: number, firstDay: number, lastDay: number];

/** Each day is one look-up by key, because rows are ordered by day so that new ones stand together. */
const daysWith = (columns: string) => `
  WITH RECURSIVE span (day) AS (
    SELECT max(?3, (SELECT min(day) FROM visits WHERE day > 0))
    UNION ALL SELECT day + 1 FROM span WHERE day < min(?4, (SELECT max(day) FROM visits)))
  SELECT span.day, visits, bots${columns} FROM span CROSS JOIN visits AS counted
    ON counted.day = span.day AND counted.day <= ?4 AND code = ?1 AND created_ms = ?2`;
const SUMS = `
  SELECT coalesce(sum(visits), 0) AS visits, coalesce(sum(bots), 0) AS bots FROM (
    SELECT visits, bots FROM visits WHERE day = 0 AND code = ?1 AND created_ms = ?2
    UNION ALL SELECT visits, bots FROM (${daysWith("")}))`;

export function prepareDays(database: Database) {
  const days = database.prepare<DayVisits, DaysQuery>(`${daysWith(", detail")} ORDER BY span.day`);
  const daySums = database.prepare<DaySums, DaysQuery>(`${daysWith("")} ORDER BY span.day`);
  const sums = database.prepare<Sums, DaysQuery>(SUMS);

  return {
    days: (...asked: DaysQuery): DayVisits[] => days.all(...asked),
    daySums: (...asked: DaysQuery): DaySums[] => daySums.all(...asked),
    sums: (...asked: DaysQuery): Sums => sums.get(...asked) ?? { visits: 0, bots: 0 },
    close() {
      for (const statement of [days, daySums, sums]) statement.finalize();
    },
  };
}
