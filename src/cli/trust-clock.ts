import type { Config } from "../config/config.ts";
import { DAY_MS } from "../links/time.ts";
import { systemNowMs } from "../server/core.ts";
import { hasStore, openStatements, openStore } from "../store/open.ts";
import type { Arguments } from "./command.ts";
import { fail, print } from "./terminal/print.ts";
import { noStore } from "./terminal/record-names.ts";

/**
 * Makes later starts believe the clock as it is, by storing a salt of today, and deleting those that a clock ahead has left.
 * Returns the exit code.
 */
export async function trustClock({ database }: Config, { options }: Arguments): Promise<number> {
  if (!(await hasStore(database))) return fail(noStore(database));
  const nowMs = systemNowMs();
  const time = new Date(nowMs).toISOString();
  // Trust in a wrong clock deletes links and statistics too early.
  if (options["yes"] !== true) {
    if (!process.stdin.isTTY)
      return fail(`the clock says ${time}. If that is right, run curt trust-clock --yes.`, 2);
    if (!confirm(`The clock says ${time}. Is that right?`)) return 1;
  }
  const today = Math.floor(nowMs / DAY_MS);
  const store = await openStore(database);
  try {
    await store.salt(today, 0);
  } finally {
    await store.close();
  }
  const statements = await openStatements(database);
  try {
    await statements.run("DELETE FROM salts WHERE day > $1", [today]);
  } finally {
    await statements.close();
  }
  print(`store: trusts the clock from now on (${time}). Restart Curt.`);
  return 0;
}
