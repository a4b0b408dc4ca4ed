// Fills a store with links and sixty days of their visits, for trials.
import type { Config } from "../../config/config.ts";
import { createLog } from "../../lib/log.ts";
import { fillRandom } from "../../lib/random.ts";
import { createClock } from "../../links/clock.ts";
import type { Link } from "../../links/link.ts";
import { isProblem } from "../../links/problem.ts";
import { DURATIONS } from "../../links/time.ts";
import { openCore, systemNowMs } from "../../server/core.ts";
import { counterOf } from "../../visits/recorder.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DAYS = 60;
const LINKS = 36;
const MAX_VISITS_PER_DAY = 80;
/** A journal that isn't folded meanwhile has room for about 16 hours with visits. */
const HOURS = [9, 13, 19, 21];

const NAMED = ["한글날", "가을-소풍", "커피☕", "launch", "handbook", "spring-sale", "🍊", "회의록"];
const TARGETS = [
  "https://www.example.com/articles/how-short-links-work",
  "https://누리집.example/안내/오시는-길",
  "https://shop.example/collections/autumn?utm_source=newsletter",
  "https://docs.example.org/guide/first-steps#install",
];
const AGENTS = [
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1",
  "Mozilla/5.0 (Linux; Android 15; SM-S928N) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/27.0 Chrome/125.0.0.0 Mobile Safari/537.36",
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36",
  "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0",
  "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
];
const REFERRERS = ["", "", "https://search.naver.com/", "https://www.google.com/", "https://t.co/x"];
const LANGUAGES = ["ko-KR,ko;q=0.9", "en-GB,en;q=0.9", "ja"];
const COUNTRIES = ["KR", "KR", "KR", "US", "JP", "DE"];

/** From 0 to 1. */
function random(): number {
  return (fillRandom(new Uint32Array(1))[0] ?? 0) / 2 ** 32;
}

const oneOf = <T>(choices: readonly T[]) => choices[Math.floor(random() * choices.length)] as T;

export interface Sample {
  /** The most visited first. */
  readonly links: readonly Link[];
  readonly visits: number;
}

/** Simulates day after day, until `signal`. Links are created during the first two thirds and visited from then on. */
export async function fillStore(config: Config, signal?: AbortSignal): Promise<Sample> {
  let nowMs = systemNowMs() - DAYS * DAY_MS;
  const now = () => nowMs;
  const clock = createClock(now, now);
  const core = await openCore(config, createLog("warn", process.stdout), { clock });
  const { links } = core.forDomain({ keyPrefix: "", find: () => undefined });
  const created: { link: Link; popularity: number }[] = [];
  let visits = 0;
  for (let day = 0; day < DAYS; day++) {
    if (signal?.aborted === true) break;
    const wanted = Math.min(LINKS, Math.ceil(((day + 1) * LINKS * 1.5) / DAYS));
    for (let nth = created.length; nth < wanted; nth++) {
      const link = await createLink(NAMED[nth]);
      created.push({ link, popularity: random() ** 3 });
    }
    visits += await visitAll(nowMs);
    nowMs += DAY_MS;
  }
  await core.close();
  const byVisits = created.toSorted((one, other) => other.popularity - one.popularity);
  return { links: byVisits.map(({ link }) => link), visits };

  async function createLink(customCode: string | undefined): Promise<Link> {
    // Links with a custom code don't expire, so that there are some to show.
    const expires_at = customCode === undefined ? oneOf([null, null, ...DURATIONS]) : null;
    const link = await links.create({ originalUrl: oneOf(TARGETS), customCode, terms: { expires_at } });
    if (!isProblem(link)) return link;
    // It exists from an earlier run.
    if (link.kind === "taken") return createLink(undefined);
    throw new Error(`${customCode}: ${JSON.stringify(link)}`);
  }

  /** The visits of the 24 hours from `fromMs`. Closing the recorder brings them to the store before the next day. */
  async function visitAll(fromMs: number): Promise<number> {
    const recorder = await core.visits.openRecorder({
      folder: config.journalFolder,
      onFault(error) {
        throw error;
      },
      onDropped(path) {
        throw new Error(`${path} cannot be read`);
      },
    });
    const upcoming = created.flatMap(({ link, popularity }) => {
      const count = Math.round(popularity * MAX_VISITS_PER_DAY * (0.5 + random()));
      const times = Array.from({ length: count }, () => fromMs + (oneOf(HOURS) + random()) * HOUR_MS);
      return times.filter((atMs) => atMs < link.endsMs).map((atMs) => ({ link, atMs }));
    });
    for (const { link, atMs } of upcoming.toSorted((one, other) => one.atMs - other.atMs)) {
      const headers = new Headers({
        "User-Agent": oneOf(AGENTS),
        Referer: oneOf(REFERRERS),
        "Accept-Language": oneOf(LANGUAGES),
      });
      const address = `203.0.${Math.floor(random() * 256)}.7`;
      const client = () => ({ address, country: oneOf(COUNTRIES) });
      recorder.record(counterOf(link), { headers, client }, atMs);
    }
    if (recorder.takeLost() !== undefined) throw new Error("the journal was full, so some visits were lost");
    await recorder.close();
    return upcoming.length;
  }
}
