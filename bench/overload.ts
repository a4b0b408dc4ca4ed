import { join } from "node:path";

import type { Latency } from "./connections.ts";
import type { Task } from "./generator.ts";
import { readLinks } from "./links.ts";
import { generated, visitsOnce } from "./load.ts";
import { inTurns, measure, median, medianOf, ratios, type Round } from "./measure.ts";
import type { Bench, Result } from "./report.ts";
import { createRequest, visitTail } from "./requests.ts";
import { makeLinks, startCurt } from "./servers.ts";

const LINKS = 1000;
/** Number of links that are previewed. More wouldn't fit into the generator's arguments. */
const SEEN_LINKS = 10;
/** Of ten requests, the number of each kind. */
const MIX = { visits: 4, unknown: 2, creates: 2, views: 2 } as const;
type Kind = keyof typeof MIX;
const KINDS = Object.keys(MIX) as Kind[];
const OF_ALL = KINDS.reduce((sum, kind) => sum + MIX[kind], 0);
/** More than ever wait, so that requests are sent when they are due, whatever the server does. */
const CONNECTIONS = 1000;
const CARRIED_MS = 3000;
const ROUNDS = 5;
const ROUND_MS = 5000;
const LOADS = { quiet: 0.2, "what it carries": 1, "twice that": 2 } as const;

/** Latency of hot redirects while all clients together send twice the server's capacity. */
export async function measureOverload({ folder, progress }: Bench): Promise<Result> {
  progress("overload");
  const linksFile = join(folder, "overload-links");
  const curt = await startCurt(join(folder, "overload.db"));
  await makeLinks(curt, LINKS, linksFile);
  await visitsOnce(linksFile)(curt);
  const requests = requestsTo(
    curt.port,
    readLinks(linksFile)
      .slice(0, SEEN_LINKS)
      .map(([code]) => code),
  );
  const mixed: Task = { kind: "flood", requests: mixOf(requests) };
  const carry = () => measure(curt, generated(CARRIED_MS, mixed));
  // Warm-up.
  await carry();
  const carried = [await carry(), await carry(), await carry()];
  const carriedPerSecond = medianOf(carried, (round) => round.requestsPerSecond);
  const offer = (times: number) => {
    const perSecond = (kind: Kind) => (carriedPerSecond * times * MIX[kind]) / OF_ALL;
    const visits: Task = {
      kind: "visits",
      linksFile,
      status: 302,
      perSecond: perSecond("visits"),
      connections: CONNECTIONS,
    };
    const others = KINDS.filter((kind) => kind !== "visits").map((kind): Task => ({
      kind: "flood",
      requests: requests[kind],
      perSecond: perSecond(kind),
      connections: CONNECTIONS,
    }));
    return () => measure(curt, generated(ROUND_MS, visits, ...others));
  };
  const turns = await inTurns(
    ROUNDS,
    Object.fromEntries(Object.entries(LOADS).map(([name, times]) => [name, offer(times)])),
  );
  await curt.stop();
  const quiet = turns["quiet"] ?? [];
  const each = ratios(turns["twice that"] ?? [], quiet, p99Us);
  return {
    rows: Object.entries(turns).map(([name, rounds]) => summary(name, rounds, quiet)),
    rounds: { carried: { mixed: carried }, overload: turns },
    figures: { "p99 of redirects at twice the load, × quiet": { Curt: median(each) } },
  };
}

/** Requests of each kind. No two can share a response for long. */
function requestsTo(port: number, codes: readonly string[]): Readonly<Record<Kind, readonly string[]>> {
  const tail = visitTail(port);
  const paths = {
    visits: (code: string) => `/${code}`,
    // No generated code has a vowel.
    unknown: () => "/a{number}",
    views: (code: string, nth: number) =>
      nth % 2 === 0 ? `/${code}+?x={number}` : `/api/v1/links/${code}/stats?x={number}`,
  };
  const get = (path: (code: string, nth: number) => string) =>
    codes.map((code, nth) => `GET ${path(code, nth)}${tail}`);
  const body = '{"original_url":"https://example.com/{number}"}';
  return {
    visits: get(paths.visits),
    unknown: get(paths.unknown),
    views: get(paths.views),
    // The number is as long as its place holder.
    creates: [createRequest(port, body)],
  };
}

function mixOf(requests: Readonly<Record<Kind, readonly string[]>>): string[] {
  const kinds = KINDS.flatMap((kind) => Array.from({ length: MIX[kind] }, () => kind));
  return Array.from({ length: SEEN_LINKS }, (_, nth) => nth).flatMap((nth) =>
    kinds.flatMap((kind) => requests[kind][nth % requests[kind].length] ?? []),
  );
}

function summary(name: string, rounds: readonly Round[], quiet: readonly Round[]) {
  const ofEach = (kind: Kind, value: (latency: Latency) => number) =>
    medianOf(rounds, ({ latencies }) => {
      const latency = latencies[KINDS.indexOf(kind)];
      return latency === undefined ? Number.NaN : value(latency);
    });
  const refused = ({ statuses }: Latency) =>
    (statuses[503] ?? 0) / Object.values(statuses).reduce((sum, count) => sum + count, 0);
  return {
    "offered, of what it carries": name,
    "answers/s": medianOf(rounds, (round) => round.requestsPerSecond),
    "redirect: p50, µs": ofEach("visits", ({ p50Us }) => p50Us),
    "redirect: p99, µs": medianOf(rounds, p99Us),
    "ratio: p99": median(ratios(rounds, quiet, p99Us)),
    "p99 of each round": ratios(rounds, quiet, p99Us),
    ...Object.fromEntries(KINDS.map((kind) => [`${kind}: refused`, ofEach(kind, refused)])),
    ...Object.fromEntries(
      KINDS.slice(1).map((kind) => [`${kind}: p50, ms`, ofEach(kind, ({ p50Us }) => p50Us / 1000)]),
    ),
    "redirecting thread": medianOf(rounds, (round) => round.firstThreadShare ?? Number.NaN),
    "generator late: p99, µs": ofEach("visits", ({ ownP99Us }) => ownP99Us),
  };
}

function p99Us({ latencies: [visits] }: Round): number {
  return visits?.p99Us ?? Number.NaN;
}
