import { statSync } from "node:fs";
import { join } from "node:path";

import { build } from "../scripts/build.ts";
import { CHHOTOS, fillChhoto, startChhoto } from "./chhoto.ts";
import { everyLink, insertLinks, type Link, originalUrl, readLink, writeLinks } from "./links.ts";
import { median, rounded } from "./measure.ts";
import { ownMemoryBytes, threadTimesNs } from "./process.ts";
import type { Bench, Result } from "./report.ts";
import { FROM_SOURCE, type Server, startBare, startCurt } from "./servers.ts";

const LINKS = 1_000_000;
const STARTS = 15;
/** Memory is read so long after the first answer, when what a start left behind is done. */
const SETTLED_MS = 1000;

interface Start {
  readonly ms: number;
  /** Of all threads, until the first answer. */
  readonly cpuMs: number;
  readonly memoryMb: number;
}

/** From the spawn to the first answered redirect: the executable, the sources, a bare server without a store, and others. */
export async function measureStart({ folder, progress }: Bench): Promise<Result> {
  progress(`making ${LINKS} links`);
  const database = join(folder, "start.db");
  // The program makes the file and its schema.
  await (await startCurt(database)).stop();
  const createdMs = Date.now();
  await insertLinks(database, LINKS, (nth) => [originalUrl("start", nth), createdMs + nth]);
  const chhotos = new Map<(typeof CHHOTOS)[number], string>();
  for (const name of CHHOTOS) {
    progress(`the same links for ${name}`);
    chhotos.set(name, await fillChhoto(name, folder, everyLink(database)));
  }
  progress("starts");
  const rows = await startRows(folder, database, readLink(database), chhotos);
  const servers = [["Curt", "Curt, executable"], ...CHHOTOS.map((name) => [name, name])] as const;
  const figure = (column: keyof (typeof rows)[number]) =>
    Object.fromEntries(
      servers.map(([server, name]) => [server, Number(rows.find((row) => row[TITLE] === name)?.[column])]),
    );
  return {
    rows,
    rounds: {},
    figures: {
      "start, executable, 1 million links, ms": figure("median, ms"),
      "own memory after this start, MB": figure("own memory, MB"),
      "bytes per link, 1 million links": figure("file, bytes per link"),
    },
  };
}

const TITLE = "start to first redirect";

/** Starts them in turns. The file is in the system's cache. */
async function startRows(
  folder: string,
  database: string,
  link: Link,
  chhotos: ReadonlyMap<(typeof CHHOTOS)[number], string>,
) {
  const path = `/${link[0]}`;
  const linksFile = join(folder, "one-link");
  writeLinks(linksFile, [link]);
  const executable = await build(join(folder, "curt"));
  const contestants: Record<string, () => Promise<Server>> = {
    "bare Bun.serve, from source": () => startBare(linksFile, path),
    "Curt, executable": () => startCurt(database, { path, program: [executable] }),
    "Curt, from source": () => startCurt(database, { path, program: FROM_SOURCE }),
    ...Object.fromEntries(Array.from(chhotos, ([name, file]) => [name, () => startChhoto(name, file, path)])),
  };
  const files = new Map<string, string>([
    ["Curt, executable", database],
    ["Curt, from source", database],
    ...chhotos,
  ]);
  const starts = new Map(Object.keys(contestants).map((name): [string, Start[]] => [name, []]));
  for (let nth = 0; nth < STARTS; nth++)
    for (const [name, start] of Object.entries(contestants)) starts.get(name)?.push(await time(start));
  const [bare = []] = starts.values();
  return Array.from(starts, ([name, each]) => ({
    [TITLE]: name,
    "median, ms": median(each.map(({ ms }) => ms)),
    "to the bare server's": median(each.map(({ ms }, nth) => ms / (bare[nth]?.ms ?? Number.NaN))),
    "CPU, ms": median(each.map(({ cpuMs }) => cpuMs)),
    "own memory, MB": median(each.map(({ memoryMb }) => memoryMb)),
    "file, bytes per link": files.has(name) ? statSync(files.get(name) ?? "").size / LINKS : undefined,
    "each time, ms": each.map(({ ms }) => ms),
  }));
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
