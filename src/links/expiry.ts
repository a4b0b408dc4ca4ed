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

export const DURATIONS = Object.keys(DURATIONS_MS) as [Duration, ...Duration[]];

/** When a link made at `createdMs` ends. */
export function endsMs(createdMs: number, expiry: Expiry): number {
  return expiry === "never" ? NEVER_MS : createdMs + DURATIONS_MS[expiry];
}
