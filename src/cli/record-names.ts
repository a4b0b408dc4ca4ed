import { type DatabaseAddress, describeStore } from "../config/database-url.ts";
import type { Kind } from "../store/records.ts";

type Thing = Kind | "visits";

/** The plural names of records in messages. */
const NAMES: Readonly<Record<Thing, string>> = {
  link: "links",
  day: "days of visits",
  visits: "visits",
  secret: "secrets",
  host: "host rules",
  entry: "journal entries",
  case: "cases",
  counter: "counters",
  request: "keyed requests",
};

/** Their singular names. */
const SINGLE: typeof NAMES = {
  link: "link",
  day: "day of visits",
  visits: "visit",
  secret: "secret",
  host: "host rule",
  entry: "journal entry",
  case: "case",
  counter: "counter",
  request: "keyed request",
};

/** Such as "1 link" and "2,000 links". */
export function counted(kind: Thing, count: number): string {
  return `${count.toLocaleString("en")} ${(count === 1 ? SINGLE : NAMES)[kind]}`;
}

/** The message of a command that doesn't create a missing store. */
export function noStore(database: DatabaseAddress): string {
  return `there is no store at ${describeStore(database)}. Set DATABASE_URL and the other settings as for the server.`;
}
