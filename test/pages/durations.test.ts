import { expect, test } from "bun:test";

import { whenIn } from "../../src/locales/relative-time.ts";
import { amount, duration } from "../../src/pages/shared/in-words.ts";

test.each([
  ["en", "10 minutes", "30 days", "in 3 hours"],
  ["ko", "10분", "30일", "3시간 후"],
  ["ja", "10分", "30日", "3時間後"],
])(
  "amounts, durations and times from now are in the reader's language (%s)",
  (language, minutes, days, hours) => {
    expect(amount(language, 10, "minute")).toBe(minutes);
    expect(duration(language, 30 * 86_400_000 + 1)).toBe(days);
    expect(whenIn(language, 3 * 3600 - 1)).toBe(hours);
  },
);

test.each([
  [1, "in 1 second"],
  [120, "in 120 seconds"],
  [121, "in 3 minutes"],
  [7200, "in 120 minutes"],
  [7201, "in 3 hours"],
])("%d seconds from now are written as %j", (seconds, text) => {
  expect(whenIn("en", seconds)).toBe(text);
});
