import type { Call } from "../http/call.ts";
import { answer } from "../http/responses.ts";
import type { Clock } from "../links/clock.ts";
import { DAY_MS } from "../links/time.ts";
import { LANGUAGES } from "../locales/messages.ts";

/** RFC 9116, section 2.5.5: less than a year ahead. It moves with every answer, for who runs this answers it. */
const VALID_MS = 180 * DAY_MS;

export interface NoticesOptions {
  /** A URI; null where the operator names none. */
  readonly contact: string | null;
  readonly clock: Clock;
}

/** What crawlers and people who found a hole look for at well-known addresses. */
export function createNotices({ contact, clock }: NoticesOptions) {
  return {
    /** RFC 9309. Previews and problems say `noindex` themselves, and a crawler must read them to know. */
    robots: () => text("User-agent: *\nDisallow: /api/\n"),

    /** RFC 9116; undefined without a contact. */
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

export type Notices = ReturnType<typeof createNotices>;

function text(body: string): Response {
  return answer({ body, type: "text/plain; charset=utf-8", policy: null, cache: "public, max-age=3600" });
}
