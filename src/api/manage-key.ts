import type { DetachedCall, Call, Handler } from "../http/call.ts";
import { bearerToken } from "../http/credentials.ts";
import { createLinkManager } from "../http/link-manager.ts";
import { problemJson } from "../http/problems.ts";
import type { View } from "../http/view-task.ts";
import { revisionOf } from "../links/change.ts";
import type { FoundLink, Link } from "../links/link.ts";
import type { Links } from "../links/links.ts";
import { isProblem, type Problem } from "../links/problem.ts";
import type { MessageKey } from "../locales/messages.ts";
import { success } from "./envelope.ts";
import { managedLinkJson } from "./link-json.ts";
import type { ApiOptions } from "./parts.ts";

/** The link whose key the serving thread has checked, for the views thread. */
export interface CheckedKey {
  readonly createdMs: number;
}

/** A response to a key is for nobody else. */
export const VARY = { Vary: "Accept-Language, Authorization" };

/** Shared by endpoints that need a link's manage key or show more to callers who have it. */
export function createKeyedLinks(options: ApiOptions) {
  const { secret, visits, views, clock, createToken, mayCreate } = options;
  const { unlock, edit } = createLinkManager(options);

  return {
    edit,

    async respond(call: Call, message: MessageKey, link: Link): Promise<Response> {
      const { visits: counted } = await visits.sums(link);
      const data = managedLinkJson(link, call.domain, secret, { nowMs: clock.nowMs(), visits: counted });
      return success(call, 200, message, data, { ...VARY, ETag: tagOfLink(link) });
    },

    withKey:
      (handle: (call: Call, link: FoundLink) => Promise<Response>): Handler =>
      async (call) => {
        const key = bearerToken(call.headers);
        if (key === "") return problemJson(call, { kind: "key.missing" });
        const link = await unlock(call, key);
        return isProblem(link) ? problemJson(call, link) : handle(call, link);
      },

    /** Asks the views thread for a view of a link. A key is checked here. */
    async view(view: View, call: Call): Promise<Response> {
      const key = bearerToken(call.headers);
      // Programs may send the token of the service with everything.
      const isKey = key !== "" && (createToken === null || !mayCreate(key));
      if (!isKey) return views.ask(view, call);
      const link = await unlock(call, key);
      if (isProblem(link)) return problemJson(call, link);
      const checked: CheckedKey = { createdMs: link.createdMs };
      return views.ask(view, call, JSON.stringify(checked));
    },
  };
}

/** A strong tag, for `If-Match`. */
export function tagOfLink(link: Pick<Link, "originalUrl" | "endsMs" | "terms">): string {
  return `"${revisionOf(link)}"`;
}

export type KeyedLinks = ReturnType<typeof createKeyedLinks>;

/** On the views thread: finds a link, for its maker if the key was checked. The link may have been replaced since. */
export async function findForView(
  links: Pick<Links, "find">,
  call: DetachedCall,
  data: string,
): Promise<{ readonly link: FoundLink | Problem; readonly isMaker: boolean }> {
  const checked = data === "" ? undefined : (JSON.parse(data) as CheckedKey);
  const link = await links.find(call.code, checked && "maker");
  const isMaker = !isProblem(link) && link.createdMs === checked?.createdMs;
  return isMaker || checked === undefined
    ? { link, isMaker }
    : { link: await links.find(call.code), isMaker };
}
