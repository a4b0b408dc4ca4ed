import { clientNetwork } from "../../lib/client-address.ts";
import type { Clock } from "../../links/clock.ts";
import type { LinkId } from "../../links/store.ts";
import { DAY_MS } from "../../links/time.ts";
import type { VisitStore } from "../../visits/store.ts";

/** In hexadecimal digits: 64 bits. */
const REPORTER_LENGTH = 16;

export interface ReporterOptions {
  readonly store: Pick<VisitStore, "salt">;
  readonly clock: Pick<Clock, "nowMs" | "trustworthy">;
  /** Fills an array with bytes from a CSPRNG. */
  readonly fillRandom: (bytes: Uint8Array) => void;
}

/**
 * Clients as numbers: keyed hashes of address and link under the salt of the day. So a client is known again on the same
 * day and the same link, and nowhere else.
 */
export function createReporters(options: ReporterOptions) {
  const saltNow = createDaySalt(options);

  return {
    async identify({ code, createdMs }: LinkId, address: string) {
      const { day, salt } = await saltNow();
      const text = ["reporter", clientNetwork(address), createdMs, code].join("\t");
      const hash = new Bun.CryptoHasher("sha256", salt).update(text).digest("hex");
      return { day, reporter: hash.slice(0, REPORTER_LENGTH) };
    },
  };
}

/** The salt that all processes share for the present day (UTC) and then forget. Asks the store once a day. */
function createDaySalt({ store, clock, fillRandom }: ReporterOptions) {
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
