import type { DetachedCall, Call, Handler } from "../http/call.ts";
import { bearerToken } from "../http/credentials.ts";
import type { Show } from "../http/endpoint.ts";
import { createManagedLinks } from "../http/managed-links.ts";
import { problemJson } from "../http/problems.ts";
import { revisionOf } from "../links/change.ts";
import type { FoundLink, Link } from "../links/link.ts";
import type { LinkFinder } from "../links/links.ts";
import { isProblem, type Problem } from "../links/problem.ts";
import type { Viewer } from "../links/terms/terms.ts";
import type { MessageKey } from "../locales/messages.ts";
import { success } from "./envelope.ts";
import { managedLinkJson } from "./link-json.ts";
import type { ApiParts } from "./parts.ts";

/** The link whose key the serving thread has checked, for the views thread. */
export interface CheckedKey {
  readonly createdMs: number;
}

/** A response to a key is for nobody else. */
export const VARY = { Vary: "Accept-Language, Authorization" };

/** Shared by endpoints that need a link's manage key. */
export function createKeyedLinks(parts: ApiParts) {
  const { secret, visits, clock } = parts;
  const { unlock, edit } = createManagedLinks(parts);

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
  };
}

/** Shows a view that has more in it for callers with the link's manage key. The key is checked on the serving thread. */
export function showForMaker(parts: ApiParts, show: Show<CheckedKey | undefined>): Handler {
  const { isCreateToken } = parts;
  const { unlock } = createManagedLinks(parts);
  return async (call) => {
    const key = bearerToken(call.headers);
    // Programs may send the token of the service with everything.
    const isKey = key !== "" && !isCreateToken(key);
    if (!isKey) return show(call);
    const link = await unlock(call, key);
    return isProblem(link) ? problemJson(call, link) : show(call, { createdMs: link.createdMs });
  };
}

/** A strong tag, for `If-Match`. */
export function tagOfLink(link: Pick<Link, "originalUrl" | "endsMs" | "terms">): string {
  return `"${revisionOf(link)}"`;
}

/** On the views thread: finds a link, for its maker if the key was checked. The link may have been replaced since. */
export async function findForView(
  links: LinkFinder,
  call: DetachedCall,
  checked: CheckedKey | undefined,
): Promise<{ readonly link: FoundLink | Problem; readonly isMaker: boolean }> {
  const link = await links.find(call.code, checked && "maker");
  const isMaker = !isProblem(link) && link.createdMs === checked?.createdMs;
  return isMaker || checked === undefined
    ? { link, isMaker }
    : { link: await links.find(call.code), isMaker };
}
