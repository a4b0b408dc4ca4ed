import { memoize } from "../lib/memoize.ts";
import { sentenceSpace } from "./messages.ts";

const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 3600;

/** "in 12 seconds", "in 3 hours". Rounded up. */
export function whenIn(language: string, seconds: number): string {
  const [count, unit] =
    seconds <= 2 * MINUTE_SECONDS
      ? ([seconds, "second"] as const)
      : seconds <= 2 * HOUR_SECONDS
        ? ([seconds / MINUTE_SECONDS, "minute"] as const)
        : ([seconds / HOUR_SECONDS, "hour"] as const);
  return relativeTime(language).format(Math.ceil(count), unit);
}

/** "3 days ago". Rounded down. */
export function whenAgo(language: string, seconds: number): string {
  const [unitSeconds, unit] =
    seconds < HOUR_SECONDS
      ? ([MINUTE_SECONDS, "minute"] as const)
      : seconds < 48 * HOUR_SECONDS
        ? ([HOUR_SECONDS, "hour"] as const)
        : ([24 * HOUR_SECONDS, "day"] as const);
  return relativeTime(language).format(-Math.max(1, Math.floor(seconds / unitSeconds)), unit);
}

export const relativeTime = memoize(
  (language) => new Intl.RelativeTimeFormat(language, { style: timeStyle(language) }),
);

/** The long names of Japanese units have a space before them, which nobody writes. */
export function timeStyle(language: string): "narrow" | "long" {
  return sentenceSpace(language) === "" ? "narrow" : "long";
}
