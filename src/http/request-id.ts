/** Tells an answer, and what is logged about it, from others. */
export const REQUEST_ID = "Request-Id";

/** Such as a UUID. No address has this form, because a caller's id gets into the log. */
const FORM = /^[A-Za-z0-9][A-Za-z0-9_-]{7,63}$/;

/** The id that the caller gave its request, if it has the right form, or else a new one. */
export function requestIdOf(headers: Headers): string {
  const given = headers.get(REQUEST_ID);
  return given !== null && FORM.test(given) ? given : crypto.randomUUID();
}
