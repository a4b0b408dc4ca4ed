import { memoize } from "../lib/memoize.ts";
import type { LinkId } from "../links/store.ts";
import { HOUR_MS } from "../links/time.ts";
import { preferredLanguage } from "./accepted-language.ts";
import { isCrawler, readAgent } from "./agent/agent.ts";
import type { Journal } from "./journal/journal.ts";
import { createName, type Name } from "./journal/segment.ts";
import { referrerHost } from "./referrer.ts";
import type { KeyedLink, Visitors } from "./visitor.ts";

export interface RecorderOptions {
  readonly journal: Pick<Journal, "active" | "next">;
  readonly visitors: Visitors;
}

/** The parts of a request that are counted. `client` is called for people only, because it costs more than the headers. */
export interface Visit {
  readonly headers: Headers;
  client(): Client;
}

/** The client's address and country, "" if unknown. */
export interface Client {
  readonly address: string;
  readonly country: string;
}

/** What the redirect keeps with a link, to count its visits. */
export interface Counter extends Name, KeyedLink {
  readonly createdMs: number;
}

export function counterOf({ code, createdMs }: LinkId): Counter {
  return { ...createName("link", code), createdMs, keyDay: -1, key0: 0, key1: 0 };
}

const FETCHED_AHEAD = /prefetch|prerender|preview/i;

/** Whether a browser that sent the request may show the answer as a page (Fetch Metadata, section 2.1). */
function asksForPage(headers: Headers): boolean {
  const destination = headers.get("sec-fetch-dest");
  // A browser that sends Sec-Fetch-Dest names a WebSocket there.
  return destination === null
    ? headers.get("upgrade")?.toLowerCase() !== "websocket"
    : destination === "document" || destination === "iframe";
}

/**
 * Whether the request may come from a person who opens the link ("Speculative Loading", section 5.1, and the earlier
 * names of its header). A browser that prefetches sends another request when the person follows the link.
 */
function isNavigation(headers: Headers): boolean {
  return asksForPage(headers) && !isFetchedAhead(headers);
}

function isFetchedAhead(headers: Headers): boolean {
  const purpose = headers.get("sec-purpose") ?? headers.get("purpose") ?? headers.get("x-purpose");
  return purpose !== null && FETCHED_AHEAD.test(purpose);
}

/**
 * Counts visits. Each is written to mapped memory before the redirect is answered, so every answered visit is counted,
 * even if the process is killed right after. Each distinct header value is parsed once and remembered.
 */
export function createRecorder({ journal, visitors }: RecorderOptions) {
  const lost = { visits: 0, details: 0 };
  /** What `takeLost` has told of it. */
  const told = { visits: 0, details: 0 };

  const agentName = memoize((text) => createName("agent", text));
  const crawls = memoize(isCrawler);
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
      // Never count a visit in another hour: the statistics would show it on the wrong day.
      if (nowHour !== journal.active?.hour && !journal.next(nowHour)) {
        lost.visits++;
        return;
      }
      const agent = agentOf(headers.get("user-agent") ?? "");
      const bot = agent.bot || !isNavigation(headers);
      if (!journal.active?.count(link, bot) && !(journal.next(nowHour) && journal.active?.count(link, bot))) {
        lost.visits++;
        return;
      }
      if (bot) return;
      const { address, country } = visit.client();
      const details = {
        agent: agent.name,
        referrer: referrerOf(headers.get("referer") ?? ""),
        language: languageOf(headers.get("accept-language") ?? ""),
        country: countryName(country),
        visitor: visitors.identify(link, address, agent.hash, nowMs),
      };
      if (
        !journal.active?.tell(link, details) &&
        !(journal.next(nowHour) && journal.active?.tell(link, details))
      ) {
        lost.details++;
      }
    },
    /**
     * Whether a person may read the answer. Other than a visit, this includes a browser that fetches it ahead: it may
     * show later what it got.
     */
    isBrowser(headers: Headers): boolean {
      return !agentOf(headers.get("user-agent") ?? "").bot && asksForPage(headers);
    },
    /** Who asks for a link that may only be visited so often: somebody who goes there now, or a program that only looks. */
    comerOf(headers: Headers): "visitor" | "crawler" | "ahead" {
      if (isFetchedAhead(headers)) return "ahead";
      return crawls(headers.get("user-agent") ?? "") ? "crawler" : "visitor";
    },
    /** Visits, and details of visits, that found no room since this was last asked. */
    takeLost(): { visits: number; details: number } | undefined {
      const taken = { visits: lost.visits - told.visits, details: lost.details - told.details };
      Object.assign(told, lost);
      return taken.visits + taken.details === 0 ? undefined : taken;
    },
    /** The same since the start. */
    lost: lost as Readonly<typeof lost>,
  };
}

export type Recorder = ReturnType<typeof createRecorder>;
