import { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { join } from "node:path";

import { build } from "../scripts/build.ts";
import { insertLinks, type Link, originalUrl, shuffled, writeLinks } from "./links.ts";
import { generated, type Load, visits, visitsOnce } from "./load.ts";
import {
  cpuUs,
  inTurns,
  measure,
  median,
  medianOf,
  perSecond,
  ratios,
  type Round,
  rounded,
  watchMemory,
} from "./measure.ts";
import type { Bench, Result } from "./report.ts";
import { type Server, type Stage, startCurt } from "./servers.ts";

const LINKS = 10_000_000;

/** One of this many links is visited: far more than Curt's memory holds, so that none is visited again while it is there. */
const SAMPLED = 5;
const VISITED_ONCE = 200_000;
const BROWSERS = 300;
const STARTS = 7;
const ROUNDS = 7;
const ROUND_MS = 2000;
/** Long enough for Curt's memory of links to be full. */
const WARM_UP_ROUNDS = 3;

const MISSES = 10_000_000;
const MISSES_BEFORE = 100_000;
const MISSES_LIMIT_MS = 900_000;

/** The file, starts, redirects and memory with many links. */
export async function measureScale({ folder, stage, progress }: Bench): Promise<Result> {
  const small = await stage();
  progress(`making ${LINKS} links`);
  const database = join(folder, "scale.db");
  // The program creates the file and its schema.
  await (await startCurt(database)).stop();
  const createdMs = Date.now();
  await insertLinks(database, LINKS, (nth) => [originalUrl("many-links", nth), createdMs + nth]);
  const sample = sampleLinks(database);
  const bytes = statSync(database).size;
  progress("days with one visit");
  const bytesPerDay = await measureDays(folder, database, sample);
  progress("starts");
  const startsMs = await measureStarts(folder, database, sample[0]?.[0] ?? "");
  progress("cold redirect");
  const { turns, memory } = await measureCold(folder, database, sample, small);
  progress(`memory under ${MISSES} misses`);
  const misses = await measureMisses(small.curt);
  const row = (name: string, measured: number, each: readonly number[] = []) => ({
    [`${LINKS.toLocaleString("en")} links`]: name,
    measured,
    "each time": each,
  });
  const byHotRate = ratios(turns.cold, turns.hot, perSecond);
  const byReference = ratios(turns.cold, turns.reference, cpuUs);
  const byHot = ratios(turns.cold, turns.hot, cpuUs);
  const beforePeakAfter = "own memory, MB; before, at its peak, after";
  return {
    rows: [
      row("file, bytes per link", bytes / LINKS),
      row("file, bytes per day with one visit of a link", bytesPerDay),
      row("executable, start to first redirect, ms", median(startsMs), startsMs),
      row("cold redirect, requests/s", medianOf(turns.cold, perSecond)),
      row("cold redirect, share of the hot rate", median(byHotRate), byHotRate),
      row("cold redirect, CPU per request, µs", medianOf(turns.cold, cpuUs)),
      row(`cold redirect, ratio to ${small.reference.name}, hot`, median(byReference), byReference),
      row("cold redirect, ratio to Curt, hot", median(byHot), byHot),
      row(`cold redirects: ${beforePeakAfter}`, memory.peakMb, memory.beforePeakAfterMb),
      row(`misses: ${beforePeakAfter}`, misses.peakMb, misses.beforePeakAfterMb),
      row("misses, requests/s", misses.requestsPerSecond),
    ],
    rounds: { "cold redirect": turns },
    figures: {
      "start, executable, 10 million links, ms": { Curt: median(startsMs) },
      "any of 10 million links, share of the hot rate": { Curt: median(byHotRate) },
      "own memory then, at its peak, MB": { Curt: memory.peakMb },
      "bytes per link, 10 million links": { Curt: bytes / LINKS },
      "bytes per day with one visit of a link": { Curt: bytesPerDay },
    },
    samplesMb: { "cold redirects": memory.samplesMb, misses: misses.samplesMb },
  };
}

/** How much the file grows when links are visited once, by the days of links that have statistics then. */
async function measureDays(folder: string, path: string, sample: readonly Link[]): Promise<number> {
  const bytesBefore = statSync(path).size;
  const linksFile = join(folder, "visited-once");
  writeLinks(linksFile, sample.slice(-VISITED_ONCE));
  const curt = await startCurt(path);
  await visitsOnce(linksFile, { browsers: BROWSERS })(curt);
  await curt.stop();
  using database = new Database(path, { readwrite: true, strict: true });
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  const [[days = 0] = []] = database.query<[number], []>("SELECT count(*) FROM visits").values();
  return (statSync(path).size - bytesBefore) / Number(days);
}

/** Times from the spawn to the first redirect. The file is in the system's cache. */
async function measureStarts(folder: string, database: string, code: string): Promise<number[]> {
  const program = [await build(join(folder, "curt"))];
  const eachMs: number[] = [];
  for (let nth = 0; nth < STARTS; nth++) {
    const startMs = performance.now();
    const curt = await startCurt(database, { path: `/${code}`, program });
    eachMs.push(rounded(performance.now() - startMs, 1));
    await curt.stop();
  }
  return eachMs;
}

/** Visits of links that are not in Curt's memory, in turns with hot ones of the small file and of the reference. */
async function measureCold(folder: string, database: string, sample: readonly Link[], small: Stage) {
  const linksFile = join(folder, "sample");
  const curt = await startCurt(database);
  const codes = sample.map(([code]): Link => [code, ""]);
  writeLinks(linksFile, codes);
  let visited = 0;
  /** Each call continues where the last one stopped. */
  const visitCold: Load = async (server) => {
    const from = visited % sample.length;
    const done = await visits(ROUND_MS, { linksFile, status: 302, from })(server);
    visited += done.requests;
    return done;
  };
  const visitHot = visits(ROUND_MS, { linksFile: small.linksFile, status: 302 });
  for (const server of [small.curt, small.reference]) await visitsOnce(small.linksFile)(server);
  let turns: Record<"cold" | "hot" | "reference", Round[]> = { cold: [], hot: [], reference: [] };
  const memory = await watchMemory(curt.pid, async () => {
    for (let round = 0; round < WARM_UP_ROUNDS; round++) await visitCold(curt);
    turns = await inTurns(ROUNDS, {
      cold: () => measure(curt, visitCold),
      hot: () => measure(small.curt, visitHot),
      reference: () => measure(small.reference, visitHot),
    });
  });
  await curt.stop();
  return { turns, memory };
}

/** On the small file, which is twice as fast: this measures the memory of the process. */
async function measureMisses(curt: Server) {
  const misses = (count: number) => generated(MISSES_LIMIT_MS, { kind: "misses", count })(curt);
  // The first misses pay one-time costs, such as rendering the page.
  await misses(MISSES_BEFORE);
  let requestsPerSecond = 0;
  const memory = await watchMemory(curt.pid, async () => {
    const { requests, durationMs } = await misses(MISSES);
    if (requests < MISSES) throw new Error(`only ${requests} of ${MISSES} misses in time`);
    requestsPerSecond = rounded((requests / durationMs) * 1000, 1);
  });
  return { ...memory, requestsPerSecond };
}

/** Some of the links, in random order. Reads the whole file, which is in the system's cache then. */
function sampleLinks(path: string): Link[] {
  using database = new Database(path, { readonly: true, strict: true });
  const rows = database
    .query<Link, [number]>("SELECT code, original_url FROM links WHERE rowid % ?1 = 0")
    .values(SAMPLED) as unknown as Link[];
  return shuffled(rows);
}
