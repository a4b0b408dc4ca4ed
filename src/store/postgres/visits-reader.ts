import type { Code } from "../../links/code.ts";
import { type Day, mergeDays, type Sums } from "../../visits/day.ts";
import type { DaySums, DayVisits, VisitStore } from "../../visits/store.ts";
import type { Database } from "./connection/database.ts";

const SUMS = `
  SELECT coalesce(sum(visits), 0)::bigint AS visits, coalesce(sum(bots), 0)::bigint AS bots FROM visits
  WHERE code = $1 AND created_ms = $2`;
/** Day 0 is no day. */
const DAYS = "code = $1 AND created_ms = $2 AND day BETWEEN greatest(1, $3::integer) AND $4 AND state < 2";
const DAY_SUMS = `
  SELECT day, sum(visits)::bigint AS visits, sum(bots)::bigint AS bots FROM visits
  WHERE ${DAYS} GROUP BY day ORDER BY day`;
const DETAILS = `SELECT day, visits, bots, detail FROM visits WHERE ${DAYS} ORDER BY day, source`;

/** Reads visits: what several sources counted is added up. */
export function createVisitsReader({ run }: Pick<Database, "run">) {
  return {
    async sums(code: Code, createdMs: number): Promise<Sums> {
      const { rows } = await run<Sums>(SUMS, [code, createdMs]);
      return rows[0] ?? { visits: 0, bots: 0 };
    },
    async days(...asked: [code: Code, createdMs: number, firstDay: number, lastDay: number]) {
      const { rows } = await run<DayVisits>(DETAILS, asked);
      return Array.from(
        Map.groupBy(rows, ({ day }) => day),
        ([day, parts]) => ({
          day,
          ...mergeAll(parts),
        }),
      );
    },
    async daySums(...asked: [code: Code, createdMs: number, firstDay: number, lastDay: number]) {
      return (await run<DaySums>(DAY_SUMS, asked)).rows;
    },
  } satisfies Partial<VisitStore>;
}

/** One part or more. */
export function mergeAll(parts: readonly Day[]): Day {
  const { visits, bots, detail } = parts.reduce(mergeDays);
  return { visits, bots, detail };
}
