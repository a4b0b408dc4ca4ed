// `npm run bench`: what a visit costs beside nginx, and what a durable create costs. See README.md here.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";

import { measureCreates } from "./creates.ts";
import { startCurt } from "./curt.ts";
import { distinctWithoutCase, readLinks, writeLinks } from "./links.ts";
import { create, VISIT_TOOL } from "./load.ts";
import { describeCommit, describeMachine } from "./machine.ts";
import { stopAll } from "./processes.ts";
import { startReference } from "./reference.ts";
import { fileName, type Results, table } from "./report.ts";
import { measureVisits, visitCases, type VisitResult } from "./visits.ts";

const LINKS = 100_000;
/** Some are left out again: nginx cannot tell them from others. */
const SPARE_LINKS = 100;
const MAKING_CONNECTIONS = 64;
/** Enough for a disk that syncs slowly. */
const MAKING_LIMIT_MS = 600_000;

async function bench(folder: string): Promise<Results> {
  const about = { date: new Date().toISOString(), ...describeCommit(), machine: describeMachine(folder) };
  const linksFile = join(folder, "links");

  progress(`making ${LINKS} links`);
  const curt = await startCurt(folder);
  await create({
    port: curt.port,
    connections: MAKING_CONNECTIONS,
    durationMs: MAKING_LIMIT_MS,
    run: "links",
    count: LINKS + SPARE_LINKS,
    linksFile,
  });
  const links = distinctWithoutCase(readLinks(linksFile)).slice(0, LINKS);
  if (links.length < LINKS) throw new Error(`only ${links.length} of ${LINKS} links were made`);
  writeLinks(linksFile, links);
  const reference = await startReference(folder, linksFile);

  const visits: VisitResult[] = [];
  for (const visitCase of visitCases(folder, links)) {
    progress(`measuring: ${visitCase.name}`);
    visits.push(await measureVisits(visitCase, curt, reference));
  }
  progress("measuring: creates");
  const creates = await measureCreates(curt, folder);
  return { ...about, reference: reference.name, visitTool: VISIT_TOOL, links: LINKS, visits, creates };
}

function progress(text: string): void {
  console.error(`… ${text}`);
}

function keep(results: Results): string {
  const folder = join(import.meta.dir, "results");
  mkdirSync(folder, { recursive: true });
  const path = join(folder, fileName(results));
  writeFileSync(path, `${JSON.stringify(results, undefined, 2)}\n`);
  return path;
}

const folder = mkdtempSync(join(tmpdir(), "curt-bench-"));

async function cleanUp(): Promise<void> {
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => void cleanUp().finally(() => process.exit(1)));
}
try {
  const results = await bench(folder);
  console.log(`${table(results)}\n\nAll figures: ${relative(process.cwd(), keep(results))}`);
} finally {
  await cleanUp();
}
