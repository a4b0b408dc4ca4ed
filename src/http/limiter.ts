import { clientNetwork, clientSharers, clientSite } from "../lib/client-address.ts";
import { memoize } from "../lib/memoize.ts";
import type { Clock } from "../links/clock.ts";
import { type Code, keyOf } from "../links/code.ts";
import { isProblem } from "../links/problem.ts";
import type { LinkId } from "../links/store.ts";
import type { WantedTerms } from "../links/terms.ts";
import type { Counters } from "../moderation/counters.ts";
import type { Allowance, RateLimitName, RateLimits } from "../moderation/rate-limits.ts";
import type { Call, Handler } from "./call.ts";
import { type Limited } from "./problems.ts";
import { createRefusalQueue } from "./refusal-queue.ts";

export interface Limiter {
  /**
   * Counts each request against this limit, before its outcome is known, so that concurrent requests cannot pass it together.
   * Failures are given back. `refuse` answers a client over the limit.
   */
  limit(name: RateLimitName, handle: Handler, refuse?: Refuse): Handler;
  /**
   * The same for several things, all or none, at most `most`. Returns a function that gives back failures, or the problem of a
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
   * Counts a create as a view if it is refused, because a refusal costs as much and may reveal a code. A client without views
   * is refused before its body is read.
   */
  attempt(handle: Handler): Handler;
  /** Counts refused items of a batch as views, even beyond the limit. */
  chargeRefused(call: Call, parts: number): void;
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
  /** Counts a try of a link's password, or returns the problem if the client or the link had too many. */
  tryPassword(call: Call, link: LinkId<Code>): Try | Promise<Limited>;
  /** Returns who shares limited places, such as those of a queue: the client and its /48. */
  sharers(call: Call): readonly string[];
  /** Adds the sharers to a request with a password, which takes a place in the queue of hashes. */
  share<T extends WithPassword>(call: Call, request: T): T & { readonly sharers?: readonly string[] };
  /** Describes in headers the state of the limits that the request counted against. */
  addHeaders(call: Call, response: Response): Response;
}

interface WithPassword {
  readonly terms?: Pick<WantedTerms, "password"> | undefined;
}

type GiveBack = (failed: number) => void;

export interface Try {
  /** The client, its /48 and the link, each of which gets only a share of all checks. */
  readonly sharers: readonly string[];
  /** Counts a check of any outcome. */
  countCheck(): void;
  /** Gives back the try of a right password. */
  undo(): void;
  /** How many tries remain, infinite without a limit, and in how many seconds there is one. */
  remaining(): { readonly tries: number; readonly seconds: number };
}

type Refuse = (call: Call, problem: Limited) => Response | Promise<Response>;

/** Also counts refusals and unknown addresses for the instance's figures. */
export function createLimiter(
  limits: RateLimits,
  clock: Pick<Clock, "monotonicMs">,
  counters: Pick<Counters, "count">,
  refuse: Refuse,
): Limiter {
  const networkOf = memoize(clientNetwork);
  const holdBackMs = createRefusalQueue(clock);
  const { scan } = limits;

  /** All clients without an address share one key. */
  function clientOf(call: Call): string {
    return networkOf(call.client().address);
  }

  const sharers = (call: Call) => clientSharers(clientOf(call));

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

  /** `limit` is the exceeded one. The wait ends when no limit refuses the request. */
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
    // At least 1, because time passes between a refusal and this.
    return { kind: "limited", limit, seconds: Math.max(1, otherWait(), ...waits) };
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

  function barred(call: Call): Promise<Limited> | undefined {
    if (!isBarred(call)) return undefined;
    describe(call, "unknown");
    return refusal(call, "unknown");
  }

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
    refuse(call, name) {
      describe(call, name);
      return refusal(call, name);
    },
    most: (name) => limits[name]?.most ?? Number.POSITIVE_INFINITY,
    remaining(call, name) {
      const allowances = limits[name]?.allowances(clientOf(call)) ?? [];
      return Math.max(0, Math.min(...allowances.map(({ left }) => left)));
    },

    attempt(handle) {
      const { view } = limits;
      if (view === undefined && scan === undefined) return handle;
      return async (call) => {
        const problem = barred(call);
        if (problem !== undefined) return refuse(call, await problem);
        const client = clientOf(call);
        if ((view?.take(client) ?? 0) > 0) {
          describe(call, "view");
          return refuse(call, await refusal(call, "view"));
        }
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

    tryPassword(call, { code, createdMs }) {
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
      if (wait() > 0) return refusal(call, "password", 1, wait);
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
    },

    sharers,
    share: (call, request) =>
      typeof request.terms?.password === "string" ? { ...request, sharers: sharers(call) } : request,

    addHeaders(call, response) {
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
      if (windows.length > 0) response.headers.set("RateLimit-Policy", windows.map(policy).join(", "));
      if (current.length > 0) response.headers.set("RateLimit", current.map(state).join(", "));
      return response;
    },
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
