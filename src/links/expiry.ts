import { NEVER_MS } from "./link.ts";
import { HOUR_MS } from "./time.ts";

/** The durations that the API accepts, in milliseconds. A month is always 30 days. */
export const DURATIONS_MS = {
  "24h": 24 * HOUR_MS,
  "48h": 48 * HOUR_MS,
  "1week": 7 * 24 * HOUR_MS,
  "1month": 30 * 24 * HOUR_MS,
} as const;

export type Duration = keyof typeof DURATIONS_MS;
export type Expiry = Duration | "never";
/** A number is an instant. */
export type When = Expiry | number;

export const DURATIONS = Object.keys(DURATIONS_MS) as [Duration, ...Duration[]];

/** When a link made or changed at `fromMs` ends. */
export function endsMs(fromMs: number, expiry: When): number {
  if (typeof expiry === "number") return Math.min(expiry, NEVER_MS);
  return expiry === "never" ? NEVER_MS : fromMs + DURATIONS_MS[expiry];
}
