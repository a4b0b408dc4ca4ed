import type { Clock } from "../links/clock.ts";
import { aimedMs, leadsFromMs, type Link } from "../links/link.ts";
import type { LinkStore } from "../links/store.ts";
import { targetHost } from "../links/target.ts";
import { DAY_MS } from "../links/time.ts";
import { registrableDomain } from "./domain-name.ts";

/** How long a link is new. */
const NEW_MS = DAY_MS;
/** A site that some link led to so long before is known. */
const KNOWN_AFTER_MS = 7 * DAY_MS;

/**
 * Returns until when a link is new, in Unix milliseconds; 0 if it never was, because an earlier link leads to the same
 * site. It only depends on the link, so that all processes agree. A link is new from when it
 * begins, and again when its target was changed.
 */
export function createNovelty(store: Pick<LinkStore, "hasLinked">, clock: Pick<Clock, "nowMs">) {
  return async (link: Pick<Link, "target" | "createdMs" | "terms">): Promise<number> => {
    const untilMs = leadsFromMs(link) + NEW_MS;
    // Most links are older. They need no look at the store.
    if (clock.nowMs() >= untilMs) return 0;
    const domain = registrableDomain(targetHost(link.target));
    // Not from when it begins: a link that was made long before would make its own site known.
    return (await store.hasLinked(domain, aimedMs(link) - KNOWN_AFTER_MS)) ? 0 : untilMs;
  };
}
