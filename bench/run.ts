// `npm run bench`: what a visit costs beside nginx, what a durable create costs, and both at scale. See README.md here.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";

import { measureCreates } from "./creates.ts";
import { startCurt } from "./curt.ts";
import { measureLatency } from "./latency.ts";
import { distinctWithoutCase, readLinks, writeLinks } from "./links.ts";
import { create, VISIT_TOOL } from "./load.ts";
import { describeCommit, describeMachine } from "./machine.ts";
import { stopAll } from "./processes.ts";
import { REFERENCE, startReference } from "./reference.ts";
import { fileName, PARTS, type Part, type Results, table } from "./report.ts";
import { measureScale } from "./scale.ts";
import { measureVisits, visitCases, type VisitResult } from "./visits.ts";

const LINKS = 100_000;
/** Some are left out again: nginx cannot tell them from others. */
const SPARE_LINKS = 100;
const MAKING_CONNECTIONS = 64;
/** Enough for a disk that syncs slowly. */
const MAKING_LIMIT_MS = 600_000;

async function bench(folder: string, parts: readonly Part[]): Promise<Results> {
  const about = {
    date: new Date().toISOString(),
    ...describeCommit(),
    machine: describeMachine(folder),
    reference: REFERENCE,
    visitTool: VISIT_TOOL,
    links: LINKS,
  };
  // First, while none of the others' servers is there.
  const latency = parts.includes("latency") ? await measuring("latency", () => measureLatency(folder)) : [];
  if (parts.every((part) => part === "latency")) return { ...about, parts, visits: [], creates: [], latency };

  progress(`making ${LINKS} links`);
  const linksFile = join(folder, "links");
  const curt = await startCurt(join(folder, "curt.db"));
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
  for (const visitCase of parts.includes("visits") ? visitCases(folder, links) : [])
    visits.push(await measuring(visitCase.name, () => measureVisits(visitCase, curt, reference)));
  const creates = parts.includes("creates")
    ? await measuring("creates", () => measureCreates(curt, folder))
    : [];
  const cache = resolve(process.env["BENCH_CACHE"] || folder);
  const scale = parts.includes("scale")
    ? await measuring("scale", () =>
        measureScale(folder, cache, { hot: curt, reference, hotLinks: links }, progress),
      )
    : undefined;
  return { ...about, parts, visits, creates, ...(scale !== undefined && { scale }), latency };
}

function measuring<T>(name: string, measure: () => Promise<T>): Promise<T> {
  progress(`measuring: ${name}`);
  return measure();
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

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !PARTS.some((part) => part === name));
if (unknown.length > 0) {
  console.error(`There is no part named ${unknown.join(", ")}. The parts: ${PARTS.join(", ")}.`);
  process.exit(2);
}
const parts = PARTS.filter((part) => asked.length === 0 || asked.includes(part));
const folder = mkdtempSync(join(resolve(tmpdir()), "curt-bench-"));

async function cleanUp(): Promise<void> {
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => void cleanUp().finally(() => process.exit(1)));
}
try {
  const results = await bench(folder, parts);
  console.log(`${table(results)}\n\nAll figures: ${relative(process.cwd(), keep(results))}`);
} finally {
  await cleanUp();
}
