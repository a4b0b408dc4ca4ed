import { cookies, header, namedHeader } from "../lib/bounds.ts";
import { clientNetwork } from "../lib/client-address.ts";
import type { WallClock } from "../links/clock.ts";
import { isName } from "../links/name.ts";
import { isProblem } from "../links/problem.ts";
import type { Secret } from "../links/secret.ts";
import { type AccessTokens, isEqual, isNotOver } from "../moderation/access-tokens.ts";
import type { Counters } from "../moderation/counters.ts";
import type { RateLimits } from "../moderation/rate-limits.ts";
import type { Call } from "./call.ts";
import type { HttpProblem } from "./problems.ts";
import { pathOf } from "./url.ts";

export interface SignedCookieOptions {
  readonly secret: Pick<Secret, "hash">;
  readonly clock: WallClock;
}

interface Kind {
  readonly name: "made" | "password";
  readonly lastsMs: number;
  readonly sameSite: "lax" | "strict";
}

/**
 * A cookie that proves for a while that a browser created a link or knows its password. It holds only its end and a signature
 * of `parts`, which say what it is for.
 */
export function createSignedCookie(
  { secret, clock }: SignedCookieOptions,
  { name, lastsMs, sameSite }: Kind,
) {
  const cookieUntil = (endsMs: number, parts: readonly (string | number)[]) =>
    `${endsMs}.${secret.hash(name, [endsMs, ...parts])}`;

  return {
    /** Whether the browser sent such a cookie, right or wrong. */
    isSent: (call: Call) => cookies(call.headers, name).some((cookie) => cookie !== ""),

    isRight(call: Call, parts: readonly (string | number)[]): boolean {
      const nowMs = clock.nowMs();
      return cookies(call.headers, name).some((cookie) => {
        const endsMs = Number(/^\d{1,16}(?=\.)/.exec(cookie)?.[0] ?? Number.NaN);
        return isNotOver(endsMs, lastsMs, nowMs) && isEqual(cookie, cookieUntil(endsMs, parts));
      });
    },

    /** A value for `Set-Cookie`. Browsers send the cookie to `path` only, and hide it from scripts. */
    create({ domain }: Call, path: string, parts: readonly (string | number)[]): string {
      return new Bun.Cookie(name, cookieUntil(clock.nowMs() + lastsMs, parts), {
        path,
        maxAge: lastsMs / 1000,
        httpOnly: true,
        sameSite,
        secure: domain.origin.startsWith("https:"),
      }).serialize();
    },
  };
}

/** The token of RFC 6750, section 2.1, or "". */
export function bearerToken(headers: Headers): string {
  return /^Bearer +(\S+)$/i.exec(header(headers, "authorization") ?? "")?.[1] ?? "";
}

/**
 * Whether another site or origin sends the request (Fetch Metadata, section 2.4). Browsers that don't say so, as over plain
 * HTTP, send an `Origin`. It is "null" for sandboxed frames of any site, but also for our own pages when they send forms,
 * because these have no referrer. An operator may open the pages at another host than BASE_URL's.
 */
export function isFromAnotherSite({ headers, domain, request }: Call): boolean {
  const site = header(headers, "sec-fetch-site", "?");
  if (site !== null) return site !== "same-origin" && site !== "none";
  const origin = header(headers, "origin", "?");
  if (origin === null || origin === domain.origin) return false;
  if (origin === "null") return pathOf(request).startsWith("/api/");
  const [, host = ""] = /^https?:\/\/(.+)$/.exec(origin) ?? [];
  return host !== header(headers, "host") || domain.origin.endsWith(`//${host}`);
}

/**
 * Whether a browser over plain HTTP doesn't say which site sends the request. Our scripts' requests have an origin. A form without
 * a script may be ours, but also that of a sandboxed frame, which must create no links in somebody's name.
 */
function hidesOrigin({ headers }: Call): boolean {
  return header(headers, "sec-fetch-site", "?") === null && header(headers, "origin", "?") === "null";
}

/** Reads who sends a call, if a trusted proxy has signed that person in. */
export type ReadUser = (call: Call) => string | HttpProblem | undefined;

/** Without a header's name, nobody is signed in. */
export function createUserReader(headerName: string | null): ReadUser {
  return (call) => {
    if (headerName === null || call.client().isThroughProxy !== true) return undefined;
    const name = namedHeader(call.headers, headerName);
    if (name === "") return undefined;
    // Two headers arrive as one, with a comma.
    if (!isName(name)) return { kind: "user.wrong" };
    // The proxy knows the browser by a cookie, which browsers may also send for other sites.
    if (/^(?:GET|HEAD)$/.test(call.request.method)) return name;
    return isFromAnotherSite(call) ? { kind: "cross-site" } : name;
  };
}

interface CheckParts {
  readonly tokens: Readonly<Record<"admin" | "create", AccessTokens>>;
  /** Whether creating a link needs a token. */
  readonly needsToken: boolean;
  readonly adminUserHeader: string | null;
  readonly createUserHeader: string | null;
}

/** Returns why a call may create no links, or undefined. Then `call.by` is the caller's name. */
export type CreatorCheck = (call: Call, token?: string) => HttpProblem | undefined;

export function createCreatorCheck({ tokens, needsToken, ...headers }: CheckParts): CreatorCheck {
  const readCreator = createUserReader(headers.createUserHeader);
  const { adminUserHeader } = headers;
  const readOperator = adminUserHeader === null ? undefined : createUserReader(adminUserHeader);
  const isClosed = needsToken || headers.createUserHeader !== null;

  return (call, token = bearerToken(call.headers)) => {
    const found = token === "" ? undefined : tokens.create.find(token);
    const creator = found === undefined && isClosed ? readCreator(call) : found?.name;
    if (isProblem(creator)) return creator;
    if (found === undefined && creator !== undefined && hidesOrigin(call)) return { kind: "cross-site" };
    if (isClosed && (found ?? creator) === undefined)
      return { kind: token === "" ? "token.missing" : "token.wrong" };
    // Not by ADMIN_TOKEN: where everybody may create links, its name in `created_by` would confirm a guess.
    const operator = creator ?? readOperator?.(call);
    call.by = isProblem(operator) ? undefined : operator;
    call.person = found === undefined ? creator : undefined;
    return undefined;
  };
}

/** Checks that a call has a token of an operator, or that the proxy has signed an operator in. */
export function createOperatorCheck(
  { tokens, adminUserHeader }: CheckParts,
  { wrongToken }: RateLimits,
  counters: Pick<Counters, "count">,
) {
  const readUser = createUserReader(adminUserHeader);
  /** Counts a wrong token, also against its client, and returns the problem to respond with. */
  function onWrong(call: Call): HttpProblem {
    counters.count("wrong-token");
    const seconds = wrongToken?.take(clientNetwork(call.client().address)) ?? 0;
    return seconds === 0 ? { kind: "operator.wrong" } : { kind: "limited", limit: "token", seconds };
  }
  return {
    readUser,
    /** Undefined if the call is an operator's. Then `call.by` is the operator's name. */
    refusalOf(call: Call): HttpProblem | undefined {
      const sentToken = bearerToken(call.headers);
      // A right token always works, even after many wrong ones: nobody can lock out the operator.
      const token = sentToken === "" ? undefined : tokens.admin.find(sentToken);
      // Some proxies send a token of their own.
      const user = token === undefined ? readUser(call) : token.name;
      if (isProblem(user)) return user;
      call.by = user;
      if (token !== undefined || user !== undefined) return undefined;
      return sentToken === "" ? { kind: "operator.missing" } : onWrong(call);
    },
    onWrong,
  };
}
