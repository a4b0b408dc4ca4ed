import { type DatabaseAddress, describeStore } from "../../config/database-url.ts";
import type { Kind } from "../../store/shared/records.ts";

type Thing = Kind | "visits";

const NAMES: Readonly<Record<Thing, readonly [singular: string, plural: string]>> = {
  link: ["link", "links"],
  day: ["day of visits", "days of visits"],
  visits: ["visit", "visits"],
  secret: ["secret", "secrets"],
  host: ["host rule", "host rules"],
  entry: ["journal entry", "journal entries"],
  replaced: ["replaced value", "replaced values"],
  case: ["case", "cases"],
  counter: ["counter", "counters"],
  request: ["keyed request", "keyed requests"],
};

/** Formats a number of records, such as "1 link" and "2,000 links". */
export function formatCount(kind: Thing, count: number): string {
  const [singular, plural] = NAMES[kind];
  return `${count.toLocaleString("en")} ${count === 1 ? singular : plural}`;
}

/** The message of commands that don't create a store. */
export function noStore(database: DatabaseAddress): string {
  return `there is no store at ${describeStore(database)}. Set DATABASE_URL or DATA_DIR and the other settings as for the server.`;
}
