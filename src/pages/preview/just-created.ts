import type { Call } from "../../http/call.ts";
import { createSignedCookie, type SignedCookieOptions } from "../../http/credentials.ts";
import type { Views } from "../../http/views.ts";
import type { Link } from "../../links/link.ts";
import type { Links } from "../../links/links.ts";
import { isProblem } from "../../links/problem.ts";
import type { Secret } from "../../links/secret.ts";
import { JUST_MADE_MS } from "./manage-key.tsx";

export interface MadeOptions extends SignedCookieOptions {
  readonly links: Pick<Links, "find">;
  readonly secret: Pick<Secret, "hash" | "manageKey">;
  readonly views: Pick<Views, "ask">;
}

/** What the view of a preview gets, if whoever asks has just made the link. */
export interface JustMade {
  readonly manageKey: string;
}

/**
 * Shows the manage address of a link to the browser that has just made it. The form is answered with a redirect, and neither
 * an address nor a cookie shall hold the key. So a cookie says that this browser made the link, and the preview has the key.
 */
export function createMade({ links, secret, clock, views }: MadeOptions) {
  const cookie = createSignedCookie(
    { secret, clock },
    { name: "made", lastsMs: JUST_MADE_MS, sameSite: "Strict" },
  );
  const partsOf = ({ code, createdMs }: Pick<Link, "code" | "createdMs">) => [code, createdMs];

  return {
    /** A cookie that is sent to the link's preview only. */
    remember: (call: Call, link: Link) =>
      cookie.create(call, `/${encodeURIComponent(link.code)}+`, partsOf(link)),

    async preview(call: Call): Promise<Response> {
      if (!cookie.isSent(call)) return views.ask("preview", call);
      call.client();
      const link = await links.find(call.code, "maker");
      if (isProblem(link) || !cookie.isRight(call, partsOf(link))) return views.ask("preview", call);
      const made: JustMade = { manageKey: secret.manageKey(link) };
      return views.ask("preview", call, JSON.stringify(made));
    },
  };
}

export type Made = ReturnType<typeof createMade>;
