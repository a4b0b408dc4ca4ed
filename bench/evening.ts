import { join } from "node:path";

import { openSqliteStore } from "../src/store/sqlite/sqlite-store.ts";
import { insertLinks, originalUrl } from "./links.ts";
import { generated, visitsOnce } from "./load.ts";
import { measure, median, ratios, type Round, rounded } from "./measure.ts";
import type { Bench, Result } from "./report.ts";
import { makeLinks, type Server, startCurt } from "./servers.ts";

const LINKS = 10_000_000;
/** Interval between two links: all of them span almost a year. */
const EVERY_MS = 3000;
const CAMPAIGN_LINKS = 300;
const HOSTS = Array.from({ length: 40 }, (_, nth) => `login.campaign${nth}.example`);
const CAMPAIGN = "q=wp-admin/verify";
const HOT_LINKS = 2000;
const VISITS_PER_SECOND = 1000;
const CONNECTIONS = 32;
const EVENINGS = 3;
/** Longer than the evening takes here. */
const EVENING_MS = 120_000;
/** A takedown should take one second at most. */
const FOLLOWED_MS = 3000;
const TOKEN = "bench-bench-bench-bench";

/** The fields of responses used here. Each response has a few of them. */
interface AdminResponse {
  readonly links: readonly { readonly code: string }[];
  readonly cases: readonly { readonly code: string }[];
  readonly cursor: string | null;
  readonly count: number;
}

type Steps = Map<string, number[]>;

/** An operator finds and stops a campaign among many links, and undoes it all, while others are redirected. */
export async function measureEvening({ folder, progress }: Bench): Promise<Result> {
  const database = join(folder, "evening.db");
  const linksFile = join(folder, "evening-links");
  progress(`making ${LINKS} links`);
  await (await openSqliteStore(database)).close();
  const nowMs = Date.now();
  await insertLinks(database, LINKS, (nth) => [urlOf(nth), nowMs - (LINKS - nth) * EVERY_MS]);
  const settings = { BASE_URL: "https://go.example.com", TRUSTED_PROXIES: "127.0.0.1", ADMIN_TOKEN: TOKEN };
  const curt = await startCurt(database, { settings: { ...settings, LIMIT_CREATE: "off" } });
  await makeLinks(curt, HOT_LINKS, linksFile);
  await visitsOnce(linksFile)(curt);
  const visits = { kind: "visits", linksFile, status: 302, perSecond: VISITS_PER_SECOND } as const;
  const load = generated(EVENING_MS, { ...visits, connections: CONNECTIONS });
  const steps: Steps = new Map();
  const turns: Record<"alone" | "evening", Round[]> = { alone: [], evening: [] };
  for (let evening = 0; evening < EVENINGS; evening++) {
    progress(`evening ${evening + 1} of ${EVENINGS}`);
    turns.alone.push(await measure(curt, load));
    const [round] = await Promise.all([measure(curt, load), spendEvening(curt, evening, steps)]);
    turns.evening.push(round);
  }
  await curt.stop();
  const p99Us = ({ latencies: [latency] }: Round) => latency?.p99Us ?? Number.NaN;
  const row = (step: string, eachMs: readonly number[], each?: readonly number[]) => ({
    "an evening": step,
    "median, ms": median(eachMs),
    "slowest, ms": Math.max(...eachMs),
    times: eachMs.length,
    "each evening": each,
  });
  const p99Ms = (rounds: readonly Round[]) => rounds.map((round) => rounded(p99Us(round) / 1000, 2));
  const slower = ratios(turns.evening, turns.alone, p99Us);
  return {
    rows: [
      ...[...steps].map(([step, eachMs]) => row(step, eachMs)),
      row("p99 of redirects, alone", p99Ms(turns.alone), p99Ms(turns.alone)),
      row("p99 of redirects, in the evening", p99Ms(turns.evening), p99Ms(turns.evening)),
      row("p99 of redirects, ratio", slower, slower),
    ],
    rounds: { evening: turns },
  };
}

/** Follows docs/admin.md from the first report to the journal; afterwards everything is as it was. */
async function spendEvening(curt: Server, evening: number, steps: Steps): Promise<void> {
  const url = `http://127.0.0.1:${curt.port}`;
  async function call(step: string, method: string, path: string, body?: object): Promise<AdminResponse> {
    const headers = { Authorization: `Bearer ${TOKEN}`, "Content-Type": "application/json" };
    const startMs = performance.now();
    const response = await fetch(`${url}/api/v1/admin/${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as { data: AdminResponse };
    keep(steps, step, performance.now() - startMs);
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
    return answer.data;
  }

  /** All results of a search, in as many requests as necessary. */
  async function search(step: string, query: string): Promise<AdminResponse["links"]> {
    const startMs = performance.now();
    const links: AdminResponse["links"][number][] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const page = await call(`${step}, a request`, "GET", `links?${query}&limit=200&cursor=${cursor}`);
      links.push(...page.links);
      ({ cursor } = page);
    }
    keep(steps, step, performance.now() - startMs);
    return links;
  }

  const some = await search("find by host", "host=campaign0.example");
  for (const [nth, { code }] of some.entries()) await report(url, code, `192.0.${evening}.${nth}`);
  const { cases } = await call("cases", "GET", "cases");
  await call("a link", "GET", `links/${cases[0]?.code}`);
  const results = await search("find by text", CAMPAIGN);
  const { count } = await call("count results of a text", "POST", `links/disable?${CAMPAIGN}`, {
    reason: "phishing",
  });
  if (results.length !== CAMPAIGN_LINKS || count !== CAMPAIGN_LINKS)
    throw new Error(`${results.length}, ${count} links found`);
  await call("disable the results", "POST", `links/disable?${CAMPAIGN}`, { reason: "phishing", count });
  await gone(url, results[0]?.code ?? "", steps);
  for (const host of HOSTS) await call("block a host", "PUT", `hosts/${host}`, { reason: "phishing" });
  for (const { code } of some)
    await call("answer reports", "POST", `cases/${code}`, { action: "disable", reason: "phishing" });
  await call("undo one", "POST", `links/${some[0]?.code}/enable`);
  await call("journal", "GET", "journal");
  await call("figures", "GET", "figures");
  for (const host of HOSTS) await call("unblock a host", "DELETE", `hosts/${host}`);
  await call("undo all", "POST", `links/enable?${CAMPAIGN}`, { count });
}

async function report(url: string, code: string, address: string): Promise<void> {
  const { status } = await fetch(`${url}/api/v1/links/${code}/reports`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Forwarded-For": address },
    body: JSON.stringify({ reason: "phishing", note: "a fake bank" }),
  });
  if (status !== 202) throw new Error(`a report got ${status}`);
}

/** Measures how long a link keeps redirecting. */
async function gone(url: string, code: string, steps: Steps): Promise<void> {
  const startMs = performance.now();
  for (;;) {
    const { status } = await fetch(`${url}/${code}`, { redirect: "manual" });
    const afterMs = performance.now() - startMs;
    if (status === 410) return keep(steps, "until it takes effect", afterMs);
    if (afterMs > FOLLOWED_MS) throw new Error(`/${code} still answers ${status}`);
  }
}

function keep(steps: Steps, step: string, ms: number): void {
  steps.set(step, [...(steps.get(step) ?? []), rounded(ms, 2)]);
}

function urlOf(nth: number): string {
  const every = LINKS / CAMPAIGN_LINKS;
  const campaign = Math.ceil(nth / every);
  if (nth !== Math.floor(campaign * every)) return originalUrl(`site${nth % 1000}`, nth);
  return `https://${HOSTS[campaign % HOSTS.length]}/wp-admin/verify?account=${nth}`;
}
