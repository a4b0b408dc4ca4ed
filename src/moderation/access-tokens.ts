import { createHash, createHmac, timingSafeEqual } from "node:crypto";

import { HOUR_MS } from "../links/time.ts";

/** Tells whether a text is the token, or may pass without one. It takes the same time for every text, so that nobody can guess bit by bit. */
export type TokenCheck = (given: string) => boolean;

/** Without a token, everybody may. */
export function createTokenCheck(token: string | null): TokenCheck {
  if (token === null) return () => true;
  const expected = digestOf(token);
  return (given) => timingSafeEqual(digestOf(given), expected);
}

/** Digests have one length, which timingSafeEqual needs. */
function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** A session at the operator's page ends so long after the sign-in. */
export const SESSION_MS = 8 * HOUR_MS;

/** What ADMIN_TOKEN opens. Every comparison takes the same time, however much of a guess is right. */
export interface AdminToken {
  isRight(given: string): boolean;
  /** A session that begins now, as the value of a cookie. */
  beginSession(nowMs: number): string;
  isOpen(session: string, nowMs: number): boolean;
  /** What every form of a session carries. No other site knows it. */
  formToken(session: string): string;
}

/**
 * Sessions are signed with a key that is made from the token, and stored nowhere. So all processes agree on them, and
 * another token ends them all.
 */
export function createAdminToken(token: string): AdminToken {
  const key = createHmac("sha256", token).update("Curt's operator").digest();
  const sign = (purpose: string, text: string) =>
    createHmac("sha256", key).update(`${purpose} ${text}`).digest("base64url");
  const sessionUntil = (endsMs: number) => `${endsMs}.${sign("session", String(endsMs))}`;

  return {
    isRight: createTokenCheck(token),
    beginSession: (nowMs) => sessionUntil(nowMs + SESSION_MS),
    isOpen(session, nowMs) {
      const endsMs = Number(/^\d{1,16}(?=\.)/.exec(session)?.[0] ?? Number.NaN);
      // A clock that was ahead may have signed a session that would last for years.
      const isNow = nowMs < endsMs && endsMs <= nowMs + SESSION_MS;
      return isNow && createTokenCheck(sessionUntil(endsMs))(session);
    },
    formToken: (session) => sign("form", session),
  };
}
