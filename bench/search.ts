import { statSync } from "node:fs";
import { join } from "node:path";

import type { LinkCursor, LinkQuery } from "../src/guard/search.ts";
import type { GuardStore } from "../src/guard/store.ts";
import { REASONS } from "../src/links/link.ts";
import type { LinkId } from "../src/links/store.ts";
import { DAY_MS } from "../src/links/time.ts";
import { openSqliteStore } from "../src/store/sqlite/store.ts";
import { insertLinks } from "./links.ts";
import { median, rounded } from "./measure.ts";
import type { Bench, Result } from "./report.ts";

const LINKS = 10_000_000;
/** Half of the links lead to these, some of them much more often than others; the rest to a site of some few links. */
const LARGE_SITES = 1000;
const SMALL_SITES = 2_000_000;
/** A link every so often, so that all of them take almost a year. */
const EVERY_MS = 3000;
const DISABLED = 20_000;
const CAMPAIGN_HOSTS = 40;
const CAMPAIGN_LINKS = 300;
const REPETITIONS = 20;
const PAGES = 5;
const LIMIT = 50;

/** How long the operator's searches take with many links, and what their index costs. */
export async function measureSearch({ folder, progress }: Bench): Promise<Result> {
  const path = join(folder, "search.db");
  progress(`making ${LINKS} links`);
  await (await openSqliteStore(path)).close();
  const nowMs = Date.now();
  await insertLinks(path, LINKS, (nth) => [urlOf(nth), nowMs - (LINKS - nth) * EVERY_MS]);
  const bytes = statSync(path).size;
  const store = await openSqliteStore(path);
  progress("making the index");
  const startMs = performance.now();
  while (await store.index());
  const indexMs = performance.now() - startMs;
  progress("disabling links");
  await disableSome(store, nowMs);
  progress("searches");
  const find = async (query: LinkQuery) => timePages(store, query, nowMs);
  const timeAgo = (days: number) => ({
    madeFromMs: nowMs - days * DAY_MS,
    madeBeforeMs: nowMs - (days - 1) * DAY_MS,
  });
  const cases: Record<string, (nth: number) => LinkQuery> = {
    newest: () => ({}),
    "a code, which is not there": (nth) => ({ text: `zzzz${nth}` }),
    "codes that begin with 3 characters": (nth) => ({ text: `${"bcdfghjkmn"[nth % 10]}2B` }),
    "codes that begin with 2 characters": (nth) => ({ text: `${"bcdfghjkmn"[nth % 10]}2` }),
    "codes that begin with 1 character": (nth) => ({ text: "bcdfghjkmn"[nth % 10] }),
    "a host with some links": (nth) => ({ host: `site${nth * 1000}.co.kr` }),
    "a host without links": (nth) => ({ host: `none${nth}.example.com` }),
    "a host with very many links": () => ({ host: "large1.com" }),
    "a suffix of many sites": () => ({ host: "co.kr" }),
    "a campaign's part of the target": () => ({ text: "wp-admin/verify" }),
    "a part of the target that no link has": (nth) => ({ text: `no-link-has-this-${nth}` }),
    disabled: () => ({ state: "disabled" }),
    active: () => ({ state: "active" }),
    ended: () => ({ state: "ended" }),
    deleted: () => ({ state: "deleted" }),
    "a day long ago": (nth) => timeAgo(30 + nth),
    "a host on a day long ago": (nth) => ({ host: "large1.com", ...timeAgo(30 + nth) }),
    "a host, disabled": () => ({ host: "large1.com", state: "disabled" }),
    "everything at once": (nth) => ({
      text: "articles",
      host: "co.kr",
      state: "active",
      ...timeAgo(30 + nth),
    }),
  };
  const rows = [];
  for (const [name, query] of Object.entries(cases)) {
    const pages = [];
    for (let nth = 0; nth < REPETITIONS; nth++) pages.push(...(await find(query(nth))));
    const eachMs = pages.map(({ ms }) => ms);
    rows.push({
      "search, a page": name,
      "median, ms": median(eachMs),
      "slowest, ms": Math.max(...eachMs),
      "links on it": rounded(pages.reduce((sum, { links }) => sum + links, 0) / pages.length, 1),
    });
  }
  const figuresMs = [];
  for (let nth = 0; nth < REPETITIONS; nth++) figuresMs.push(await timed(() => store.figures(nowMs)));
  await store.close();
  const other = (name: string, value: number, slowest?: number) => ({
    "search, a page": name,
    "median, ms": value,
    "slowest, ms": slowest,
    "links on it": undefined,
  });
  return {
    rows: [
      ...rows,
      other("the figures", median(figuresMs), Math.max(...figuresMs)),
      other("the index, µs per link", (indexMs * 1000) / LINKS),
      other("the index, bytes per link", (statSync(path).size - bytes) / LINKS),
    ],
    rounds: {},
  };
}

/** The time of each of the first pages. */
async function timePages(store: GuardStore, query: LinkQuery, nowMs: number) {
  const pages: { ms: number; links: number }[] = [];
  let cursor: LinkCursor | undefined;
  do {
    const startMs = performance.now();
    const page = await store.search(query, { cursor, limit: LIMIT, nowMs });
    pages.push({ ms: rounded(performance.now() - startMs, 2), links: page.links.length });
    ({ cursor } = page);
  } while (cursor !== undefined && pages.length < PAGES);
  return pages;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return rounded(performance.now() - startMs, 2);
}

async function disableSome(store: Awaited<ReturnType<typeof openSqliteStore>>, nowMs: number): Promise<void> {
  let cursor: LinkCursor | undefined;
  let disabled = 0;
  const decision = { who: "api", atMs: nowMs } as const;
  while (disabled < DISABLED) {
    const page = await store.search({ host: "large1.com" }, { cursor, limit: 500, nowMs });
    const links: LinkId[] = page.links.map(({ code, createdMs }) => ({ code, createdMs }));
    const reason = REASONS[disabled % REASONS.length] ?? "other";
    disabled += (await store.disable(links, { ...decision, reason })).length;
    ({ cursor } = page);
    if (cursor === undefined) break;
  }
}

function urlOf(nth: number): string {
  const path = `articles/short-links/${String(nth).padStart(9, "0")}?ref=newsletter`;
  if (nth % Math.floor(LINKS / CAMPAIGN_LINKS) === 0)
    return `https://login.campaign${(nth / Math.floor(LINKS / CAMPAIGN_LINKS)) % CAMPAIGN_HOSTS}.example.com/wp-admin/verify`;
  if (Math.random() < 0.5) return `https://www.large${Math.floor(LARGE_SITES ** Math.random())}.com/${path}`;
  return `https://shop.site${Math.floor(Math.random() * SMALL_SITES)}.co.kr/${path}`;
}
