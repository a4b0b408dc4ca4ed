import type { Config } from "../config.ts";
import { checkStore } from "../store/open.ts";

/** Checks the whole store and returns the exit code. The configuration has already been checked by reading it. */
export function check({ database, baseUrl, posture }: Config): number {
  console.log(`configuration: fine (links at ${baseUrl}, ${posture} posture)`);
  const report = checkStore(database);
  if (report === undefined) {
    console.log(`store: ${database.path} is not there yet; the first start creates it`);
    return 0;
  }
  for (const line of report.damage) console.error(`store: damaged: ${line}`);
  if (report.damage.length > 0) {
    console.error(`store: ${database.path} is damaged. Restore a backup.`);
    return 1;
  }
  console.log(`store: fine (${report.links} links in ${database.path})`);
  return 0;
}
