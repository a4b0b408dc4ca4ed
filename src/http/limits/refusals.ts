import { clientNetwork } from "../../lib/client-address.ts";
import { memoize } from "../../lib/memoize.ts";
import type { MonotonicClock } from "../../links/clock.ts";
import type { Counters } from "../../moderation/counters.ts";
import type { RateLimitName, RateLimits } from "../../moderation/rate-limits.ts";
import type { Call } from "../call.ts";
import type { Limited } from "../problems.ts";
import { createRefusalQueue } from "./refusal-queue.ts";

export interface Refusals {
  /** The client as limits count it: an address, or a network of IPv6. All clients without an address are one. */
  clientOf(call: Call): string;
  /** Makes the headers of the response describe a limit. */
  describe(call: Call, name: RateLimitName): void;
  /**
   * Resolves with the problem of a client over a limit, later if there are many refusals. The client should wait until no limit
   * refuses `things`, and at least for `otherWait`, in seconds.
   */
  refuse(call: Call, name: RateLimitName, things?: number, otherWait?: () => number): Promise<Limited>;
}

/** Also counts refusals for the instance's figures. */
export function createRefusals(
  limits: RateLimits,
  clock: MonotonicClock,
  counters: Pick<Counters, "count">,
): Refusals {
  const networkOf = memoize(clientNetwork);
  const holdBackMs = createRefusalQueue(clock);
  const clientOf = (call: Call) => networkOf(call.client().address);

  return {
    clientOf,
    describe(call, name) {
      if (limits[name] !== undefined && !call.limits.includes(name)) call.limits = [...call.limits, name];
    },
    async refuse(call, limit, things = 1, otherWait = () => 0) {
      counters.count(`limited.${limit}`);
      const waitMs = holdBackMs();
      if (waitMs > 0) await Bun.sleep(waitMs);
      const names = call.limits.flatMap((name) => (name === "unknown" ? ([name, "scan"] as const) : [name]));
      const waits = names.map((name) => limits[name]?.wait(clientOf(call), things) ?? 0);
      // At least 1: a wait may have ended since the refusal.
      return { kind: "limited", limit, seconds: Math.max(1, otherWait(), ...waits) };
    },
  };
}
