import { DAY_MS, HOUR_MS } from "../../links/time.ts";
import type { DayStatistics } from "./day-reader.ts";
import { writeDay, type Zone } from "./zone.ts";

const DAYS = 7;
/** 1970-01-01 was a Thursday, three days after a Monday. */
const FIRST_WEEKDAY = 3;

/** Visits by the day of the week and the hour, in the reader's time zone. */
export interface Week {
  /** Dates of the first and the last day. These are whole weeks, so that each weekday counts equally often. */
  readonly from: string;
  readonly to: string;
  /** Visits of each hour, from Monday 0:00 to Sunday 23:00. */
  readonly visits: readonly number[];
}

/**
 * Adds up the last whole weeks between two days of a zone, from the last day without known hours. Undefined if there is
 * no whole week. When clocks are set back, the repeated hour has the visits of both.
 */
export function weekOf(
  days: readonly DayStatistics[],
  { first, last }: { readonly first: number; readonly last: number },
  zone: Zone,
): Week | undefined {
  let start = first;
  for (const { day, hours } of days) {
    if (hours === undefined) start = Math.max(start, zone.dayOf((day + 1) * DAY_MS - 1) + 1);
  }
  const weeks = Math.floor((last + 1 - start) / DAYS);
  if (weeks < 1) return undefined;
  const from = last + 1 - weeks * DAYS;
  const visits = Array.from({ length: DAYS * 24 }, () => 0);
  for (const { day, hours = NO_HOURS } of days) {
    for (let at = 0; at < hours.length; at += 3) {
      const hour = zone.hourOf(day * DAY_MS + (hours[at] ?? 0) * HOUR_MS);
      if (hour < from * 24 || hour >= (last + 1) * 24) continue;
      const place = (hour + FIRST_WEEKDAY * 24) % visits.length;
      visits[place] = (visits[place] ?? 0) + (hours[at + 1] ?? 0);
    }
  }
  return { from: writeDay(from), to: writeDay(last), visits };
}

const NO_HOURS = new Uint32Array();
