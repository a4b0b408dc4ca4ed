import { header } from "../lib/bounds.ts";
import { memoize } from "../lib/memoize.ts";
import type { Code } from "../links/code.ts";
import type { LinkId } from "../links/link-store.ts";
import { HOUR_MS } from "../links/time.ts";
import type { Journal } from "./journal/journal.ts";
import { createName, type Name, type VisitDetail } from "./journal/segment.ts";
import { isCrawler, readAgent } from "./user-agent.ts";
import { isForPage, isPrefetch, preferredLanguage, referrerHost } from "./visit-headers.ts";
import type { KeyedLink, Visitors } from "./visitor-numbers.ts";

export interface RecorderOptions {
  readonly journal: Pick<Journal, "active" | "next">;
  readonly visitors: Visitors;
}

/** The parts of a request that describe a visit. `client` is called for people only, because it costs more than the headers. */
interface Visit {
  readonly headers: Headers;
  client(): Client;
}

/** The client's address and country, "" if unknown. */
export interface Client {
  readonly address: string;
  readonly country: string;
  /** Whether a trusted proxy passed the request on. */
  readonly isThroughProxy?: boolean;
}

/** Counts the visits of one link. The redirect caches it with the link. */
export interface Counter extends Name, KeyedLink {
  readonly keyPrefix: string;
  readonly createdMs: number;
}

/** `keyPrefix` is that of the link's domain. */
export function counterOf({ code, createdMs }: LinkId<Code>, keyPrefix = ""): Counter {
  return { ...createName("link", code), keyPrefix, createdMs, keyDay: -1, key0: 0, key1: 0 };
}

/** Visits that aren't counted, and visits that are counted without their details. */
type Lost = Readonly<Record<"visits" | "details", number>>;

/**
 * Counts visits. Each is written to mapped memory before the redirect is answered, so every answered visit is counted,
 * even if the process is killed right after.
 */
export interface Recorder {
  /** Counts one visit at the instant `nowMs` (Unix ms). Without space for it, the visit is lost. */
  record(link: Counter, visit: Visit, nowMs: number): void;
  /** Whether a person may read the response, now or, if the browser fetches it ahead, later. */
  isBrowser(headers: Headers): boolean;
  /** Who requests a link with limited visits. Only a visitor uses one up. */
  requesterOf(headers: Headers): "visitor" | "crawler" | "prefetch";
  /** The visits lost for lack of space since the last call. */
  takeLost(): Lost | undefined;
  /** The same since the start. */
  readonly lost: Lost;
}

/** Each distinct header value is parsed once and remembered. */
export function createRecorder({ journal, visitors }: RecorderOptions): Recorder {
  const lost = { visits: 0, details: 0 };
  const reported = { visits: 0, details: 0 };

  const agentName = memoize((text) => createName("agent", text));
  const isKnownCrawler = memoize(isCrawler);
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

  /** Counts a visit and its detail in the same segment, the next one if the active one is full. False if there is no space. */
  function count(link: Counter, bot: boolean, hour: number, detail?: VisitDetail): boolean {
    if (journal.active?.count(link, bot, detail) === true) return true;
    return journal.next(hour) && journal.active?.count(link, bot, detail) === true;
  }

  return {
    record(link, visit, nowMs) {
      const { headers } = visit;
      const nowHour = Math.floor(nowMs / HOUR_MS);
      // Never count a visit in another hour: the statistics would show it on the wrong day.
      if (nowHour !== journal.active?.hour && !journal.next(nowHour)) {
        lost.visits++;
        return;
      }
      const agent = agentOf(header(headers, "user-agent") ?? "");
      const bot = agent.bot || !isForPage(headers) || isPrefetch(headers);
      if (bot) {
        if (!count(link, true, nowHour)) lost.visits++;
        return;
      }
      const { address, country } = visit.client();
      const detail: VisitDetail = {
        agent: agent.name,
        referrer: referrerOf(header(headers, "referer") ?? ""),
        language: languageOf(header(headers, "accept-language") ?? ""),
        country: countryName(country),
        visitor: visitors.identify(link, address, agent.hash, nowMs),
      };
      if (count(link, false, nowHour, detail)) return;
      if (count(link, false, nowHour)) lost.details++;
      else lost.visits++;
    },
    isBrowser(headers) {
      return !agentOf(header(headers, "user-agent") ?? "").bot && isForPage(headers);
    },
    requesterOf(headers) {
      if (isPrefetch(headers)) return "prefetch";
      return isKnownCrawler(header(headers, "user-agent") ?? "") ? "crawler" : "visitor";
    },
    takeLost() {
      const taken = { visits: lost.visits - reported.visits, details: lost.details - reported.details };
      Object.assign(reported, lost);
      return taken.visits + taken.details === 0 ? undefined : taken;
    },
    lost,
  };
}
