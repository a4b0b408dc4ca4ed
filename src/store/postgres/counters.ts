import type { Counts } from "../../moderation/counters.ts";
import type { Database } from "./connection/database.ts";

/** Every writer goes in the order of names, so that two of them never end in a deadlock. */
const ADD = `
  INSERT INTO counters (day, name, count)
  SELECT $1::integer, name, count FROM unnest($2::text[], $3::bigint[]) AS counted (name, count)
  WHERE count > 0 ORDER BY name COLLATE "C"
  ON CONFLICT (day, name) DO UPDATE SET count = counters.count + excluded.count`;

/** If the connection breaks, the caller counts again, and these figures may be too high: they are approximate. */
export function createCounters({ run }: Pick<Database, "run">) {
  return {
    async count(day: number, counts: Counts): Promise<void> {
      await run(ADD, [day, Object.keys(counts), Object.values(counts)]);
    },
  };
}
