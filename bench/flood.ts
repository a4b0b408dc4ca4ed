import { join } from "node:path";

import type { Task } from "./generator.ts";
import { generated, visitsOnce } from "./load.ts";
import { inTurns, measure, median, medianOf, ratios, type Round, rounded } from "./measure.ts";
import type { Bench, Result } from "./report.ts";
import { visitTail } from "./requests.ts";
import { makeLinks, startCurt } from "./servers.ts";

const LINKS = 1000;
const VISITS_PER_SECOND = 2000;
const VISITORS = 32;
const FLOODERS = 64;
const DRIPS = 5000;
const ROUNDS = 5;
const ROUND_MS = 2000;
const MOST_TIMES_QUIET = 3;

/** Settings of a public service, with its default limits. */
const PUBLIC = { HOST: "0.0.0.0", BASE_URL: "https://curt.example" };

/** The requests of a flooding client. No two can share a response. */
const FLOODS: Readonly<Record<string, readonly string[]>> = {
  "unknown codes": ["/a{number}"],
  previews: ["/{code}+?x={number}"],
  statistics: ["/api/v1/links/{code}/stats?x={number}"],
  images: ["/{code}.svg?x={number}"],
};

/** Latency of hot redirects while another client floods the server and drips. */
export async function measureFlood({ folder, progress }: Bench): Promise<Result> {
  progress("flood");
  const database = join(folder, "flood.db");
  const linksFile = join(folder, "flood-links");
  const maker = await startCurt(database);
  const [[code] = [""]] = await makeLinks(maker, LINKS, linksFile);
  await maker.stop();
  const curt = await startCurt(database, { settings: PUBLIC });
  await visitsOnce(linksFile)(curt);
  const tail = visitTail(curt.port);
  const visits: Task = {
    kind: "visits",
    linksFile,
    status: 302,
    perSecond: VISITS_PER_SECOND,
    connections: VISITORS,
  };
  let clients = 0;
  /** Each flood comes from a new client, so it starts with the requests that the limits allow. */
  const nextClient = () => `127.1.${++clients >> 8}.${clients & 255}`;
  const flood = (paths: readonly string[]): Task => ({
    kind: "flood",
    requests: paths.map((path) => `GET ${path.replace("{code}", code)}${tail}`),
    connections: FLOODERS,
    clients: [nextClient()],
  });
  const drips = (): Task => ({ kind: "drips", connections: DRIPS, client: nextClient() });
  const measured = (others: () => readonly Task[]) => () =>
    measure(curt, generated(ROUND_MS, visits, ...others()));
  const all = Object.values(FLOODS).flat();
  const contestants: Readonly<Record<string, () => Promise<Round>>> = {
    quiet: measured(() => []),
    ...Object.fromEntries(
      Object.entries(FLOODS).map(([name, paths]) => [name, measured(() => [flood(paths)])]),
    ),
    drips: measured(() => [drips()]),
    "all of this together": measured(() => [flood(all), drips()]),
  };
  // Warm-up.
  for (const warm of Object.values(contestants)) await warm();
  const turns = await inTurns(ROUNDS, contestants);
  await curt.stop();
  const quiet = turns["quiet"] ?? [];
  const rows = Object.entries(turns).map(([name, rounds]) => summary(name, rounds, quiet));
  const doubts = rows
    .filter((row) => row["ratio: p99"] > MOST_TIMES_QUIET)
    .map((row) => `Above the aim: ${row[TITLE]}.`);
  return { rows, rounds: { flood: turns }, doubts };
}

const TITLE = `hot redirects, ${VISITS_PER_SECOND}/s, beside`;

function summary(name: string, rounds: readonly Round[], quiet: readonly Round[]) {
  const p50Us = ({ latencies: [visits] }: Round) => visits?.p50Us ?? Number.NaN;
  const p99Us = ({ latencies: [visits] }: Round) => visits?.p99Us ?? Number.NaN;
  const count = (status: number) => (round: Round) => round.statuses?.[status] ?? 0;
  const others = (round: Round) => round.requests - count(302)(round);
  const each = ratios(rounds, quiet, p99Us);
  return {
    [TITLE]: name,
    "p50, µs": medianOf(rounds, p50Us),
    "p99, µs": medianOf(rounds, p99Us),
    "ratio: p50": median(ratios(rounds, quiet, p50Us)),
    "ratio: p99": median(each),
    "p99 of each round": each,
    "redirecting thread": rounded(
      medianOf(rounds, (round) => round.firstThreadShare ?? Number.NaN),
      2,
    ),
    "flood, requests/s": Math.round(medianOf(rounds, (round) => others(round) / (round.durationMs / 1000))),
    "of these 429": medianOf(rounds, (round) => count(429)(round) / others(round)),
  };
}
