import type { Config } from "../config/config.ts";
import { trustClock as trust } from "../server/core.ts";
import { hasStore } from "../store/open.ts";
import { noStore } from "./record-names.ts";
import { fail, print } from "./terminal/print.ts";

/** Makes the store believe the clock as it is; returns the exit code. */
export async function trustClock(config: Config): Promise<number> {
  if (!(await hasStore(config.database))) return fail(noStore(config.database));
  print(`store: the clock is taken to be right (${await trust(config)}). Restart Curt.`);
  return 0;
}
