import type { Call } from "../http/call.ts";
import { problemJson } from "../http/problems.ts";
import { answer, json } from "../http/responses.ts";
import type { Clock } from "../links/clock.ts";
import type { StoredLinks } from "../links/links.ts";
import { DAY_MS } from "../links/time.ts";
import { LANGUAGES } from "../locales/messages.ts";
import type { OpenRecorder } from "../visits/visits.ts";

/** RFC 9116, section 2.5.5: less than a year ahead, from each response on. */
const VALID_MS = 180 * DAY_MS;

/** A reserved code, so it never exists. Looking it up shows that the store answers. */
const PROBE = "readyz";

/** Texts at well-known addresses, for crawlers and security researchers. `contact` is a URI. */
export function createNotices(contact: string | null, clock: Pick<Clock, "nowMs">) {
  return {
    /** RFC 9309. Previews and problems say `noindex` themselves, and a crawler must read them to know. */
    robots: () => text("User-agent: *\nDisallow: /api/\n"),

    /** RFC 9116. Undefined without a contact. */
    security:
      contact === null
        ? undefined
        : ({ domain }: Call) => {
            const expires = new Date(Math.floor((clock.nowMs() + VALID_MS) / DAY_MS) * DAY_MS).toISOString();
            return text(
              `Contact: ${contact}\nExpires: ${expires}\nPreferred-Languages: ${LANGUAGES.join(", ")}\nCanonical: ${domain.origin}/.well-known/security.txt\n`,
            );
          },
  };
}

export function createHealth(links: Pick<StoredLinks, "find">, recorder: Pick<OpenRecorder, "figures">) {
  let isStopping = false;
  return {
    /** The process responds. The store doesn't matter, because a restart wouldn't repair it. */
    live: (call: Call) => json(call, 200, { status: "success", message: "live" }, "en"),
    /** This process can look up links, and isn't about to stop. */
    async ready(call: Call): Promise<Response> {
      if (isStopping) return problemJson(call, { kind: "unavailable" });
      await links.find(PROBE);
      // A restart would not help, and visitors are still redirected.
      const message = recorder.figures().isCounting ? "ready" : "ready, but visits are not counted";
      return json(call, 200, { status: "success", message }, "en");
    },
    /** Makes `ready` fail from now on. */
    stopping() {
      isStopping = true;
    },
  };
}

export type Health = ReturnType<typeof createHealth>;

function text(body: string): Response {
  return answer({ body, type: "text/plain; charset=utf-8", policy: null, cache: "public, max-age=3600" });
}
