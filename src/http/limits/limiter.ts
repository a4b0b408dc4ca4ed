import { clientSharers } from "../../lib/client-address.ts";
import { isProblem } from "../../links/problem.ts";
import type { Counters } from "../../moderation/counters.ts";
import type { RateLimitName, RateLimits } from "../../moderation/rate-limits.ts";
import type { Call, Handler } from "../call.ts";
import type { Limited } from "../problems.ts";
import type { Refusals } from "./refusals.ts";

export interface Limiter {
  /**
   * Counts each request against this limit, before its outcome is known, so that concurrent requests cannot pass it together.
   * Failures are given back. `refuse` answers a client over the limit.
   */
  limit(name: RateLimitName, handle: Handler, refuse?: Refuse): Handler;
  /**
   * Counts several things, all or none, at most `most`. Returns a function that gives back failures, or the problem of a
   * client over the limit.
   */
  take(call: Call, name: RateLimitName, things: number): GiveBack | Promise<Limited>;
  /** How many things an idle client may do at once. */
  most(name: RateLimitName): number;
  /** How many things the client may do now. */
  remaining(call: Call, name: RateLimitName): number;
  /** Refuses a client with nothing remaining. */
  refuse(call: Call, name: RateLimitName): Promise<Limited>;
  /**
   * Counts a refused create as a view, because a refusal costs as much and may reveal a code. Refuses a client without views
   * before it reads the body.
   */
  attempt(handle: Handler): Handler;
  /** Counts refused items of a batch, or a replay, as views, even beyond the limit. */
  chargeRefused(call: Call, parts: number): void;
  /** Counts taken codes of a batch as unknown ones, even beyond the limit, because its response reveals them. */
  chargeTaken(call: Call, codes: number): void;
  /** Counts every request that is more expensive than a redirect, and unknown codes against their own limit. */
  view(handle: Handler): Handler;
  /**
   * Counts an unknown address, and further look-ups for it: `things` in all. A returned problem is the response instead of
   * 404.
   */
  unknown(call: Call, things?: number): Promise<Limited> | undefined;
  /** Whether a client tried too many unknown addresses. Curt then neither redirects it nor looks up anything for it. */
  isBarred(call: Call): boolean;
  /** The problem of a barred client. */
  barred(call: Call): Promise<Limited> | undefined;
  /** The client and its /48, which share limited places such as those of a queue. */
  sharers(call: Call): readonly string[];
}

type GiveBack = (failed: number) => void;

type Refuse = (call: Call, problem: Limited) => Response | Promise<Response>;

/** Also counts unknown addresses for the instance's figures. */
export function createLimiter(
  limits: RateLimits,
  { clientOf, describe, refuse: refusal }: Refusals,
  counters: Pick<Counters, "count">,
  refuse: Refuse,
): Limiter {
  const { scan } = limits;

  /** Returns false if the client has to wait. */
  function take(call: Call, name: RateLimitName, things = 1): boolean {
    const limit = limits[name];
    if (limit === undefined) return true;
    describe(call, name);
    return limit.take(clientOf(call), things) === 0;
  }

  function count(call: Call, name: RateLimitName, things: number): GiveBack | Promise<Limited> {
    if (!take(call, name, things)) return refusal(call, name, things);
    return (failed) => {
      if (failed > 0) limits[name]?.giveBack(clientOf(call), failed);
    };
  }

  function unknown(call: Call, things = 1): Promise<Limited> | undefined {
    counters.count("unknown");
    const counted = Math.min(things, limits.unknown?.most ?? things);
    scan?.take(clientOf(call), counted);
    return take(call, "unknown", counted) ? undefined : refusal(call, "unknown");
  }

  /** Reading the address would cost a redirect a tenth of its time, so this first checks whether anybody is barred. */
  function isBarred(call: Call): boolean {
    return scan !== undefined && scan.isAnyWaiting() && scan.wait(clientOf(call)) > 0;
  }

  function refuseNow(call: Call, name: RateLimitName): Promise<Limited> {
    describe(call, name);
    return refusal(call, name);
  }

  const barred = (call: Call) => (isBarred(call) ? refuseNow(call, "unknown") : undefined);

  return {
    limit(name, handle, refuseOver = refuse) {
      if (limits[name] === undefined) return handle;
      return async (call) => {
        const undo = await count(call, name, 1);
        if (isProblem(undo)) return refuseOver(call, undo);
        let response: Response | undefined;
        try {
          response = await handle(call);
          return response;
        } finally {
          if (response === undefined || response.status >= 400) undo(1);
        }
      };
    },

    take: count,
    refuse: refuseNow,
    most: (name) => limits[name]?.most ?? Number.POSITIVE_INFINITY,
    remaining(call, name) {
      const limit = limits[name];
      if (limit === undefined) return Number.POSITIVE_INFINITY;
      return Math.max(0, Math.min(...limit.allowances(clientOf(call)).map(({ left }) => left)));
    },

    attempt(handle) {
      const { view } = limits;
      if (view === undefined && scan === undefined) return handle;
      return async (call) => {
        const problem = barred(call);
        if (problem !== undefined) return refuse(call, await problem);
        const client = clientOf(call);
        if ((view?.take(client) ?? 0) > 0) return refuse(call, await refuseNow(call, "view"));
        let status = 500;
        try {
          const response = await handle(call);
          ({ status } = response);
          // A taken code reveals as much as a redirect.
          const over = status === 409 ? unknown(call) : undefined;
          return over === undefined ? response : refuse(call, await over);
        } finally {
          if (status >= 400 && status < 500) describe(call, "view");
          else view?.giveBack(client);
        }
      };
    },

    chargeRefused(call, parts) {
      if (limits.view === undefined || parts === 0) return;
      limits.view.charge(clientOf(call), parts);
      describe(call, "view");
    },

    chargeTaken(call, codes) {
      if (codes === 0) return;
      counters.count("unknown");
      scan?.charge(clientOf(call), codes);
      limits.unknown?.charge(clientOf(call), codes);
      describe(call, "unknown");
    },

    view(handle) {
      return async (call) => {
        if (!take(call, "view")) return refuse(call, await refusal(call, "view"));
        const problem = barred(call);
        if (problem !== undefined) return refuse(call, await problem);
        const response = await handle(call);
        const over = response.status === 404 ? unknown(call) : undefined;
        return over === undefined ? response : refuse(call, await over);
      };
    },

    unknown,
    isBarred,
    barred,

    sharers: (call) => clientSharers(clientOf(call)),
  };
}
