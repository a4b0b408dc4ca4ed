import { memoize } from "../../lib/memoize.ts";
import { DAY_MS, HOUR_MS } from "../../links/time.ts";
import { message, type MessageKey, sentenceSpace } from "../../locales/messages.ts";
import type { Child } from "./html/jsx-runtime.ts";

const MINUTE_MS = 60_000;
const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 3600;

/** "30 days", "12 hours". Rounded down, so that nothing is promised for longer. */
export function duration(language: string, ms: number): string {
  const seconds = ms / 1000;
  const [count, unit] =
    seconds < 2 * MINUTE_SECONDS
      ? ([seconds, "second"] as const)
      : seconds < 2 * HOUR_SECONDS
        ? ([seconds / MINUTE_SECONDS, "minute"] as const)
        : seconds < 48 * HOUR_SECONDS
          ? ([seconds / HOUR_SECONDS, "hour"] as const)
          : ([seconds / (24 * HOUR_SECONDS), "day"] as const);
  return amount(language, Math.floor(count), unit);
}

/** "10 minutes". Japanese units have a space before them, which nobody writes. */
export function amount(language: string, count: number, unit: string): string {
  const text = count.toLocaleString(language, { style: "unit", unit, unitDisplay: "long" });
  return sentenceSpace(language) === "" ? text.replace(/\s/, "") : text;
}

/** "26h", "3d": how long something takes or took, as short as possible. Rounded down to at least a minute. */
export function age(language: string, ms: number): string {
  const [count, unit] =
    ms < HOUR_MS
      ? ([ms / MINUTE_MS, "minute"] as const)
      : ms < 3 * DAY_MS
        ? ([ms / HOUR_MS, "hour"] as const)
        : ([ms / DAY_MS, "day"] as const);
  return Math.max(1, Math.floor(count)).toLocaleString(language, {
    style: "unit",
    unit,
    // In Japanese, narrow units are Latin letters.
    unitDisplay: sentenceSpace(language) === "" ? "short" : "narrow",
  });
}

export const numberFormat = memoize((language) => {
  const format = new Intl.NumberFormat(language);
  const memoized = memoize((number) => format.format(Number(number)));
  return { format: (number: number) => memoized(String(number)) };
});

/** A message whose placeholders are filled with elements. */
export function richMessage(
  language: string,
  key: MessageKey,
  children: Readonly<Record<string, Child>>,
): Child {
  return message(language, key)
    .split(/\{(\w+)\}/)
    .map((part, nth) => (nth % 2 === 1 ? children[part] : part));
}

/** Sentences with the language's space between them. Omits undefined and false. */
export function sentences(language: string, ...parts: readonly Child[]): Child {
  const space = sentenceSpace(language);
  return parts
    .filter((part) => part !== undefined && part !== false)
    .map((part, nth) => (nth === 0 ? part : [space, part]));
}
