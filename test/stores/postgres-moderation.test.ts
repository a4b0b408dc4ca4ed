import { describe, expect, test } from "bun:test";

import { Client } from "pg";

import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { sharePostgres } from "../support/postgres.ts";
import { newLink } from "./links.ts";
import { PATIENT } from "./postgres-away.ts";
import { testTables } from "./tables.ts";

const server = await sharePostgres();

const open = async (name: string) => openPostgresStore(await server.address(name), PATIENT);

const REPORTED = { reason: "spam", day: 1, atMs: 1, works: true, targetSinceMs: 0 } as const;

testTables("PostgreSQL", server.address, ["TRUNCATE journal"]);

describe("decisions and reports in PostgreSQL", () => {
  test("wait for a simultaneous change of the link and then use its new state", async () => {
    const store = await open("moment");
    const [disabled, purged] = [newLink("disabled"), newLink("purged")];
    await store.insert([disabled, purged]);
    for (const [{ code, createdMs }, change, outcome] of [
      [disabled, "UPDATE links SET disabled = 'legal' WHERE code = 'disabled'", "counted"],
      [purged, "DELETE FROM links WHERE code = 'purged'", "repeated"],
    ] as const) {
      const client = new Client(await server.url("moment"));
      await client.connect();
      await client.query("BEGIN");
      await client.query(change);
      // It reads the old link, and then waits.
      const reported = store.report({ code, createdMs, reporter: "a", threshold: 1, ...REPORTED });
      await untilLockWait(client);
      await client.query("COMMIT");
      await client.end();
      expect(await reported).toBe(outcome);
    }
    expect(await store.find(disabled.code)).toMatchObject({ disabled: "legal" });
    await store.close();
  });

  test("answer a case that opens while they wait for its link", async () => {
    const store = await open("opened");
    const by = { who: "page", atMs: 5 } as const;
    const [disabled, erased] = [newLink("disabled"), newLink("erased")];
    await store.insert([disabled, erased]);
    for (const [{ code, createdMs }, answer] of [
      [disabled, () => store.disable([disabled], { ...by, reason: "spam" })],
      [erased, () => store.erase(erased, by)],
    ] as const) {
      const client = new Client(await server.url("opened"));
      await client.connect();
      // A report holds its link, and then opens the case.
      await client.query("BEGIN");
      await client.query("SELECT FROM links WHERE code = $1 FOR UPDATE", [code]);
      const answering = answer();
      await untilLockWait(client);
      await client.query(
        `INSERT INTO cases (code, created_ms, is_open, first_ms, last_ms, reports, reasons, pending)
        VALUES ($1, $2, true, 1, 1, 1, '{"spam": 1}', 1)`,
        [code, createdMs],
      );
      await client.query("COMMIT");
      await client.end();
      await answering;
    }
    expect(await store.cases({ state: "open", limit: 10 })).toEqual([]);
    expect(await store.caseOf(disabled)).toMatchObject({ answer: { action: "disable" } });
    expect(await store.caseOf(erased)).toMatchObject({ answer: { action: "erase" } });
    await store.close();
  });
});

async function untilLockWait(client: Client): Promise<void> {
  for (let tries = 0; tries < 10_000; tries++) {
    const { rows } = await client.query("SELECT 1 FROM pg_locks WHERE NOT granted");
    if (rows.length > 0) return;
    await Bun.sleep(1);
  }
  throw new Error("no statement waits for a lock");
}
