import { join } from "node:path";

import type { Figure, Figures } from "./aims.ts";
import { CHHOTO_REDIRECT } from "./chhoto.ts";
import { type Link, writeLinks, zipf } from "./links.ts";
import { generated, visits, visitsOnce } from "./load.ts";
import { cpuUs, inTurns, measure, median, medianOf, perSecond, ratios, type Round } from "./measure.ts";
import type { Bench, Result, Row, Turns } from "./report.ts";
import { type Server, startCurt } from "./servers.ts";

const ROUNDS = 7;
const ROUND_MS = 2000;
/** Reads of files per request. With fewer, the responses came from memory. */
const FROM_MEMORY = 0.01;
/** More than a round needs. */
const ZIPF_VISITS = 200_000;
/** Addresses of clients, with one connection each. */
const CLIENTS = Array.from({ length: 200 }, (_, nth) => `127.2.0.${nth + 1}`);
const BROWSERS = 300;

interface Case {
  readonly name: string;
  readonly figure: Figure;
  readonly links: readonly Link[];
  /** The server for comparison. Default: the reference. */
  readonly against?: Server;
  /** The load of both. */
  readonly status: 302 | 404;
  readonly servers: readonly Server[];
  /** Whether visits come from many addresses and browsers. */
  readonly isFromMany?: boolean;
}

/** Measures the CPU time of a visit with Curt, the reference, and similar servers. */
export async function measureVisits({ folder, stage, progress }: Bench): Promise<Result> {
  const { curt, reference, chhotos, links } = await stage();
  // With its index, chhoto-url repeatedly stops accepting connections while it counts visits of many links.
  const chhoto = chhotos.filter(({ name }) => name === "chhoto-url without search");
  const redirect = { status: 302, servers: [curt, reference, ...chhoto] } as const;
  const open = await startCurt(curt.database, { settings: { HOST: "0.0.0.0" } });
  const watched = await startCurt(curt.database, { settings: { METRICS_PORT: "0" } });
  const without: Server = { ...curt, name: "Curt without metrics" };
  // No generated code has a vowel, so these have the usual shape and do not exist.
  const unknown = links.map(([code]): Link => [`a${code.slice(1)}`, ""]);
  const cases: readonly Case[] = [
    { ...redirect, name: "hot redirect", figure: "hot redirect, any of 100,000 links, × nginx", links },
    {
      ...redirect,
      name: "by Zipf's law",
      figure: "hot redirect, by Zipf's law, × nginx",
      links: zipf(links, ZIPF_VISITS),
    },
    {
      ...redirect,
      name: "one hot code",
      figure: "hot redirect, one link, × nginx",
      links: links.slice(0, 1),
    },
    {
      name: "HOST=0.0.0.0, 200 addresses, 300 browsers",
      figure: "hot redirect, HOST=0.0.0.0, 200 addresses, 300 browsers, × nginx",
      links,
      status: 302,
      servers: [open, reference],
      isFromMany: true,
    },
    {
      name: "with metrics",
      figure: "hot redirect with metrics, × without",
      links,
      status: 302,
      servers: [watched, without],
      against: without,
    },
    {
      name: "unknown codes",
      figure: "unknown codes, × nginx",
      links: unknown,
      status: 404,
      servers: [curt, reference],
    },
  ];
  const rows: Row[] = [];
  const rounds: Record<string, Turns> = {};
  const doubts: string[] = [];
  const figures: Figures = {};
  for (const one of cases) {
    const { name, figure, status, against = reference } = one;
    progress(name);
    const turns = await measureCase(folder, one);
    rounds[name] = turns;
    const ofReference = turns[against.name] ?? [];
    const each = (server: string) => ratios(turns[server] ?? [], ofReference, cpuUs);
    const measured = Object.fromEntries(
      Object.keys(turns)
        .filter((server) => server !== against.name)
        .map((server) => [server, median(each(server))]),
    );
    Object.assign(figures, { [figure]: measured });
    rows.push({
      "visits, CPU per request": name,
      ratio: measured["Curt"],
      "ratio of each round": each("Curt"),
      "Curt, µs": medianOf(turns["Curt"] ?? [], cpuUs),
      [`${against.name}, µs`]: medianOf(ofReference, cpuUs),
      "Curt, requests/s": medianOf(turns["Curt"] ?? [], perSecond),
      [`${against.name}, requests/s`]: medianOf(ofReference, perSecond),
      ...Object.fromEntries(chhoto.map((server) => [`${server.name}, ratio`, measured[server.name]])),
    });
    if (status === 302 && (turns["Curt"] ?? []).some((round) => round.fileReadsPerRequest > FROM_MEMORY))
      doubts.push(`Doubtful: in "${name}" not every answer came out of memory.`);
  }
  await open.stop();
  await watched.stop();
  return { rows, rounds, figures, doubts };
}

async function measureCase(folder: string, { name, links, status, servers, isFromMany = false }: Case) {
  const linksFile = join(folder, name);
  writeLinks(linksFile, links);
  const contestants: Record<string, () => Promise<Round>> = {};
  for (const server of servers) {
    const expected = server.name.startsWith("chhoto-url") ? CHHOTO_REDIRECT : status;
    const load = isFromMany
      ? generated(ROUND_MS, {
          kind: "visits",
          linksFile,
          status: expected,
          connections: CLIENTS.length,
          clients: CLIENTS,
          browsers: BROWSERS,
        })
      : visits(ROUND_MS, { linksFile, status: expected });
    await visitsOnce(linksFile, { status: expected })(server);
    // Warm-up.
    await load(server);
    contestants[server.name] = () => measure(server, load);
  }
  return inTurns(ROUNDS, contestants);
}
