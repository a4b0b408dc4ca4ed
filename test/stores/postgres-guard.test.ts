import { describe, expect, test } from "bun:test";

import { Client } from "pg";

import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { sharePostgres } from "../postgres.ts";
import { newLink } from "./links.ts";
import { PATIENT } from "./postgres-away.ts";

const server = await sharePostgres();

const open = async (name: string) => openPostgresStore(await server.address(name), PATIENT);

const REPORTED = { reason: "spam", day: 1, atMs: 1, works: true, targetSinceMs: 0 } as const;

describe("decisions and reports in PostgreSQL", () => {
  async function query(name: string, ...statements: string[]): Promise<unknown[]> {
    const client = new Client(await server.url(name));
    await client.connect();
    try {
      for (const statement of statements.slice(0, -1)) await client.query(statement);
      return (await client.query(statements.at(-1) ?? "")).rows as unknown[];
    } finally {
      await client.end();
    }
  }

  test("keep a journal that refuses every SQL statement that changes or deletes entries", async () => {
    const store = await open("journal");
    await store.blockHost({ host: "a.example", reason: "spam" }, { who: "api", atMs: 1 });
    for (const statement of ["DELETE FROM journal", "UPDATE journal SET note = NULL", "TRUNCATE journal"])
      expect(await query("journal", statement).catch(String)).toBe("error: the journal only grows");
    expect(await query("journal", "SELECT host FROM journal")).toEqual([{ host: "a.example" }]);
    await store.close();
  });

  test("are limited to 10,000 reports a day and 50,000 notes", async () => {
    const store = await open("bounds");
    const [one, other] = [newLink("one"), newLink("other")];
    await store.insert([one, other]);
    const report = ({ code, createdMs }: typeof one, reporter: string) =>
      store.report({ code, createdMs, reporter, note: "a note", ...REPORTED });
    await report(one, "first");
    await query(
      "bounds",
      `INSERT INTO reporters SELECT 1, 'one', ${one.createdMs}, 'reporter ' || n FROM generate_series(2, 9999) AS n`,
      `INSERT INTO notes (code, created_ms, noted_ms, reason, note)
        SELECT 'full', n, 1, 'spam', 'a note' FROM generate_series(1, 50000) AS n`,
    );
    expect(await report(one, "the last")).toBe("counted");
    expect(await report(one, "one too many")).toBe("repeated");
    expect(await store.caseOf(one)).toMatchObject({ reports: 2 });
    for (let nth = 0; nth < 500; nth += 50)
      await Promise.all(Array.from({ length: 50 }, (_, of50) => report(other, String(nth + of50))));
    expect(await query("bounds", "SELECT count(*)::integer AS notes FROM notes")).toEqual([
      { notes: 50_000 },
    ]);
    await store.close();
  });

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
