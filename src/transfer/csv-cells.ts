// Reads the cells of a table. Each throws {@link BrokenLine} if a cell is not what it should be.
import { DAY_MS } from "../links/time.ts";
import { BrokenLine } from "./record-fields.ts";

/** NULL is what `mysql --batch` writes. */
const NOTHING = /^(?:|NULL)$/;
const NO_DATE = /^(?:0|0000-00-00.*)$/;
const UNIX_TIME = /^\d{9,14}$/;
/** Unix time from here on is in milliseconds (1978), before in seconds (9999, which some write for never). */
const MIN_MS = 253_402_300_800;
const DATE =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?\s?(?:Z|UTC|([+-]\d\d)(?::?(\d\d))?)?$/;

export function count(cell = ""): number | undefined {
  if (NOTHING.test(cell)) return undefined;
  if (!/^\d{1,15}$/.test(cell)) throw new BrokenLine("its number of visits is no number");
  return Number(cell);
}

/** Reads ISO 8601, what databases write, and Unix time. Without a time zone it is UTC. */
export function instant(cell = ""): number | undefined {
  if (NOTHING.test(cell) || NO_DATE.test(cell)) return undefined;
  if (UNIX_TIME.test(cell)) return Number(cell) < MIN_MS ? Number(cell) * 1000 : Number(cell);
  const [, date, time = "00:00", hours = "+00", minutes = "00"] = DATE.exec(cell) ?? [];
  const ms = Date.parse(`${date}T${time}${hours}:${minutes}`);
  // A day that a month doesn't have could become one of the next month.
  const isDate = !Number.isNaN(ms) && new Date(`${date}T00:00Z`).toISOString().startsWith(`${date}T`);
  if (!isDate) throw new BrokenLine("one of its dates can't be read. Dates look like 2026-11-22T10:00:00Z");
  return ms;
}

/** Day 0 stands for visits without a date. */
export function dayOf(cell: string | undefined): number {
  return Math.max(0, Math.floor((instant(cell) ?? 0) / DAY_MS));
}
