import type { Call } from "../../http/call.ts";
import { createSignedCookie, type SignedCookieOptions } from "../../http/credentials.ts";
import type { Views } from "../../http/views.ts";
import type { Link } from "../../links/link.ts";
import type { Links } from "../../links/links.ts";
import { isProblem } from "../../links/problem.ts";
import type { Secret } from "../../links/secret.ts";

/** How long the browser that created a link can see its manage link. */
export const JUST_CREATED_MS = 10 * 60_000;

export interface JustCreatedOptions extends SignedCookieOptions {
  readonly links: Pick<Links, "find">;
  readonly secret: Pick<Secret, "hash" | "manageKey">;
  readonly views: Pick<Views, "ask">;
}

/** The data for the preview of a link that this browser created a moment ago. */
export interface NewLink {
  readonly manageKey: string;
}

/**
 * Shows the manage link of a link to the browser that created it. The form answers with a redirect, and neither an
 * address nor a cookie may contain the key. So a cookie says that this browser created the link, and the preview has the
 * key.
 */
export function createJustCreated({ links, secret, clock, views }: JustCreatedOptions) {
  const cookie = createSignedCookie(
    { secret, clock },
    { name: "made", lastsMs: JUST_CREATED_MS, sameSite: "Strict" },
  );
  const partsOf = ({ code, createdMs }: Pick<Link, "code" | "createdMs">) => [code, createdMs];

  return {
    /** A cookie for the link's preview only. */
    remember: (call: Call, link: Link) =>
      cookie.create(call, `/${encodeURIComponent(link.code)}+`, partsOf(link)),

    async preview(call: Call): Promise<Response> {
      if (!cookie.isSent(call)) return views.ask("preview", call);
      call.client();
      const link = await links.find(call.code, "maker");
      if (isProblem(link) || !cookie.isRight(call, partsOf(link))) return views.ask("preview", call);
      const newLink: NewLink = { manageKey: secret.manageKey(link) };
      return views.ask("preview", call, JSON.stringify(newLink));
    },
  };
}

export type JustCreated = ReturnType<typeof createJustCreated>;
