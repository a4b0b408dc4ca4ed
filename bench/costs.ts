// Measures each kind of request in hot redirects, on all threads of the process and on the serving thread. Then finds the most
// expensive requests that anyone can send.
import { join } from "node:path";

import { readConfig } from "../src/config/config.ts";
import { createLog } from "../src/lib/log.ts";
import { createClock } from "../src/links/clock.ts";
import { isProblem } from "../src/links/problem.ts";
import { openCore } from "../src/server/core.ts";
import { counterOf } from "../src/visits/recorder.ts";
import { checkOut } from "./compare.ts";
import type { Task } from "./generator.ts";
import { writeLinks } from "./links.ts";
import { generated, type Load, visitsOnce } from "./load.ts";
import { type Cost, costOf, median, rounded } from "./measure.ts";
import { ROOT } from "./process.ts";
import type { Bench, Result, Row } from "./report.ts";
import { BROWSER, PROGRAM, request } from "./requests.ts";
import { makeLinks, type Server, startCurt } from "./servers.ts";
import { walk, WALK_SETTINGS } from "./walk.ts";

const ROUNDS = 3;
const ROUND_MS = 300;
/** Fewer than the queue of views holds. */
const CONNECTIONS = 32;
const COLD_LINKS = 120_000;
/** The last ones of these, which get no visits. */
const FRESH_LINKS = 2000;
const POPULAR_DAYS = 400;
const POPULAR_VISITS_A_DAY = 100;
const DAY_MS = 86_400_000;

/** The most that one request may cost, in hot redirects. */
const AIMS = { process: 150, serving: 20 };

/** The date this many days from today. */
const dateOf = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
const FORM = [...BROWSER, "Content-Type: application/x-www-form-urlencoded"];
const JSON_BODY = [...PROGRAM, "Content-Type: application/json"];
const shorten = (body: object) => request("POST /api/v1/shorten", JSON_BODY, JSON.stringify(body));
/** As many as Bun accepts. */
const PAIRS = `x={number}${"&a".repeat(7700)}`;
/** All zones: many more than responses are kept, so each response is rendered again. */
const ZONES = Intl.supportedValuesOf("timeZone").map(encodeURIComponent);
const statistics = (query: string) => request(`GET /api/v1/links/popular/stats?${query}`, PROGRAM);
const lastDays = (days: number) => `from=${dateOf(1 - days)}&to=${dateOf(0)}`;

/**
 * Each {number} is another number in every request, {zone} another time zone and {fresh} another link, so that no two of
 * them can share a response. "Many readers" send equal requests, which share responses.
 */
const KINDS: readonly (readonly [name: string, status: number, request: string])[] = [
  ["HEAD of a hot link", 302, request("HEAD /popular")],
  ["hot redirect, spelled in another form", 302, request("GET /%E1%84%92%E1%85%A1%E1%86%AB")],
  ["unknown code, browser", 404, request("GET /a{number}")],
  ["unknown code, program", 404, request("GET /a{number}", PROGRAM)],
  ["home page", 200, request("GET /")],
  ["home page with the form filled in", 200, request("GET /?original_url=https://example.com/{number}")],
  ["preview, fresh link", 200, request("GET /{fresh}+")],
  ["preview, popular link", 200, request("GET /popular+?tz={zone}")],
  ["preview, popular link, many readers", 200, request("GET /popular+?x={number}")],
  ["preview of an unknown code", 404, request("GET /a{number}+")],
  ["statistics, 30 days", 200, statistics("tz={zone}")],
  ["statistics, 90 days", 200, statistics(`${lastDays(90)}&tz={zone}`)],
  ["statistics, 90 days, many readers", 200, statistics(`${lastDays(90)}&x={number}`)],
  ["statistics, 400 days", 200, statistics(`${lastDays(400)}&tz={zone}`)],
  ["statistics, hours", 200, statistics("interval=hour&tz={zone}")],
  ["statistics, 62 days of hours", 200, statistics(`interval=hour&${lastDays(62)}&tz={zone}`)],
  ["SVG", 200, request("GET /{fresh}.svg")],
  ["PNG", 200, request("GET /{fresh}.png")],
  ["PNG, 2,048 pixels", 200, request("GET /{fresh}.png?size=2048")],
  ["/docs", 200, request("GET /docs")],
  ["/api/v1/openapi.json", 200, request("GET /api/v1/openapi.json?x={number}", PROGRAM)],
  ["GET /api/v1/shorten", 200, request("GET /api/v1/shorten?x={number}", PROGRAM)],
  ["availability", 200, request("GET /api/v1/codes/a{number}", PROGRAM)],
  ["a link", 200, request("GET /api/v1/links/popular", PROGRAM)],
  ["create", 201, shorten({ original_url: "https://www.example.com/articles/{number}" })],
  ["create, taken", 409, shorten({ original_url: "https://www.example.com/", custom_code: "popular" })],
  ["create, refused", 400, shorten({ original_url: "javascript:alert({number})", custom_code: "a b" })],
  ["create, no JSON", 400, request("POST /api/v1/shorten", JSON_BODY, '{"original_url": ')],
  ["form refused", 400, request("POST /", FORM, "original_url=ftp://x{number}&custom_code=a")],
  ["404 page", 404, request("GET /nothing/here/{number}")],
  ["405", 405, request("DELETE /api/v1/shorten", PROGRAM)],
  ["/readyz", 200, request("GET /readyz", PROGRAM)],
  ["password page, thousands of parameters", 403, request(`GET /secret?${PAIRS}`)],
  ["forward_query, thousands of parameters", 302, request(`GET /forwarding?${PAIRS}`)],
  ["/admin, thousands of parameters", 401, request(`GET /admin?${PAIRS}`)],
  ["unknown code, thousands of parameters", 404, request(`GET /a{number}?${PAIRS}`)],
];
/** At a service with {@link GUARDS}. The last ones come from a client that may look up no more codes. */
const GUARDED_KINDS: typeof KINDS = [
  ["interstitial", 200, request("GET /popular?x={number}")],
  ["interstitial, thousands of parameters", 200, request(`GET /popular?${PAIRS}`)],
  ["429", 429, request("GET /a{number}")],
  ["429, thousands of parameters", 429, request(`GET /a{number}?${PAIRS}`)],
];
const GUARDS = { INTERSTITIAL: "all", LIMIT_UNKNOWN: "1/31d" };

/** With a commit, measures that one instead of the working tree. */
export async function measureCosts({ folder, commit, progress }: Bench): Promise<Result> {
  const tree = commit === undefined ? ROOT : checkOut(commit, join(folder, "checkout"));
  const program = [process.execPath, join(tree, "src/main.ts")];
  const database = join(folder, "costs.db");
  progress(`making visits of ${POPULAR_DAYS} days`);
  await makePopular(database);
  const curt = await startCurt(database, { program, settings: { ADMIN_TOKEN: WALK_SETTINGS.ADMIN_TOKEN } });
  const guarded = await startCurt(join(folder, "guarded.db"), { program, settings: GUARDS });
  await useUpLimit(guarded);
  const cold = join(folder, "cold");
  const links = await makeLinks(curt, COLD_LINKS, cold);
  const fresh = links.slice(-FRESH_LINKS).map(([code]) => code);
  const hot = join(folder, "hot");
  writeLinks(hot, [["popular", ""]]);
  await visitsOnce(hot)(curt);
  const redirects = load({ kind: "visits", linksFile: hot, status: 302 });
  const kindsOf = (server: Server, kinds: typeof KINDS) =>
    kinds.map(
      ([name, status, text]) =>
        [name, server, () => load({ kind: "same", status, ...eachOf(text, fresh) })] as const,
    );
  const kinds: (readonly [string, Server, (round: number) => Load])[] = [
    [
      "cold redirect",
      curt,
      (round) => load({ kind: "visits", linksFile: cold, status: 302, from: round * 40_000 }),
    ],
    ...kindsOf(curt, KINDS),
    ["preview, not changed", curt, () => notModified("/fresh+")],
    ...kindsOf(guarded, GUARDED_KINDS),
  ];
  await redirects(curt);
  const rows: Row[] = [];
  for (const [name, server, loadOf] of kinds) {
    progress(name);
    if (name !== "cold redirect") await loadOf(0)(server);
    const costs: Cost[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const redirect = await costOf(curt, redirects);
      const other = await costOf(server, loadOf(round));
      costs.push({ process: other.process / redirect.process, serving: other.serving / redirect.serving });
    }
    const [whole, serving] = (["process", "serving"] as const).map((part) =>
      rounded(median(costs.map((one) => one[part])), 1),
    );
    rows.push({
      "cost, in hot redirects": name,
      "counts against": undefined,
      "all threads": whole,
      "serving thread": serving,
      "each round": costs.map(({ process: one }) => rounded(one, 1)),
    });
  }
  await curt.stop();
  await guarded.stop();
  const start = () => startCurt(join(folder, "walk.db"), { program, settings: WALK_SETTINGS });
  const walked = await walk(start, (server) => costOf(server, redirects), progress);
  const tooExpensive = rows.filter(
    (row) => Number(row["all threads"]) > AIMS.process || Number(row["serving thread"]) > AIMS.serving,
  );
  const doubts = tooExpensive.map((row) => `Above the aim: ${String(row["cost, in hot redirects"])}.`);
  const figure = (name: string) => ({
    Curt: Number(rows.find((row) => row["cost, in hot redirects"] === name)?.["all threads"]),
  });
  return {
    rows: [...rows, ...walked.rows],
    rounds: {},
    doubts: [...doubts, ...walked.doubts],
    figures: {
      "preview, fresh link, in hot redirects": figure("preview, fresh link"),
      "preview, popular link, in hot redirects": figure("preview, popular link"),
      "statistics of 90 days, in hot redirects": figure("statistics, 90 days"),
    },
  };
}

/** The request, and the values of {item} in it. */
function eachOf(text: string, fresh: readonly string[]) {
  if (text.includes("{zone}")) return { request: text.replace("{zone}", "{item}"), items: ZONES };
  if (text.includes("{fresh}")) return { request: text.replace("{fresh}", "{item}"), items: fresh };
  return { request: text };
}

function load(task: Task): Load {
  return generated(ROUND_MS, { ...task, connections: CONNECTIONS });
}

/** A page that the caller has already. Its tag changes every quarter of an hour. */
function notModified(path: string): Load {
  return async (curt) => {
    const headers = Object.fromEntries(BROWSER.map((line) => line.split(": ") as [string, string]));
    const { headers: received } = await fetch(`http://127.0.0.1:${curt.port}${path}`, { headers });
    const known = `If-None-Match: ${received.get("etag") ?? ""}`;
    return load({ kind: "same", status: 304, request: request(`GET ${path}`, [...BROWSER, known]) })(curt);
  };
}

/** Adds a link, and leaves the client no look-ups of unknown codes. */
async function useUpLimit({ port }: Server): Promise<void> {
  const origin = `http://127.0.0.1:${port}`;
  const body = JSON.stringify({ original_url: "https://www.example.com/", custom_code: "popular" });
  await fetch(`${origin}/api/v1/shorten`, { method: "POST", body });
  await fetch(`${origin}/unknown`);
}

/** A new database with a link that has been popular for long, and one without visits. */
async function makePopular(path: string): Promise<void> {
  const config = readConfig({ DATABASE_URL: `sqlite:${path}` });
  const endMs = Date.now();
  let nowMs = endMs - POPULAR_DAYS * DAY_MS;
  const now = () => nowMs;
  const clock = createClock(now, now);
  const core = await openCore(config, createLog("warn", process.stdout), { clock });
  const { links } = core.forDomain({ keyPrefix: "", find: () => undefined });
  const fail = (error: unknown) => {
    throw error;
  };
  const recorder = await core.visits.openRecorder({
    folder: config.journalFolder,
    tickMs: 5,
    onFault: fail,
    onDropped: fail,
  });
  const originalUrl = "https://www.example.com/articles/how-short-links-work";
  const link = await links.create({ originalUrl, customCode: "popular", terms: { expires_at: null } });
  if (isProblem(link)) throw new Error(JSON.stringify(link));
  const counter = counterOf(link);
  for (; nowMs < endMs; nowMs += DAY_MS) {
    await recorder.prepare();
    for (let visit = 0; visit < POPULAR_VISITS_A_DAY; visit++) visitOnce();
    // Lets the journal fold the day.
    await Bun.sleep(10);
  }
  if (recorder.takeLost() !== undefined) throw new Error("visits found no room in the journal");
  function visitOnce(): void {
    const nth = Math.floor(Math.random() * 50);
    const headers = new Headers({
      "User-Agent": `Mozilla/5.0 (${["Windows NT 10.0", "X11; Linux x86_64"][nth % 2]}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${120 + (nth % 12)}.0.0.0 Safari/537.36`,
      Referer: `https://site-${nth}.example/`,
      "Accept-Language": nth % 3 === 0 ? "ko" : "en",
    });
    const client = () => ({ address: `192.0.2.${nth}`, country: ["KR", "US", "JP", "DE"][nth % 4] ?? "" });
    recorder.record(counter, { headers, client }, nowMs);
  }
  nowMs = endMs;
  for (const [customCode, terms] of [
    ["fresh", {}],
    ["한", {}],
    ["secret", { password: "correct horse" }],
    ["forwarding", { forward_query: true }],
  ] as const)
    await links.create({ originalUrl, customCode, terms: { expires_at: null, ...terms } });
  await recorder.close();
  while ((await core.visits.age()) > 0);
  await core.close();
}
