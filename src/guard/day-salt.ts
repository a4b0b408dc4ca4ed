import type { Clock } from "../links/clock.ts";
import { DAY_MS } from "../links/time.ts";
import type { VisitStore } from "../visits/store.ts";

export interface DaySaltOptions {
  readonly store: Pick<VisitStore, "salt">;
  readonly clock: Pick<Clock, "nowMs" | "trustworthy">;
  /** Fills an array with bytes from a CSPRNG. */
  readonly fillRandom: (bytes: Uint8Array) => void;
}

/** The salt that all processes share for the present day (UTC) and then forget. Asks the store once a day. */
export function createDaySalt({ store, clock, fillRandom }: DaySaltOptions) {
  let known: { readonly day: number; readonly salt: Promise<Uint8Array> } | undefined;

  /** Making a salt tells later starts that the clock was right. */
  async function makeSalt(day: number): Promise<Uint8Array> {
    if (clock.trustworthy()) return store.salt(day, day);
    const own = new Uint8Array(32);
    fillRandom(own);
    return own;
  }

  async function saltOf(day: number): Promise<Uint8Array> {
    if (known?.day !== day) known = { day, salt: makeSalt(day) };
    const { salt } = known;
    try {
      return await salt;
    } catch (error) {
      // Whoever asks next tries again.
      if (known?.salt === salt) known = undefined;
      throw error;
    }
  }

  return async () => {
    const day = Math.floor(clock.nowMs() / DAY_MS);
    return { day, salt: await saltOf(day) };
  };
}

/** A keyed hash. `length` is in hexadecimal digits. */
export function saltedHash(salt: Uint8Array, text: string, length: number): string {
  return new Bun.CryptoHasher("sha256", salt).update(text).digest("hex").slice(0, length);
}
