import { cookies, header } from "../lib/bounds.ts";
import { clientNetwork } from "../lib/client-address.ts";
import type { WallClock } from "../links/clock.ts";
import type { Secret } from "../links/secret.ts";
import { type AdminToken, createTokenCheck } from "../moderation/access-tokens.ts";
import type { RateLimits } from "../moderation/rate-limits.ts";
import type { Call } from "./call.ts";
import type { HttpProblem } from "./problems.ts";

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
        // A clock that was ahead may have signed a cookie for years.
        const isNow = nowMs < endsMs && endsMs <= nowMs + lastsMs;
        return isNow && createTokenCheck(cookieUntil(endsMs, parts))(cookie);
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

/** Checks that a call has the operator's token. */
export function createOperatorCheck(token: AdminToken, { wrongToken }: RateLimits) {
  /** Counts a wrong token against its client, and returns the problem to respond with. */
  function onWrong(call: Call): HttpProblem {
    const seconds = wrongToken?.take(clientNetwork(call.client().address)) ?? 0;
    return seconds === 0 ? { kind: "operator.wrong" } : { kind: "limited", limit: "token", seconds };
  }
  return {
    /** Undefined if the call has the right token. */
    refusalOf(call: Call): HttpProblem | undefined {
      const sentToken = bearerToken(call.headers);
      if (sentToken === "") return { kind: "operator.missing" };
      // A right token always works, even after many wrong ones: nobody can lock out the operator.
      return token.isRight(sentToken) ? undefined : onWrong(call);
    },
    onWrong,
  };
}
