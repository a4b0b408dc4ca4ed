// Which processes serve a database. An import must not replace the secret under one of them.
import type { Run } from "./connection/database.ts";

const RENEW_EVERY_MS = 20_000;
/** A killed process counts as alive for this long. */
const ALIVE = "interval '1 minute'";

const RENEW = `
  WITH dead AS (DELETE FROM instances WHERE renewed < now() - ${ALIVE} AND id <> $1)
  INSERT INTO instances (id, renewed) VALUES ($1, now()) ON CONFLICT (id) DO UPDATE SET renewed = excluded.renewed`;
const LEAVE = "DELETE FROM instances WHERE id = $1";
const IS_SERVED = `SELECT EXISTS (SELECT FROM instances WHERE renewed >= now() - ${ALIVE}) AS served`;

/** Records this process in the database until it leaves. */
export async function joinInstances(run: Run): Promise<{ leave(): Promise<void> }> {
  const id = crypto.randomUUID();
  await run(RENEW, [id]);
  // The next renewal makes up for a failed one.
  const timer = setInterval(() => void run(RENEW, [id]).catch(() => {}), RENEW_EVERY_MS);
  return {
    async leave() {
      clearInterval(timer);
      await run(LEAVE, [id]).catch(() => {});
    },
  };
}

export async function isServed(run: Run): Promise<boolean> {
  return (await run<{ served: boolean }>(IS_SERVED)).rows[0]?.served === true;
}
