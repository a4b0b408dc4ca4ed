import { type DatabaseAddress, describeStore } from "../config/database-url.ts";
import type { Kind } from "../store/records.ts";

type Thing = Kind | "visits";

/** What records are called in messages. */
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

/** What a single one is called. */
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

/** What a command says that makes no store. */
export function noStore(database: DatabaseAddress): string {
  return `there is no store at ${describeStore(database)}. Set DATABASE_URL and the other settings as for the server.`;
}
