import type { Call } from "../../http/call.ts";
import { createSignedCookie, type SignedCookieOptions } from "../../http/credentials.ts";
import type { Code } from "../../links/code.ts";
import { shownCode, type Link } from "../../links/link.ts";
import type { KeyedLink } from "../../links/secret.ts";

/** How long the browser that created a link can see its manage link. */
export const JUST_CREATED_MS = 10 * 60_000;

/**
 * Shows the manage link of a link to the browser that created it. The form answers with a redirect, and neither an
 * address nor a cookie may contain the key. So a cookie says that this browser created the link, and the preview has the
 * key.
 */
export function createJustCreated(options: SignedCookieOptions) {
  const cookie = createSignedCookie(options, { name: "made", lastsMs: JUST_CREATED_MS, sameSite: "strict" });
  // A hand-over changes the keys, so it ends the cookie.
  const partsOf = ({ code, createdMs, terms: { keys } = {} }: KeyedLink<Code>) =>
    keys === undefined ? [code, createdMs] : [code, createdMs, keys];

  return {
    /** A cookie for the link's preview only. */
    remember: (call: Call, link: Link) =>
      cookie.create(call, `/${encodeURIComponent(shownCode(link))}+`, partsOf(link)),
    /** Whether the browser claims to have created a link. */
    isClaimed: cookie.isSent,
    /** Whether the browser created this link. */
    isRight: (call: Call, link: KeyedLink<Code>) => cookie.isRight(call, partsOf(link)),
  };
}
