import { type DatabaseAddress, describeStore } from "../settings/database-url.ts";
import type { Counts } from "../store/records.ts";

/** What records are called in messages. */
export const NAMES: Readonly<Record<keyof Counts, string>> = {
  link: "links",
  disabled: "disabled links",
  ending: "links with an end",
  day: "days of visits",
  visits: "visits",
  bots: "visits of programs",
  salt: "salts",
  secret: "secrets",
  host: "host rules",
  entry: "journal entries",
  case: "cases",
  reporter: "reporters of today",
  counter: "counters",
};

/** What a command says that makes no store. */
export function noStore(database: DatabaseAddress): string {
  return `there is no store at ${describeStore(database)}. Set DATABASE_URL and the other settings as for the server.`;
}
