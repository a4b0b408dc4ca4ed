import type { Link } from "../links/link.ts";
import { HOUR_MS } from "../links/time.ts";
import { memoize } from "../memoize.ts";
import { preferredLanguage } from "./accepted-language.ts";
import { readAgent } from "./agent.ts";
import type { Journal } from "./journal/journal.ts";
import { createName, type Name } from "./journal/segment.ts";
import { referrerHost } from "./referrer.ts";
import type { KeyedLink, Visitors } from "./visitor.ts";

export interface RecorderOptions {
  readonly journal: Pick<Journal, "active" | "next">;
  readonly visitors: Visitors;
}

/** What is counted of a request. `client` is asked for people only: it costs more than the headers. */
export interface Visit {
  readonly headers: Headers;
  client(): Client;
}

/** The address and the country of whoever asks, "" where they are not known. */
export interface Client {
  readonly address: string;
  readonly country: string;
}

/** What the redirect keeps with a link, to count its visits. */
export interface Counter extends Name, KeyedLink {
  readonly createdMs: number;
}

export function counterOf({ code, createdMs }: Pick<Link, "code" | "createdMs">): Counter {
  return { ...createName("link", code), createdMs, keyDay: -1, key0: 0, key1: 0 };
}

const FETCHED_AHEAD = /prefetch|prerender|preview/i;

/**
 * Whether a browser may be showing the link's destination to a person (Fetch Metadata, section 2.1; "Speculative
 * Loading", section 5.1, and the names its header had before). One that fetches ahead asks again when somebody comes.
 */
function isNavigation(headers: Headers): boolean {
  const destination = headers.get("sec-fetch-dest");
  // Browsers that say it name a WebSocket there, too.
  if (destination === null) {
    if (headers.get("upgrade")?.toLowerCase() === "websocket") return false;
  } else if (destination !== "document" && destination !== "iframe") {
    return false;
  }
  const purpose = headers.get("sec-purpose") ?? headers.get("purpose") ?? headers.get("x-purpose");
  return purpose === null || !FETCHED_AHEAD.test(purpose);
}

/**
 * Counts visits. Everything is written before the redirect is answered, into mapped memory: every visitor who got
 * an answer is counted, even when the process is killed the moment after. Headers are read by look-up of what
 * they said before; a new one is read once.
 */
export function createRecorder({ journal, visitors }: RecorderOptions) {
  const lost = { visits: 0, details: 0 };

  const agentName = memoize((text) => createName("agent", text));
  const languageName = memoize((text) => createName("language", text));
  const referrerName = memoize((host) => createName("referrer", host));
  const countryName = memoize((country) => createName("country", country));
  const agentOf = memoize((userAgent) => {
    const { bot, browser, os, device } = readAgent(userAgent);
    return {
      bot,
      name: agentName([browser, os, device].join("\t")),
      hash: Bun.hash.xxHash32(userAgent),
    };
  });
  const languageOf = memoize((accepted) => languageName(preferredLanguage(accepted)));
  const referrerOf = memoize((referer) => referrerName(referrerHost(referer)));

  return {
    /** Counts one visit at the instant `nowMs`. */
    record(link: Counter, visit: Visit, nowMs: number): void {
      const { headers } = visit;
      const nowHour = Math.floor(nowMs / HOUR_MS);
      // A visit is never counted in another hour: it would be told on a wrong day.
      if (nowHour !== journal.active.hour && !journal.next(nowHour)) {
        lost.visits++;
        return;
      }
      const agent = agentOf(headers.get("user-agent") ?? "");
      const bot = agent.bot || !isNavigation(headers);
      if (!journal.active.count(link, bot) && !(journal.next(nowHour) && journal.active.count(link, bot))) {
        lost.visits++;
        return;
      }
      if (bot) return;
      const { address, country } = visit.client();
      const { visitor, network } = visitors.identify(link, address, agent.hash, nowMs);
      const details = {
        agent: agent.name,
        referrer: referrerOf(headers.get("referer") ?? ""),
        language: languageOf(headers.get("accept-language") ?? ""),
        country: countryName(country),
        visitor,
        network,
      };
      if (
        !journal.active.tell(link, details) &&
        !(journal.next(nowHour) && journal.active.tell(link, details))
      ) {
        lost.details++;
      }
    },
    /** Visits, and details of visits, that found no room since this was last asked. */
    takeLost(): { visits: number; details: number } | undefined {
      if (lost.visits + lost.details === 0) return undefined;
      const taken = { ...lost };
      lost.visits = lost.details = 0;
      return taken;
    },
  };
}

export type Recorder = ReturnType<typeof createRecorder>;
