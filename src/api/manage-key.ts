import type { DetachedCall, Call, Handler } from "../http/call.ts";
import { bearerToken } from "../http/credentials.ts";
import type { Show } from "../http/endpoint.ts";
import { createManagedLinks, type OpenedLink } from "../http/managed-links.ts";
import { type HttpProblem, problemJson } from "../http/problems.ts";
import { revisionOf } from "../links/change.ts";
import type { FoundLink, Link } from "../links/link.ts";
import type { LinkFinder } from "../links/links.ts";
import { isProblem, type Problem } from "../links/problem.ts";
import type { Viewer } from "../links/terms/terms.ts";
import type { MessageKey } from "../locales/messages.ts";
import type { ApiParts } from "./api-parts.ts";
import { success } from "./envelope.ts";
import { changedLinkJson } from "./link-json.ts";

/** Who the serving thread found out the caller is, for the views thread: the link's maker, or a person whom the proxy names. */
export interface CheckedCaller {
  readonly viewer: Exclude<Viewer, "everybody">;
  /** The maker's link. Another one may have its code by now. */
  readonly createdMs: number;
}

/** A response to a key is for nobody else. */
export const VARY = { Vary: "Accept-Language, Authorization" };

/** Shared by endpoints that need the right to change a link. */
export function createKeyedLinks(parts: ApiParts) {
  const { secret, visits, clock, rights } = parts;
  const { open, edit } = createManagedLinks(parts);

  return {
    edit,

    /**
     * Changes a link. First reads the data for the response: after the change, nothing may fail. After a hand-over, the former owner
     * gets no key.
     */
    async respond(
      call: Call,
      message: MessageKey,
      { link, person }: OpenedLink,
      change: () => Promise<Link | FoundLink | HttpProblem>,
    ): Promise<Response> {
      const { visits: counted } = await visits.sums(link);
      const changed = await change();
      if (isProblem(changed)) return problemJson(call, changed);
      const right = rights.rightOf(changed, bearerToken(call.headers), person);
      const data = changedLinkJson(
        changed,
        call.domain,
        right === "maker" ? secret.manageKey(changed) : undefined,
        { nowMs: clock.nowMs(), visits: counted },
      );
      return success(call, 200, message, data, { ...VARY, ETag: tagOfLink(changed) });
    },

    withRight:
      (handle: (call: Call, opened: OpenedLink) => Promise<Response>): Handler =>
      async (call) => {
        const opened = await open(call, bearerToken(call.headers));
        return isProblem(opened) ? problemJson(call, opened) : handle(call, opened);
      },
  };
}

/**
 * Shows a view that has more in it for the link's maker, and for people whom the proxy names. The key is checked on the serving
 * thread.
 */
export function showForMaker(parts: ApiParts, show: Show<CheckedCaller | undefined>): Handler {
  const { isCreateToken, links, rights } = parts;
  const { open } = createManagedLinks(parts);
  return async (call) => {
    const token = bearerToken(call.headers);
    // Programs may send the token of the service with everything.
    const key = token !== "" && isCreateToken(token) ? "" : token;
    const person = rights.personOf(call);
    // Proxies may send a token of their own, which is no wrong key.
    if (typeof person === "string") {
      const link = await links.find(call.code, "maker");
      if (isProblem(link)) return problemJson(call, link);
      const viewer = rights.rightOf(link, key, person) === "maker" ? "maker" : "colleagues";
      return asPrivate(await show(call, { viewer, createdMs: link.createdMs }));
    }
    if (key === "") return show(call);
    const opened = await open(call, key);
    if (isProblem(opened)) return problemJson(call, opened);
    return show(call, { viewer: "maker", createdMs: opened.link.createdMs });
  };
}

/** No cache between the proxy and Curt may keep what only colleagues see. */
export function asPrivate(response: Response): Response {
  response.headers.set("Cache-Control", "private, no-cache");
  return response;
}

/** A strong tag, for `If-Match`. */
export function tagOfLink(link: Pick<Link, "originalUrl" | "endsMs" | "terms">): string {
  return `"${revisionOf(link)}"`;
}

/** On the views thread: finds a link, for its maker if the key was checked. The link may have been replaced since. */
export async function findForView(
  links: LinkFinder,
  call: DetachedCall,
  checked: CheckedCaller | undefined,
): Promise<{ readonly link: FoundLink | Problem; readonly viewer: Viewer }> {
  if (checked === undefined) return { link: await links.find(call.code), viewer: "everybody" };
  const { viewer, createdMs } = checked;
  if (viewer === "maker") {
    const link = await links.find(call.code, viewer);
    if (!isProblem(link) && link.createdMs === createdMs) return { link, viewer };
    return { link: await links.find(call.code), viewer: "everybody" };
  }
  return { link: await links.find(call.code, "colleague"), viewer };
}
