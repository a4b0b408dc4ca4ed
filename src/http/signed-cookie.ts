import { serialize } from "hono/utils/cookie";

import type { Clock } from "../links/clock.ts";
import type { Secret } from "../links/secret.ts";
import { createTokenCheck } from "../moderation/access-tokens.ts";
import type { Call } from "./call.ts";

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
