import type { PostgresAddress } from "../../settings/database-url.ts";
import { createCasesReader } from "./cases-reader.ts";
import { createCases } from "./cases.ts";
import { createCounters } from "./counters.ts";
import { openDatabase } from "./database.ts";
import { createGuardReader } from "./guard-reader.ts";
import { createGuard } from "./guard.ts";
import { createReports } from "./reports.ts";
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
  const reports = createReports(database);
  return {
    ...createGuard(database),
    ...createGuardReader(database),
    ...createCases(database),
    ...reports,
    ...createCasesReader(database),
    ...createCounters(database),
    async close() {
      await reports.settled();
      await database.close();
    },
  };
}
