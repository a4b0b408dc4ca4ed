import { LANGUAGES } from "../../language/messages.ts";
import type { Clock } from "../../links/clock.ts";
import { DAY_MS } from "../../links/time.ts";

/** RFC 9116, section 2.5.5: less than a year ahead. It moves with every answer, for who runs this answers it. */
const VALID_MS = 180 * DAY_MS;

export interface NoticesOptions {
  readonly baseUrl: string;
  /** A URI; undefined where the operator names none. */
  readonly contact: string | undefined;
  readonly clock: Clock;
}

/** What crawlers and people who found a hole look for at well-known addresses. */
export function createNotices({ baseUrl, contact, clock }: NoticesOptions) {
  const { origin } = new URL(baseUrl);
  return {
    /** RFC 9309. Previews and problems say `noindex` themselves, and a crawler must read them to know. */
    robots: () => text("User-agent: *\nDisallow: /api/\n"),

    /** RFC 9116; undefined without a contact. */
    security:
      contact === undefined
        ? undefined
        : () => {
            const expires = new Date(Math.floor((clock.nowMs() + VALID_MS) / DAY_MS) * DAY_MS).toISOString();
            return text(
              `Contact: ${contact}\nExpires: ${expires}\nPreferred-Languages: ${LANGUAGES.join(", ")}\nCanonical: ${origin}/.well-known/security.txt\n`,
            );
          },
  };
}

export type Notices = ReturnType<typeof createNotices>;

function text(body: string): Response {
  return new Response(body, {
    headers: {
      "Content-Type": "text/plain; charset=utf-8",
      "Cache-Control": "public, max-age=3600",
      "X-Content-Type-Options": "nosniff",
    },
  });
}
