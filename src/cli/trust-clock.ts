import type { Config } from "../config.ts";
import { trustClock as trust } from "../core.ts";
import { hasStore } from "../store/open.ts";
import { noStore } from "./names.ts";
import { fail, print } from "./print.ts";

/** Makes the store believe the clock as it is; returns the exit code. */
export async function trustClock(config: Config): Promise<number> {
  if (!(await hasStore(config.database))) return fail(noStore(config.database));
  print(`store: the clock is taken to be right (${await trust(config)}). Restart Curt.`);
  return 0;
}
