import type { Counts } from "../../guard/counters.ts";
import type { Database } from "./database.ts";

/** In the order of names, as every statement here, so that two never wait for each other. */
const ADD = `
  INSERT INTO counters (day, name, count)
  SELECT $1::integer, name, count FROM unnest($2::text[], $3::bigint[]) AS counted (name, count)
  WHERE count > 0 ORDER BY name COLLATE "C"
  ON CONFLICT (day, name) DO UPDATE SET count = counters.count + excluded.count`;

/** Counts again what was sent on a connection that broke: the figures are about. */
export function createCounters({ run }: Pick<Database, "run">) {
  return {
    async count(day: number, counts: Counts): Promise<void> {
      await run(ADD, [day, Object.keys(counts), Object.values(counts)]);
    },
  };
}
