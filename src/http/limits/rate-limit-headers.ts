import type { Allowance } from "../../moderation/cell-rate.ts";
import type { RateLimits } from "../../moderation/rate-limits.ts";
import type { Call } from "../call.ts";
import type { Refusals } from "./refusals.ts";

/** Describes in headers the state of the limits that a request counted against, at least one. Returns the same response. */
export type AddLimitHeaders = (call: Call, response: Response) => Response;

export function createLimitHeaders(
  limits: RateLimits,
  { clientOf }: Pick<Refusals, "clientOf">,
): AddLimitHeaders {
  return (call, response) => {
    // A shared cache would give it to other clients.
    if (response.headers.get("cache-control")?.startsWith("public") === true) return response;
    const windows = call.limits.flatMap((name) =>
      (limits[name]?.allowances(clientOf(call)) ?? []).map((allowance, nth) => ({
        // Every window is a policy, and policies have different names.
        name: nth === 0 ? name : `${name}-${nth + 1}`,
        ...allowance,
      })),
    );
    // A refusal lists only exhausted windows, so that Retry-After is never before the `t` of one of them.
    const current = response.status === 429 ? windows.filter(({ left }) => left === 0) : windows;
    response.headers.set("RateLimit-Policy", windows.map(policy).join(", "));
    if (current.length > 0) response.headers.set("RateLimit", current.map(state).join(", "));
    return response;
  };
}

type NamedAllowance = Allowance & { readonly name: string };

/** draft-ietf-httpapi-ratelimit-headers-11, section 3.1: how much in how many seconds. */
function policy({ name, count, ms }: NamedAllowance): string {
  return `"${name}";q=${count};w=${ms / 1000}`;
}

/** Section 4.1: how much remains, and for how many seconds there won't be more. */
function state({ name, left, seconds }: NamedAllowance): string {
  return `"${name}";r=${left};t=${seconds}`;
}
