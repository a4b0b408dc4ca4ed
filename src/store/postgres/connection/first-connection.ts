import { describeStore, type PostgresAddress } from "../../../config/database-url.ts";
// How the database is first reached, and how messages say why it is not.
import { StoreMisconfigured, StoreUnavailable, StoreUnusable } from "../../../links/store.ts";

export interface OpeningOptions {
  /** How long to wait for a database that does not answer, before it counts as unusable. Commands do not wait. */
  readonly openWaitMs?: number;
  /** Called once if the database has to be waited for. */
  readonly onWait?: (reason: string) => void;
}

const RETRY_EVERY_MS = 250;
/**
 * SQLSTATEs that no waiting cures: a wrong user or password, an unknown database, no schema to use, a missing privilege,
 * tables that are not Curt's.
 */
const REFUSED = /^(?:28...|3D000|3F000|42...)$/;

/**
 * Runs the first statements on a database. Throws {@link StoreUnusable} if it refuses them or does not answer in time, and
 * {@link StoreMisconfigured}.
 */
export async function reach<T>(
  address: PostgresAddress,
  { openWaitMs = 0, onWait = () => {} }: OpeningOptions,
  work: () => Promise<T>,
): Promise<T> {
  const giveUpMs = performance.now() + openWaitMs;
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const causes = causesOf(error);
      for (const cause of causes) if (cause instanceof StoreMisconfigured) throw cause;
      const reason = reasonOf(causes);
      const isRefused = causes.some(({ code = "" }) => REFUSED.test(code));
      if (isRefused || (error instanceof StoreUnavailable && performance.now() >= giveUpMs)) {
        const problem = isRefused ? "cannot be used" : "does not answer";
        throw new StoreUnusable(
          `${describeStore(address)} ${problem}: ${reason}. Check the address and the password.`,
          {
            cause: error,
          },
        );
      }
      if (!(error instanceof StoreUnavailable)) throw error;
      if (tries === 0) onWait(reason);
      await Bun.sleep(RETRY_EVERY_MS);
    }
  }
}

type Fault = Error & { readonly code?: string };

/** An error, what caused it, and so on. */
function causesOf(error: unknown): Fault[] {
  const causes: Fault[] = [];
  for (let cause = error; cause instanceof Error && causes.length < 8; cause = cause.cause)
    causes.push(cause);
  return causes;
}

/** The first cause says most. Several addresses of one host fail without a message. */
function reasonOf(causes: readonly Fault[]): string {
  const first = causes.at(-1);
  return first?.message || first?.code || "it cannot be reached";
}
