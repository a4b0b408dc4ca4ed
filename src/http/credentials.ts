import { serialize } from "hono/utils/cookie";

import { clientNetwork } from "../lib/client-address.ts";
import type { Clock } from "../links/clock.ts";
import type { Secret } from "../links/secret.ts";
import type { AdminToken } from "../moderation/admin-token.ts";
import { createTokenCheck } from "../moderation/create-token.ts";
import type { Limits } from "../moderation/rate-limits.ts";
import type { Call } from "./call.ts";
import type { HttpProblem } from "./problems.ts";

export interface SignedCookieOptions {
  readonly secret: Pick<Secret, "hash">;
  readonly clock: Pick<Clock, "nowMs">;
}

interface Kind {
  readonly name: "made" | "password";
  readonly lastsMs: number;
  readonly sameSite: "Lax" | "Strict";
}

/**
 * A cookie by which a browser is known for a while to have made a link, or to know its password. It holds nothing but its
 * end and a signature of `parts`, which say what it is for.
 */
export function createSignedCookie(
  { secret, clock }: SignedCookieOptions,
  { name, lastsMs, sameSite }: Kind,
) {
  const cookieUntil = (endsMs: number, parts: readonly (string | number)[]) =>
    `${endsMs}.${secret.hash(name, [endsMs, ...parts])}`;

  return {
    /** Whether there is any such cookie, right or wrong. */
    isSent: (call: Call) => cookiesOf(call, name).some((cookie) => cookie !== ""),

    isRight(call: Call, parts: readonly (string | number)[]): boolean {
      const nowMs = clock.nowMs();
      return cookiesOf(call, name).some((cookie) => {
        const endsMs = Number(/^\d{1,16}(?=\.)/.exec(cookie)?.[0] ?? Number.NaN);
        // A clock that was ahead may have signed a cookie that would last for years.
        const isNow = nowMs < endsMs && endsMs <= nowMs + lastsMs;
        return isNow && createTokenCheck(cookieUntil(endsMs, parts))(cookie);
      });
    },

    /** The cookie for `Set-Cookie`, which browsers send to `path` only and show to no script. */
    make({ domain }: Call, path: string, parts: readonly (string | number)[]): string {
      return serialize(name, cookieUntil(clock.nowMs() + lastsMs, parts), {
        path,
        maxAge: lastsMs / 1000,
        httpOnly: true,
        sameSite,
        secure: domain.origin.startsWith("https:"),
      });
    },
  };
}

/**
 * All cookies of a name, as they are written. A site below the same domain can set one of this name for us, and browsers
 * send that first if its path is longer, so the first one may not be ours.
 */
export function cookiesOf({ headers }: Call, name: string): string[] {
  const start = `${name}=`;
  const cookies = (headers.get("cookie") ?? "").split(";").map((cookie) => cookie.trim());
  return cookies.filter((cookie) => cookie.startsWith(start)).map((cookie) => cookie.slice(start.length));
}

/** RFC 6750, section 2.1. "" if there is none. */
export function bearerToken(headers: Headers): string {
  return /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1] ?? "";
}

/** Asks a call for the operator's token. */
export interface OperatorCheck {
  /** Undefined if the call shows the token. */
  refusalOf(call: Call): HttpProblem | undefined;
  /** Counts a wrong token against its client, and says what the client is told. */
  onWrong(call: Call): HttpProblem;
}

export function createOperatorCheck(token: AdminToken, { wrongToken }: Limits): OperatorCheck {
  function onWrong(call: Call): HttpProblem {
    const seconds = wrongToken?.take(clientNetwork(call.client().address)) ?? 0;
    return seconds === 0 ? { kind: "operator.wrong" } : { kind: "limited", limit: "token", seconds };
  }
  return {
    refusalOf(call) {
      const given = bearerToken(call.headers);
      if (given === "") return { kind: "operator.missing" };
      // A right token opens, whatever was tried before: wrong ones keep nobody out.
      return token.isRight(given) ? undefined : onWrong(call);
    },
    onWrong,
  };
}
