import { type DatabaseAddress, describeStore } from "../config/database-url.ts";
import type { Counts } from "../store/records.ts";

type Kind = keyof Counts;

/** What records are called in messages. */
export const NAMES: Readonly<Record<Kind, string>> = {
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

/** What a single one is called. */
const SINGLE: typeof NAMES = {
  link: "link",
  disabled: "disabled link",
  ending: "link with an end",
  day: "day of visits",
  visits: "visit",
  bots: "visit of a program",
  salt: "salt",
  secret: "secret",
  host: "host rule",
  entry: "journal entry",
  case: "case",
  reporter: "reporter of today",
  counter: "counter",
};

/** Such as "1 link" and "2,000 links". */
export function counted(kind: Kind, count: number): string {
  return `${count.toLocaleString("en")} ${(count === 1 ? SINGLE : NAMES)[kind]}`;
}

/** What a command says that makes no store. */
export function noStore(database: DatabaseAddress): string {
  return `there is no store at ${describeStore(database)}. Set DATABASE_URL and the other settings as for the server.`;
}
