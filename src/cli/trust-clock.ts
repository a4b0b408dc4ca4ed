import type { Config } from "../config.ts";
import { trustClock as trust } from "../core.ts";

/** Makes the store believe the clock as it is; returns the exit code. */
export async function trustClock(config: Config): Promise<number> {
  console.log(`store: the clock is taken to be right (${await trust(config)}). Restart Curt.`);
  return 0;
}
