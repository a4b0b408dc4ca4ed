// `npm run seed`: adds links and sixty days of visits to the database of `npm run dev`. RunningService it again adds more.
import { readConfig } from "../src/config/config.ts";
import { createLog } from "../src/lib/log.ts";
import type { Link } from "../src/links/link.ts";
import { isProblem } from "../src/links/problem.ts";
import { DURATIONS } from "../src/links/time.ts";
import { openCore } from "../src/server/core.ts";
import { counterOf } from "../src/visits/recorder.ts";
import { DATABASE_URL } from "./development.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DAYS = 60;
const LINKS = 36;
const MAX_VISITS_PER_DAY = 80;

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

const oneOf = <T>(choices: readonly T[]) => choices[Math.floor(Math.random() * choices.length)] as T;

const startedMs = Date.now();
let nowMs = startedMs - DAYS * DAY_MS;
const config = readConfig({ DATABASE_URL });
const clock = {
  nowMs: () => nowMs,
  monotonicMs: () => performance.now(),
  trustworthy: () => true,
  onSetBack() {},
  countedMs: (ms: number) => ms,
};
const core = await openCore(config, createLog("warn", process.stdout), { clock });
const { links } = core.forDomain({ keyPrefix: "", find: () => undefined });

const created: { link: Link; popularity: number }[] = [];
let visits = 0;
// Simulates day after day. Links are created during the first two thirds and visited from then on.
for (let day = 0; day < DAYS; day++) {
  const wanted = Math.min(LINKS, Math.ceil(((day + 1) * LINKS * 1.5) / DAYS));
  for (let nth = created.length; nth < wanted; nth++) {
    const link = await createLink(NAMED[nth]);
    created.push({ link, popularity: Math.random() ** 3 });
  }
  visits += await visitAll(nowMs);
  nowMs += DAY_MS;
}
await core.close();
console.log(`${created.length} links and ${visits} visits. npm run dev shows them, for example:`);
const popular = created.toSorted((one, other) => other.popularity - one.popularity);
for (const { link } of popular.slice(0, 5)) console.log(`  ${config.baseUrl}/${link.code}+`);

async function createLink(customCode: string | undefined): Promise<Link> {
  // Links with a custom code don't expire, so that the previews printed at the end have content.
  const expiry = customCode === undefined ? oneOf(["never", "never", ...DURATIONS] as const) : "never";
  const request = { originalUrl: oneOf(TARGETS), expiry };
  const link = await links.create({ ...request, customCode });
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
    const count = Math.round(popularity * MAX_VISITS_PER_DAY * (0.5 + Math.random()));
    const times = Array.from({ length: count }, () => fromMs + Math.random() * DAY_MS);
    return times.filter((atMs) => atMs < link.endsMs).map((atMs) => ({ link, atMs }));
  });
  for (const { link, atMs } of upcoming.toSorted((one, other) => one.atMs - other.atMs)) {
    const headers = new Headers({
      "User-Agent": oneOf(AGENTS),
      Referer: oneOf(REFERRERS),
      "Accept-Language": oneOf(LANGUAGES),
    });
    const address = `203.0.${Math.floor(Math.random() * 256)}.7`;
    const client = () => ({ address, country: oneOf(COUNTRIES) });
    recorder.record(counterOf(link), { headers, client }, atMs);
  }
  if (recorder.takeLost() !== undefined) throw new Error("the journal was full, so some visits were lost");
  await recorder.close();
  return upcoming.length;
}
