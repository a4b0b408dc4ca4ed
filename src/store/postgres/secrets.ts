import type { LinkStore } from "../../links/store.ts";
import type { Statements } from "./connection/database.ts";

/** The secret that every process of the instance uses, unless it has one of its own. */
const NAME = "instance";
/** The first proposal stays. A write in any case: only its commit shows that the standby has what is told. */
const PROPOSE = `
  INSERT INTO secrets (name, secret) VALUES ($1, $2)
  ON CONFLICT (name) DO UPDATE SET secret = secrets.secret RETURNING secret`;

export function createSecrets({ run }: Pick<Statements, "run">) {
  return {
    async secret(proposed) {
      const [kept] = (await run<{ secret: Uint8Array }>(PROPOSE, [NAME, proposed])).rows;
      return Uint8Array.from(kept?.secret ?? proposed);
    },
  } satisfies Pick<LinkStore, "secret">;
}
