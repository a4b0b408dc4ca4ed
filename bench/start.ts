import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";

import { build } from "../scripts/build.ts";
import { CHHOTOS, fillChhoto, startChhoto } from "./chhoto.ts";
import { everyLink, insertLinks, originalUrl, readLink, writeLinks } from "./links.ts";
import { median, rounded } from "./measure.ts";
import { ownMemoryBytes, threadTimesNs } from "./process.ts";
import type { Bench, Result } from "./report.ts";
import { FROM_SOURCE, type Server, startBare, startCurt } from "./servers.ts";

const FEW = 1;
const MANY = 1_000_000;
/** The name in the table. */
const CURT = "Curt, executable";
const STARTS = 15;
/** Pause between the first response and the reading of memory. By then, the deferred work of a start is done. */
const SETTLED_MS = 1000;

interface Start {
  readonly ms: number;
  /** CPU time of all threads until the first response. */
  readonly cpuMs: number;
  readonly memoryMb: number;
}

/** Times from the spawn to the first redirect: the executable, the sources, a bare server without a store, and others. */
export async function measureStart({ folder, progress }: Bench): Promise<Result> {
  const executable = await build(join(folder, "curt"));
  const few = await startsWith(FEW, executable, join(folder, "few"), progress);
  const many = await startsWith(MANY, executable, join(folder, "many"), progress);
  return {
    rows: [...few.rows, ...many.rows],
    rounds: {},
    figures: {
      "start, executable, one link, ms": few.figure("median, ms"),
      "start, executable, 1 million links, ms": many.figure("median, ms"),
      "own memory after this start, MB": many.figure("own memory, MB"),
      "bytes per link, 1 million links": many.figure("file, bytes", MANY),
    },
  };
}

async function startsWith(links: number, executable: string, folder: string, progress: Bench["progress"]) {
  progress(`starts, links: ${links.toLocaleString("en")}`);
  mkdirSync(folder);
  const database = join(folder, "start.db");
  // The program creates the file and its schema.
  await (await startCurt(database)).stop();
  const createdMs = Date.now();
  await insertLinks(database, links, (nth) => [originalUrl("start", nth), createdMs + nth]);
  const files = new Map<string, string>([
    [CURT, database],
    ["Curt, from source", database],
  ]);
  for (const name of CHHOTOS) files.set(name, await fillChhoto(name, folder, everyLink(database)));
  const link = readLink(database);
  const path = `/${link[0]}`;
  const linksFile = join(folder, "one-link");
  writeLinks(linksFile, [link]);
  const contestants: Record<string, () => Promise<Server>> = {
    "bare Bun.serve, from source": () => startBare(linksFile, path),
    [CURT]: () => startCurt(database, { path, program: [executable] }),
    "Curt, from source": () => startCurt(database, { path, program: FROM_SOURCE }),
  };
  for (const name of CHHOTOS) contestants[name] = () => startChhoto(name, files.get(name) ?? "", path);
  const starts = await startInTurns(contestants);
  const [bare = []] = starts.values();
  const rows = Array.from(starts, ([name, each]) => ({
    "start to first redirect": name,
    links,
    "median, ms": median(each.map(({ ms }) => ms)),
    "to the bare server's": median(each.map(({ ms }, nth) => ms / (bare[nth]?.ms ?? Number.NaN))),
    "CPU, ms": median(each.map(({ cpuMs }) => cpuMs)),
    "own memory, MB": median(each.map(({ memoryMb }) => memoryMb)),
    "file, bytes": files.has(name) ? statSync(files.get(name) ?? "").size : undefined,
    "each time, ms": each.map(({ ms }) => ms),
  }));
  const figure = (column: "median, ms" | "own memory, MB" | "file, bytes", divisor = 1) =>
    Object.fromEntries(
      [CURT, ...CHHOTOS].map((name) => {
        const row = rows.find((one) => one["start to first redirect"] === name);
        return [name === CURT ? "Curt" : name, (row?.[column] ?? Number.NaN) / divisor];
      }),
    );
  return { rows, figure };
}

/** The file is in the system's cache. */
async function startInTurns(contestants: Readonly<Record<string, () => Promise<Server>>>) {
  const starts = new Map(Object.keys(contestants).map((name): [string, Start[]] => [name, []]));
  for (let nth = 0; nth < STARTS; nth++)
    for (const [name, start] of Object.entries(contestants)) starts.get(name)?.push(await time(start));
  return starts;
}

async function time(start: () => Promise<Server>): Promise<Start> {
  const startMs = performance.now();
  const server = await start();
  const ms = performance.now() - startMs;
  const cpuNs = threadTimesNs(server.pid)
    .values()
    .reduce((sum, one) => sum + one, 0);
  await Bun.sleep(SETTLED_MS);
  const memoryMb = ownMemoryBytes(server.pid) / 1e6;
  await server.stop();
  return { ms: rounded(ms, 1), cpuMs: rounded(cpuNs / 1e6, 1), memoryMb: rounded(memoryMb, 1) };
}
