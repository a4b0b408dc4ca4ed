import { describeStore, type PostgresAddress } from "../../config/database-url.ts";
import type { OwnIdentity } from "../../visits/days/visit-store.ts";
import type { Run } from "./connection/database.ts";

/** Standbys have the same system identifier and OID, copies by pg_dump or a template don't. */
const IDENTITY = `
  SELECT id, (SELECT system_identifier FROM pg_control_system())::text || '/' || oid AS cluster
  FROM store, pg_database WHERE datname = current_database()`;

/** See `VisitStore`. A database has many addresses, so only another id proves that it is another one. */
export async function identityOf(run: Run, address: PostgresAddress): Promise<OwnIdentity> {
  const [{ id, cluster } = { id: "", cluster: "" }] = (await run<{ id: string; cluster: string }>(IDENTITY))
    .rows;
  const place = describeStore(address);
  return { id, place, cluster, isElsewhere: (other) => other.id !== id && other.place !== place };
}
