import { MAX_DAY_VALUES, countVisitors } from "../day.ts";
import type { DayDetail, Value } from "../detail.ts";
import { DIMENSIONS } from "../dimensions.ts";

/**
 * The privacy loss of one published number (differential privacy): a visit more or less changes the odds of reading
 * any result by at most a factor of e^ε = 1.65. The standard deviation of an offset is 2.8.
 */
const EPSILON = 0.5;
/** Values with fewer visits on a day, noise included, are added to the others. */
export const FEWEST_VISITS = 5;
/**
 * A dimension with more values, noise included, is not shown. A day keeps {@link MAX_DAY_VALUES} of them, and one too many
 * costs another one all its visits, which no noise hides. Noise bridges the difference once in 240 times.
 */
const MOST_VALUES = MAX_DAY_VALUES - 10;

/** Returns the offset of a number. `name` tells it from every other number; the same name always has the same offset. */
export type Noise = (name: readonly (string | number)[]) => number;

/** Bytes that are drawn for each of two uniform numbers: the most that `readUIntBE` takes. */
const BYTES = 6;

/**
 * Draws whole offsets k from the two-sided geometric distribution: the probability is proportional to e^(−ε·|k|)
 * (Ghosh, Roughgarden and Sundararajan, "Universally utility-maximizing privacy mechanisms", 2009). Nobody can compute
 * an offset without the key. It stays the same however often somebody asks, so it cannot be averaged out.
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

/** What everyone may see of a day that is over. `visits` are its visits by people, which are public. */
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
    // Anyone knows that nothing can have five of four visits.
    const isShown = visits >= FEWEST_VISITS && exact.length + offsetOf(dimension) <= MOST_VALUES;
    const shown = isShown ? noisy.filter(([, ofValue]) => ofValue >= FEWEST_VISITS) : [];
    blurred.values[dimension] = shown;
    // Noise may make it negative. A sum of many days evens that out.
    blurred.others[dimension] = (day.others[dimension] ?? 0) + visitsOf(exact) - visitsOf(shown);
  }
  return blurred;
}

function visitsOf(values: readonly Value[]): number {
  return values.reduce((sum, [, visits]) => sum + visits, 0);
}
