// `npm run bench`: what a visit costs beside nginx, what a durable create costs, and both at scale. See README.md here.
import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";

import { measureBlocklist } from "./blocklist.ts";
import { measureCosts } from "./costs.ts";
import { measureCreates } from "./creates.ts";
import { measureEvening } from "./evening.ts";
import { measureFlood } from "./flood.ts";
import { measureLatency } from "./latency.ts";
import { measurePostgres } from "./postgres.ts";
import { inTemporaryFolder } from "./process.ts";
import { type Bench, describe, report, type Result, type Results } from "./report.ts";
import { measureScale } from "./scale.ts";
import { measureSearch } from "./search.ts";
import { type Stage, startCurt, startStage } from "./servers.ts";
import { measureStart } from "./start.ts";
import { measureVisits } from "./visits.ts";

/** In this order: latency comes first, while no other part's servers are there. */
const PARTS: Readonly<Record<string, (bench: Bench) => Promise<Result>>> = {
  latency: measureLatency,
  flood: measureFlood,
  visits: measureVisits,
  creates: measureCreates,
  start: measureStart,
  scale: measureScale,
  costs: measureCosts,
  blocklist: measureBlocklist,
  search: measureSearch,
  evening: measureEvening,
  postgres: measurePostgres,
};
const LINKS = 100_000;

async function bench(folder: string, names: readonly string[]): Promise<Results> {
  const about = describe(folder);
  const progress = (text: string) => console.error(`… ${text}`);
  let shared: Promise<Stage> | undefined;
  const start = async () => {
    progress(`making ${LINKS} links`);
    return startStage(await startCurt(join(folder, "curt.db")), LINKS, folder);
  };
  const stage = () => (shared ??= start());
  const parts: Record<string, Result> = {};
  for (const name of names) {
    const part = await PARTS[name]?.({ folder, stage, progress });
    if (part !== undefined) parts[name] = part;
  }
  return { about, parts };
}

function keep(results: Results, names: readonly string[]): string {
  const { date, commit } = results.about;
  const isAll = names.length === Object.keys(PARTS).length;
  const folder = join(import.meta.dir, "results");
  const path = join(folder, `${[date.slice(0, 10), commit, ...(isAll ? [] : names)].join("-")}.json`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, `${JSON.stringify(results, undefined, 2)}\n`);
  return path;
}

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !(name in PARTS));
if (unknown.length > 0) {
  console.error(`There is no part ${unknown.join(", ")}. The parts: ${Object.keys(PARTS).join(", ")}.`);
  process.exit(2);
}
const names = Object.keys(PARTS).filter((name) => asked.length === 0 || asked.includes(name));
await inTemporaryFolder(async (folder) => {
  const results = await bench(folder, names);
  console.log(`${report(results)}\n\nAll figures: ${relative(process.cwd(), keep(results, names))}`);
});
