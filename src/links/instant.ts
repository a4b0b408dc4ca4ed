import { type Duration, DURATIONS } from "./expiry.ts";
import { DAY_MS } from "./time.ts";

const RFC_3339 = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.(\d+))?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/i;
const MINUTE_MS = 60_000;

/** Reads when something begins or ends: an instant, or how long from now. Undefined if it is neither. */
export function parseWhen(written: string): Duration | number | undefined {
  return DURATIONS.find((duration) => duration === written) ?? parseInstant(written);
}

/**
 * Reads an instant as RFC 3339 writes it, in Unix milliseconds. Nothing is rolled over: 30 February and 24:00 are not
 * instants. Neither is a leap second, because those of the future are unknown.
 */
export function parseInstant(written: string): number | undefined {
  const [, date = "", time = "", fraction = "", sign, hours, minutes] = RFC_3339.exec(written) ?? [];
  const local = `${date}T${time}.${fraction.slice(0, 3).padEnd(3, "0")}Z`;
  const localMs = Date.parse(local);
  if (Number.isNaN(localMs) || new Date(localMs).toISOString() !== local) return undefined;
  const offsetMs = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * MINUTE_MS;
  // So that none gets a year before 0000.
  return Math.max(0, sign === "-" ? localMs + offsetMs : localMs - offsetMs);
}

export function isoInstant(ms: number): string {
  return new Date(ms).toISOString();
}

/** A day since 1970-01-01, as 2026-11-21. */
export function isoDay(day: number): string {
  return isoInstant(day * DAY_MS).slice(0, "2026-11-21".length);
}
