import { createHash, createHmac, timingSafeEqual } from "node:crypto";

import { HOUR_MS } from "../links/time.ts";

/** How long a session at the operator's page lasts after the sign-in. */
export const SESSION_MS = 8 * HOUR_MS;

/** Checks a token. Takes the same time for every text, so that nobody can guess the token bit by bit. */
export type TokenCheck = (given: string) => boolean;

/** Without a token, the check always passes. */
export function createTokenCheck(token: string | null): TokenCheck {
  if (token === null) return () => true;
  const expected = digestOf(token);
  return (given) => timingSafeEqual(digestOf(given), expected);
}

/** Digests have the same length, which timingSafeEqual needs. */
function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

export type AdminToken = ReturnType<typeof createAdminToken>;

/**
 * Checks ADMIN_TOKEN and the sessions that it opens. Sessions are signed with a key derived from the token and stored
 * nowhere, so all processes agree on them, and another token ends them all.
 */
export function createAdminToken(token: string) {
  const key = createHmac("sha256", token).update("Curt's operator").digest();
  const sign = (purpose: string, text: string) =>
    createHmac("sha256", key).update(`${purpose} ${text}`).digest("base64url");
  const sessionUntil = (endsMs: number) => `${endsMs}.${sign("session", String(endsMs))}`;

  return {
    isRight: createTokenCheck(token),
    /** A session that starts now, as the value of a cookie. */
    startSession: (nowMs: number) => sessionUntil(nowMs + SESSION_MS),
    isOpen(session: string, nowMs: number): boolean {
      const endsMs = Number(/^\d{1,16}(?=\.)/.exec(session)?.[0] ?? Number.NaN);
      // A clock that was ahead may have signed a session that would last for years.
      const isNow = nowMs < endsMs && endsMs <= nowMs + SESSION_MS;
      return isNow && createTokenCheck(sessionUntil(endsMs))(session);
    },
    /** Sent with every form of a session. No other site knows it. */
    formToken: (session: string) => sign("form", session),
  };
}
