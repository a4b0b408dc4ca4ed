import { join } from "node:path";

import { type Link, writeLinks } from "./links.ts";
import { visits, visitsOnce } from "./load.ts";
import { cpuUs, inTurns, measure, median, medianOf, perSecond, ratios } from "./measure.ts";
import type { Bench, Result, Row, Turns } from "./report.ts";

const ROUNDS = 7;
const ROUND_MS = 2000;
/** Reads of files per request; with fewer, the answers came out of memory. */
const FROM_MEMORY = 0.01;

/** What a visit costs Curt and the reference. */
export async function measureVisits({ folder, stage, progress }: Bench): Promise<Result> {
  const { curt, reference, links } = await stage();
  // No generated code has a vowel, so these have the usual shape and do not exist.
  const unknown = links.map(([code]): Link => [`a${code.slice(1)}`, ""]);
  const cases = [
    { name: "hot redirect", links, status: 302 },
    { name: "one hot code", links: links.slice(0, 1), status: 302 },
    { name: "unknown codes", links: unknown, status: 404 },
  ];
  const rows: Row[] = [];
  const rounds: Record<string, Turns> = {};
  const doubts: string[] = [];
  for (const { name, links: asked, status } of cases) {
    progress(name);
    const linksFile = join(folder, name);
    writeLinks(linksFile, asked);
    const load = visits(ROUND_MS, { linksFile, status });
    for (const server of [curt, reference]) {
      await visitsOnce(linksFile, status)(server);
      // To warm up.
      await load(server);
    }
    const turns = await inTurns(ROUNDS, {
      curt: () => measure(curt, load),
      reference: () => measure(reference, load),
    });
    const each = ratios(turns.curt, turns.reference, cpuUs);
    rounds[name] = turns;
    rows.push({
      "visits, CPU per request": name,
      ratio: median(each),
      "ratio of each round": each,
      "Curt, µs": medianOf(turns.curt, cpuUs),
      [`${reference.name}, µs`]: medianOf(turns.reference, cpuUs),
      "Curt, requests/s": medianOf(turns.curt, perSecond),
      [`${reference.name}, requests/s`]: medianOf(turns.reference, perSecond),
    });
    if (status === 302 && turns.curt.some((round) => round.fileReadsPerRequest > FROM_MEMORY))
      doubts.push(`Doubtful: in "${name}" not every answer came out of memory.`);
  }
  return { rows, rounds, doubts };
}
