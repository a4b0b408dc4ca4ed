import { createHash, createHmac, randomUUID, timingSafeEqual } from "node:crypto";

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
export function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** ADMIN_TOKEN and the sessions that it opens. */
export interface AdminToken {
  readonly isRight: TokenCheck;
  /** A session that starts now, as the value of a cookie. */
  startSession(nowMs: number): string;
  /** Whether the session is signed and not over. It may have been signed out. */
  isOpen(session: string, nowMs: number): boolean;
  /** Sent with every form of a session. No other site knows it. */
  formToken(session: string): string;
}

/**
 * Signs sessions with a key derived from the token. So all processes agree on them, and another token ends them all. Only
 * those that were signed out are stored.
 */
export function createAdminToken(token: string): AdminToken {
  const key = createHmac("sha256", token).update("Curt's operator").digest();
  const sign = (purpose: string, text: string) =>
    createHmac("sha256", key).update(`${purpose} ${text}`).digest("base64url");
  const signed = (text: string) => `${text}.${sign("session", text)}`;

  return {
    isRight: createTokenCheck(token),
    startSession: (nowMs) => signed(`${nowMs + SESSION_MS}.${randomUUID()}`),
    isOpen(session, nowMs) {
      const [text = "", ends] = /^(\d{1,16})\.[\da-f-]{36}(?=\.)/.exec(session) ?? [];
      const endsMs = Number(ends ?? Number.NaN);
      // A clock that was ahead may have signed a session that would last for years.
      const isNow = nowMs < endsMs && endsMs <= nowMs + SESSION_MS;
      return isNow && createTokenCheck(signed(text))(session);
    },
    formToken: (session) => sign("form", session),
  };
}
