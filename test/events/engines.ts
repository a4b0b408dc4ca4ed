import { openStatements } from "../../src/store/open.ts";
import { sharePostgres } from "../support/postgres.ts";
import { type Settings, startService } from "../support/service.ts";

const postgres = await sharePostgres();
let databases = 0;

/** Engines, each with the settings of a new database, for `describe.each`. */
export const ENGINES: readonly (readonly [name: string, settingsOf: () => Promise<Settings>])[] = [
  ["SQLite", async () => ({})],
  ["PostgreSQL", async () => ({ DATABASE_URL: await postgres.url(`events${++databases}`) })],
];

/** Creates a store with these settings, and opens it once Curt has closed it. */
export async function openUnserved(folder: string, settings: Settings) {
  const service = await startService({ ...settings, DATA_DIR: folder }, { folder });
  await service[Symbol.asyncDispose]();
  return openStatements(service.database);
}
