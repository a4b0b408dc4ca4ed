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
