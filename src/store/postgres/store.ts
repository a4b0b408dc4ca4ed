import type { LinkStore } from "../../links/store.ts";
import type { PostgresAddress } from "../../settings/database-url.ts";
import { openDatabase } from "./database.ts";
import { createLinkCounts } from "./link-counts.ts";
import { createLinkTable } from "./links.ts";
import { migrate } from "./schema.ts";

/** Links, visits and decisions in one PostgreSQL database, for any number of machines. */
export async function openPostgresStore(
  address: PostgresAddress,
  { sizeKnownMs }: { readonly sizeKnownMs?: number } = {},
) {
  const database = openDatabase(address);
  try {
    await migrate(database);
  } catch (error) {
    await database.close();
    throw error;
  }
  const links = createLinkTable(database, createLinkCounts(database, sizeKnownMs));
  return {
    ...links,
    async close() {
      await links.close();
      await database.close();
    },
  } satisfies Partial<LinkStore>;
}
