import { memoize } from "../lib/memoize.ts";
import type { Clock } from "../links/clock.ts";
import { isProblem } from "../links/problem.ts";
import type { LinkId } from "../links/store.ts";
import { clientNetwork } from "../moderation/client-address.ts";
import type { Counters } from "../moderation/counters.ts";
import type { Allowance, RateLimitName, RateLimits } from "../moderation/rate-limits.ts";
import type { Call, Handler } from "./call.ts";
import { answerProblem, type Limited } from "./problems.ts";
import { createRefusalQueue } from "./refusal-queue.ts";

export interface Limiter {
  /**
   * Counts what `handle` does against this limit. What fails costs nothing in the end, but it is counted meanwhile, so that
   * concurrent requests cannot pass it together. `refuse` answers a client that has to wait.
   */
  limit(name: RateLimitName, handle: Handler, refuse?: Refuse): Handler;
  /**
   * The same for so many things, all or none. Returns what gives back those that failed, or the problem of a client that has
   * to wait. Give it at most `most` things.
   */
  take(call: Call, name: RateLimitName, things: number): GiveBack | Promise<Limited>;
  /** How many things this limit lets a client do at once, if it did nothing before. */
  most(name: RateLimitName): number;
  /** How many of them the client may do now. */
  left(call: Call, name: RateLimitName): number;
  /** Refuses a client that may do none of them now. */
  refuse(call: Call, name: RateLimitName): Promise<Limited>;
  /** Counts every request for something that costs more than a redirect. Unknown codes also count as such. */
  view(handle: Handler): Handler;
  /**
   * Counts an address that leads nowhere, and what else was looked up for it: so many `things`. The client gets the returned
   * problem, if any, instead of 404.
   */
  unknown(call: Call, things?: number): Promise<Limited> | undefined;
  /** The problem of a client that asked for so many unknown addresses that nothing is looked up for it now. */
  barred(call: Call): Promise<Limited> | undefined;
  /** Counts a try of a link's password, or returns the problem of a client or a link that had too many. */
  tryPassword(call: Call, link: LinkId): Try | Promise<Limited>;
  /** Tells the client in headers how far it has used the limits that its request counted against. */
  tell(call: Call, response: Response): Response;
}

type GiveBack = (failed: number) => void;

export interface Try {
  /** Who gets only a share of all checks: the client and the link. */
  readonly sharers: readonly string[];
  /** Counts a check, whatever comes of it. */
  countCheck(): void;
  /** A right password is not counted. */
  undo(): void;
  /** How many more the client has now, infinite without a limit; and in how many seconds it has one. */
  left(): { readonly tries: number; readonly seconds: number };
}

type Refuse = (call: Call, problem: Limited) => Response | Promise<Response>;

/** Also counts, for the figures of the instance, what is limited and what leads nowhere. */
export function createLimiter(
  limits: RateLimits,
  clock: Pick<Clock, "monotonicMs">,
  counters: Pick<Counters, "count">,
): Limiter {
  const networkOf = memoize(clientNetwork);
  const holdBackMs = createRefusalQueue(clock);

  /** An unknown address is also the key of all clients without one. */
  function clientOf(call: Call): string {
    return networkOf(call.client().address);
  }

  /** Makes the headers of the response describe a limit. */
  function describe(call: Call, name: RateLimitName): void {
    if (limits[name] !== undefined && !call.limits.includes(name)) call.limits = [...call.limits, name];
  }

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

  /** `limit` is the one that was passed. The wait is over when none of the limits refuses the request any more. */
  async function refusal(
    call: Call,
    limit: RateLimitName,
    things = 1,
    otherWait = () => 0,
  ): Promise<Limited> {
    counters.count(`limited.${limit}`);
    const waitMs = holdBackMs();
    if (waitMs > 0) await Bun.sleep(waitMs);
    const names = call.limits.flatMap((name) => (name === "unknown" ? ([name, "scan"] as const) : [name]));
    const waits = names.map((name) => limits[name]?.wait(clientOf(call), things) ?? 0);
    // At least 1, because time goes on between a refusal and this.
    return { kind: "limited", limit, seconds: Math.max(1, otherWait(), ...waits) };
  }

  function unknown(call: Call, things = 1): Promise<Limited> | undefined {
    counters.count("unknown");
    if (take(call, "unknown", Math.min(things, limits.unknown?.most ?? things))) return undefined;
    // Counts the refusals, which is what bars a client in the end.
    limits.scan?.take(clientOf(call));
    return refusal(call, "unknown");
  }

  function barred(call: Call): Promise<Limited> | undefined {
    if (limits.scan === undefined || limits.scan.wait(clientOf(call)) === 0) return undefined;
    describe(call, "unknown");
    return refusal(call, "unknown");
  }

  return {
    limit(name, handle, refuse = answerProblem) {
      if (limits[name] === undefined) return handle;
      return async (call) => {
        const undo = await count(call, name, 1);
        if (isProblem(undo)) return refuse(call, undo);
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
    refuse(call, name) {
      describe(call, name);
      return refusal(call, name);
    },
    most: (name) => limits[name]?.most ?? Number.POSITIVE_INFINITY,
    left(call, name) {
      const allowances = limits[name]?.allowances(clientOf(call)) ?? [];
      return Math.max(0, Math.min(...allowances.map(({ left }) => left)));
    },

    view(handle) {
      return async (call) => {
        if (!take(call, "view")) return answerProblem(call, await refusal(call, "view"));
        const problem = call.code === "" ? undefined : barred(call);
        if (problem !== undefined) return answerProblem(call, await problem);
        const response = await handle(call);
        const over = response.status === 404 ? unknown(call) : undefined;
        return over === undefined ? response : answerProblem(call, await over);
      };
    },

    unknown,
    barred,

    tryPassword(call, { code, createdMs }) {
      const link = `${code} ${createdMs}`;
      const client = clientOf(call);
      const waitForCheck = () => limits.passwordCheck?.wait(client) ?? 0;
      const isTaken = take(call, "password");
      if (!isTaken || waitForCheck() > 0 || (limits.passwordOfLink?.take(link) ?? 0) > 0) {
        if (isTaken) limits.password?.giveBack(client);
        const otherWait = () => Math.max(waitForCheck(), limits.passwordOfLink?.wait(link) ?? 0);
        return refusal(call, "password", 1, otherWait);
      }
      const allowances = () => [
        ...(limits.password?.allowances(client) ?? []),
        ...(limits.passwordOfLink?.allowances(link) ?? []),
      ];
      return {
        sharers: [client, link],
        countCheck: () => void limits.passwordCheck?.take(client),
        undo() {
          limits.password?.giveBack(client);
          limits.passwordOfLink?.giveBack(link);
        },
        left: () => ({
          tries: Math.min(...allowances().map(({ left }) => left)),
          seconds: Math.max(limits.password?.wait(client) ?? 0, limits.passwordOfLink?.wait(link) ?? 0),
        }),
      };
    },

    tell(call, response) {
      const told = call.limits.flatMap((name) =>
        (limits[name]?.allowances(clientOf(call)) ?? []).map((allowance, nth) => ({
          // Every window is a policy, and policies have different names.
          name: nth === 0 ? name : `${name}-${nth + 1}`,
          ...allowance,
        })),
      );
      // A refusal tells only what is used up: then Retry-After is never before the `t` of one of them.
      const current = response.status === 429 ? told.filter(({ left }) => left === 0) : told;
      if (told.length > 0) response.headers.set("RateLimit-Policy", told.map(policy).join(", "));
      if (current.length > 0) response.headers.set("RateLimit", current.map(state).join(", "));
      return response;
    },
  };
}

type Named = Allowance & { readonly name: string };

/** draft-ietf-httpapi-ratelimit-headers-11, section 3.1: how much in how many seconds. */
function policy({ name, count, ms }: Named): string {
  return `"${name}";q=${count};w=${ms / 1000}`;
}

/** Section 4.1 of the same: what is left, and for how many seconds there is no more than that. */
function state({ name, left, seconds }: Named): string {
  return `"${name}";r=${left};t=${seconds}`;
}
