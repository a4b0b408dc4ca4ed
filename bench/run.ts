// `npm run bench`: the cost of a visit beside nginx and of a durable create, also at scale. See README.md here.
import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";

import { measureBackground } from "./background.ts";
import { measureBatches } from "./batches.ts";
import { measureBlocklist } from "./blocklist.ts";
import { describeChhoto, startChhotos } from "./chhoto.ts";
import { measureCompare } from "./compare.ts";
import { measureCosts } from "./costs.ts";
import { measureCreates } from "./creates.ts";
import { measureEvening } from "./evening.ts";
import { measureFlood } from "./flood.ts";
import { measureLatency } from "./latency.ts";
import { measureOverload } from "./overload.ts";
import { measurePostgres } from "./postgres.ts";
import { inTemporaryFolder } from "./process.ts";
import { type Bench, describe, report, type Result, type Results } from "./report.ts";
import { measureRotations } from "./rotations.ts";
import { measureScale } from "./scale.ts";
import { startCurt, startStage } from "./servers.ts";
import { measureSoak } from "./soak.ts";
import { measureStart } from "./start.ts";
import { measureVisits } from "./visits.ts";

/** In this order: latency comes first, while no other part's servers are there. */
const PARTS: Readonly<Record<string, (bench: Bench) => Promise<Result>>> = {
  latency: measureLatency,
  flood: measureFlood,
  overload: measureOverload,
  visits: measureVisits,
  creates: measureCreates,
  batches: measureBatches,
  start: measureStart,
  scale: measureScale,
  costs: measureCosts,
  blocklist: measureBlocklist,
  evening: measureEvening,
  postgres: measurePostgres,
  soak: measureSoak,
  rotations: measureRotations,
  background: measureBackground,
  compare: measureCompare,
};
/** Only run by name, because each takes as long as the others together. */
const ON_REQUEST = ["soak", "rotations", "background", "compare"];
const DEFAULT_MINUTES = 20;
const EVERY_RUN = Object.keys(PARTS).filter((name) => !ON_REQUEST.includes(name));
const LINKS = 100_000;

async function bench(
  folder: string,
  names: readonly string[],
  { minutes, commit }: Pick<Bench, "minutes" | "commit">,
): Promise<Results> {
  const about = { ...describe(folder), chhoto: await describeChhoto(folder) };
  const progress = (text: string) => console.error(`… ${text}`);
  let shared: ReturnType<Bench["stage"]> | undefined;
  const start = async () => {
    progress(`making ${LINKS} links`);
    const stage = await startStage(await startCurt(join(folder, "curt.db")), LINKS, folder);
    return { ...stage, chhotos: await startChhotos(folder, stage.links) };
  };
  const stage = () => (shared ??= start());
  const parts: Record<string, Result> = {};
  for (const name of names) {
    const part = await PARTS[name]?.({ folder, stage, progress, minutes, commit });
    if (part !== undefined) parts[name] = part;
  }
  return { about, parts };
}

/** Each part has a file, which a newer measurement replaces: git has the older ones. */
function keep({ about, parts }: Results): string {
  const folder = join(import.meta.dir, "results");
  mkdirSync(folder, { recursive: true });
  for (const [name, part] of Object.entries(parts)) {
    const results: Results = { about, parts: { [name]: part } };
    writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(results, undefined, 2)}\n`);
  }
  return folder;
}

/** `compare` and `costs` take a commit, which may be all digits. */
const words = process.argv.slice(2);
const takesCommit = ["compare", "costs"].includes(words[0] ?? "") && !((words[1] ?? "") in PARTS);
const commit = takesCommit ? words.splice(1, 1)[0] : undefined;
const [numbers, requested] = [true, false].map((isNumber) =>
  words.filter((word) => /^\d+$/.test(word) === isNumber),
) as [string[], string[]];
const unknown = requested.filter((name) => !(name in PARTS));
if (unknown.length > 0) {
  console.error(`There is no part ${unknown.join(", ")}. The parts: ${Object.keys(PARTS).join(", ")}.`);
  process.exit(2);
}
const names = Object.keys(PARTS).filter((name) =>
  (requested.length === 0 ? EVERY_RUN : requested).includes(name),
);
await inTemporaryFolder(async (folder) => {
  const results = await bench(folder, names, { minutes: Number(numbers[0] ?? DEFAULT_MINUTES), commit });
  console.log(`${report(results)}\n\nAll figures: ${relative(process.cwd(), keep(results))}`);
});
