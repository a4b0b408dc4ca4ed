/** All instants are Unix milliseconds. */
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/**
 * 9999-12-31T00:00:00.000Z. The API returns it as the `expiration_date` of links that never end. It is not the last
 * second of the year, because that is in the year 10000 in zones east of UTC, which Python cannot represent.
 */
export const NEVER_MS = 253_402_214_400_000;
const NEVER = "9999-12-31T00:00:00.000Z";

/** The durations that the API accepts. A month is always 30 days. */
export const DURATIONS_MS = {
  "24h": DAY_MS,
  "48h": 2 * DAY_MS,
  "1week": 7 * DAY_MS,
  "1month": 30 * DAY_MS,
} as const;

export type Duration = keyof typeof DURATIONS_MS;
export type Expiry = Duration | "never";
/** A number is an instant. */
export type When = Expiry | number;

export const DURATIONS = Object.keys(DURATIONS_MS) as [Duration, ...Duration[]];

const RFC_3339 = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.(\d+))?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/i;

/** The instant that a duration from `fromMs` or an instant names. */
export function instantOf(fromMs: number, when: When): number {
  if (typeof when === "number") return Math.min(when, NEVER_MS);
  return when === "never" ? NEVER_MS : fromMs + DURATIONS_MS[when];
}

/** Reads an instant or a duration from now. Undefined if it is neither. */
export function parseWhen(written: string): Duration | number | undefined {
  return DURATIONS.find((duration) => duration === written) ?? parseInstant(written);
}

/**
 * Reads an RFC 3339 timestamp. Nothing is rolled over: 30 February and 24:00 are refused, and so are leap seconds,
 * because future ones are unknown.
 */
export function parseInstant(written: string): number | undefined {
  const [, date = "", time = "", fraction = "", sign, hours, minutes] = RFC_3339.exec(written) ?? [];
  const local = `${date}T${time}.${fraction.slice(0, 3).padEnd(3, "0")}Z`;
  const localMs = Date.parse(local);
  if (Number.isNaN(localMs) || new Date(localMs).toISOString() !== local) return undefined;
  const offsetMs = Number(hours ?? 0) * HOUR_MS + Number(minutes ?? 0) * MINUTE_MS;
  // So that none gets a year before 0000.
  return Math.max(0, sign === "-" ? localMs + offsetMs : localMs - offsetMs);
}

export function isoInstant(ms: number): string {
  // Most links never end.
  return ms === NEVER_MS ? NEVER : new Date(ms).toISOString();
}

/** A day since 1970-01-01, as 2026-11-21. */
export function isoDay(day: number): string {
  return isoInstant(day * DAY_MS).slice(0, "2026-11-21".length);
}
