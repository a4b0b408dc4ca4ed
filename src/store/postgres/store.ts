import type { PostgresAddress } from "../../settings/database-url.ts";
import { openDatabase } from "./database.ts";
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
  return { close: () => database.close() };
}
