import type { PostgresAddress } from "../../settings/database-url.ts";
import { createCases } from "./cases.ts";
import { createCounters } from "./counters.ts";
import { openDatabase } from "./database.ts";
import { createGuard } from "./guard.ts";
import { migrate } from "./schema.ts";

/** Links, visits and decisions in one PostgreSQL database, for any number of machines. */
export async function openPostgresStore(address: PostgresAddress) {
  const database = openDatabase(address);
  try {
    await migrate(database);
  } catch (error) {
    await database.close();
    throw error;
  }
  const guard = createGuard(database);
  const cases = createCases(database, guard);
  return {
    ...guard,
    ...cases,
    ...createCounters(database),
    async close() {
      await cases.settled();
      await database.close();
    },
  };
}
