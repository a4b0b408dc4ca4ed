import type { Config } from "../config/config.ts";
import { DAY_MS } from "../links/time.ts";
import { systemNowMs } from "../server/core.ts";
import { hasStore, openStore } from "../store/open.ts";
import { noStore } from "./record-names.ts";
import { fail, print } from "./terminal/print.ts";

/** Makes later starts believe the clock as it is, by storing a salt of today. Returns the exit code. */
export async function trustClock({ database }: Config): Promise<number> {
  if (!(await hasStore(database))) return fail(noStore(database));
  const nowMs = systemNowMs();
  const store = await openStore(database);
  try {
    await store.salt(Math.floor(nowMs / DAY_MS), 0);
  } finally {
    await store.close();
  }
  print(`store: trusts the clock from now on (${new Date(nowMs).toISOString()}). Restart Curt.`);
  return 0;
}
