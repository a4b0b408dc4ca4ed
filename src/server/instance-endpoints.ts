import type { Call, Handler } from "../http/call.ts";
import { endpoint } from "../http/endpoint.ts";
import { problemJson } from "../http/problems.ts";
import { answer, json } from "../http/responses.ts";
import { queryOf } from "../http/url.ts";
import type { WallClock } from "../links/clock.ts";
import type { LinkKey } from "../links/code.ts";
import type { LinkFinder } from "../links/links.ts";
import { DAY_MS } from "../links/time.ts";
import { LANGUAGES } from "../locales/messages.ts";
import type { OpenRecorder } from "../visits/visits.ts";

/** RFC 9116, section 2.5.5: less than a year ahead, from each response on. */
const VALID_MS = 180 * DAY_MS;

/** A reserved code, so it never exists. Looking it up shows that the store answers. */
const PROBE = "readyz";

export interface NoticeParts {
  /** As a URI. */
  readonly contact: string;
  readonly clock: WallClock;
}

/** RFC 9309. Previews and problems have `noindex`, so crawlers must be allowed to read them. */
export const robots = endpoint({
  at: "GET /robots.txt",
  cost: "little",
  serve: () => () => text("User-agent: *\nDisallow: /api/\n"),
});

/** RFC 9116. */
export const security = endpoint({
  at: "GET /.well-known/security.txt",
  cost: "little",
  serve:
    ({ contact, clock }: NoticeParts) =>
    (call: Call) => {
      const expires = new Date(Math.floor((clock.nowMs() + VALID_MS) / DAY_MS) * DAY_MS).toISOString();
      return text(
        `Contact: ${contact}\nExpires: ${expires}\nPreferred-Languages: ${LANGUAGES.join(", ")}\nCanonical: ${call.domain.origin}/.well-known/security.txt\n`,
      );
    },
});

/** Declares an address that has moved (RFC 9110, section 15.4.9). */
export function moved<const Address extends string>(at: Address, to: (call: Call) => string) {
  return endpoint({
    at,
    cost: "little",
    serve: () => (call: Call) => answer({ status: 308, headers: { Location: to(call) } }),
  });
}

/** For people who put the + behind the slash of a short address. */
export function movedBehind<const Page extends string>(page: Page) {
  return moved(
    `GET /{code}/${page}` as const,
    ({ code, request }) => `/${encodeURIComponent(code)}${page}${queryOf(request)}`,
  );
}

/** The health checks of the process. They answer before other endpoints are loaded. */
export interface Health {
  readonly live: Handler;
  readonly ready: Handler;
  /** Makes `ready` fail from now on. */
  stopping(): void;
}

export function createHealth(links: LinkFinder<LinkKey>, recorder: Pick<OpenRecorder, "figures">): Health {
  let isStopping = false;
  return {
    /** The process responds. The store doesn't matter, because a restart wouldn't repair it. */
    live: (call) => json(call, 200, { status: "success", message: "live" }, "en"),
    /** This process can look up links, and isn't about to stop. */
    async ready(call) {
      if (isStopping) return problemJson(call, { kind: "unavailable" });
      await links.find(PROBE);
      // Still 200 if visits aren't counted: a restart would not help, and visitors are still redirected.
      const message = recorder.figures().isCounting ? "ready" : "ready, but visits are not counted";
      return json(call, 200, { status: "success", message }, "en");
    },
    stopping() {
      isStopping = true;
    },
  };
}

function text(body: string): Response {
  return answer({ body, type: "text/plain; charset=utf-8", policy: null, cache: "public, max-age=3600" });
}
