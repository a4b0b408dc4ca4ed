import { MAX_DAY_VALUES, countVisitors } from "../days/day.ts";
import type { DayDetail, Value } from "../days/detail.ts";
import { DIMENSIONS } from "../days/dimensions.ts";

/**
 * The privacy loss of one published number (differential privacy): one visit changes the odds of any result by at most a
 * factor of e^ε = 1.65. The standard deviation of an offset is 2.8.
 */
export const EPSILON = 0.5;
/** Values with fewer visits on a day, noise included, are added to the others. */
export const MIN_SHOWN_VISITS = 5;
/**
 * A dimension with more values, noise included, is not shown. A day keeps {@link MAX_DAY_VALUES} of them, and one more
 * would remove another with all its visits, which no noise hides. Noise bridges the difference once in 240 times.
 */
const MAX_SHOWN_VALUES = MAX_DAY_VALUES - 10;

/** Returns the offset of a number. `name` identifies the number, and always has the same offset. */
export type Noise = (name: readonly (string | number)[]) => number;

/** Bytes for each of two uniform numbers: the maximum of `readUIntBE`. */
const BYTES = 6;

/**
 * Draws integer offsets k from the two-sided geometric distribution: the probability is proportional to e^(−ε·|k|)
 * (Ghosh, Roughgarden and Sundararajan, "Universally utility-maximizing privacy mechanisms", 2009). Nobody can compute
 * an offset without the key. It never changes, so that repeated requests can't average it out.
 */
export function createNoise(key: string): Noise {
  // A copy takes half the time of a new one.
  const keyed = new Bun.CryptoHasher("sha256", key);
  return (name) => {
    const digest = keyed.copy().update(JSON.stringify(name)).digest();
    return geometric(digest.readUIntBE(0, BYTES)) - geometric(digest.readUIntBE(BYTES, BYTES));
  };
}

/** Turns a uniform number into one that is n or more with probability e^(−ε·n). */
function geometric(drawn: number): number {
  return Math.floor(-Math.log((drawn + 1) / 256 ** BYTES) / EPSILON);
}

/** The public version of a day that is over. `visits` are its visits by people, which are public. */
export function blur(day: DayDetail, visits: number, offsetOf: (...name: string[]) => number): DayDetail {
  const blurred: DayDetail = {
    ...day,
    visitors: countVisitors(day) + offsetOf("visitors"),
    values: {},
    others: {},
  };
  for (const dimension of DIMENSIONS) {
    const exact = day.values[dimension] ?? [];
    const noisy = exact.map(([text, ofValue]): Value => [text, ofValue + offsetOf(dimension, text)]);
    // With fewer visits, a shown value would be wrong for sure.
    const isShown = visits >= MIN_SHOWN_VISITS && exact.length + offsetOf(dimension) <= MAX_SHOWN_VALUES;
    const shown = isShown ? noisy.filter(([, ofValue]) => ofValue >= MIN_SHOWN_VISITS) : [];
    blurred.values[dimension] = shown;
    // Noise may make it negative. A sum of many days evens that out.
    blurred.others[dimension] = (day.others[dimension] ?? 0) + visitsOf(exact) - visitsOf(shown);
  }
  return blurred;
}

function visitsOf(values: readonly Value[]): number {
  return values.reduce((sum, [, visits]) => sum + visits, 0);
}
