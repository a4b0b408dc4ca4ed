import { clientSharers, clientSite } from "../../lib/client-address.ts";
import { type Code, keyOf } from "../../links/code.ts";
import type { LinkId } from "../../links/link-store.ts";
import type { RateLimits } from "../../moderation/rate-limits.ts";
import type { Call } from "../call.ts";
import type { Limited } from "../problems.ts";
import type { Refusals } from "./refusals.ts";

export interface Try {
  /** The client, its /48 and the link, each of which gets only a share of all checks. */
  readonly sharers: readonly string[];
  /** Counts a check of any outcome. */
  countCheck(): void;
  /** Gives back the try of a right password. */
  undo(): void;
  /** The remaining tries (infinite without a limit), and the seconds until there is one. */
  remaining(): { readonly tries: number; readonly seconds: number };
}

/** Counts a try of a link's password, or returns the problem if the client or the link had too many. */
export type TryPassword = (call: Call, link: LinkId<Code>) => Try | Promise<Limited>;

export function createPasswordTries(
  limits: RateLimits,
  { clientOf, describe, refuse }: Refusals,
): TryPassword {
  return (call, { code, createdMs }) => {
    const link = `${keyOf(call.domain.keyPrefix, code)} ${createdMs}`;
    const client = clientOf(call);
    const site = clientSite(client);
    const limitsOfTry = [
      { limit: limits.password, counted: client },
      { limit: limits.passwordOfLink, counted: link },
      { limit: site === undefined ? undefined : limits.passwordOfSite, counted: `${site} ${link}` },
    ].flatMap(({ limit, counted }) => (limit === undefined ? [] : [{ limit, counted }]));
    const waitForTry = () => Math.max(0, ...limitsOfTry.map(({ limit, counted }) => limit.wait(counted)));
    const wait = () => Math.max(waitForTry(), limits.passwordCheck?.wait(client) ?? 0);
    describe(call, "password");
    if (wait() > 0) return refuse(call, "password", 1, wait);
    for (const { limit, counted } of limitsOfTry) limit.take(counted);
    return {
      sharers: [...clientSharers(client), link],
      countCheck: () => void limits.passwordCheck?.take(client),
      undo() {
        for (const { limit, counted } of limitsOfTry) limit.giveBack(counted);
      },
      remaining() {
        const allowances = limitsOfTry.flatMap(({ limit, counted }) => limit.allowances(counted));
        return { tries: Math.min(...allowances.map(({ left }) => left)), seconds: waitForTry() };
      },
    };
  };
}
