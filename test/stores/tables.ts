import { describe, expect, test } from "bun:test";

import type { Config } from "../../src/config/config.ts";
import { identifyStore, openStatements, openStore } from "../../src/store/open.ts";
import { newLink } from "./links.ts";
import { PATIENT } from "./postgres-away.ts";

const REPORT = { reason: "spam", note: "a note", day: 1, atMs: 1, works: true, targetSinceMs: 0 } as const;

/** Tests the limits of tables. `addressOf` returns the address of a new store; `more`: statements that would change the journal. */
export function testTables(
  name: string,
  addressOf: (test: string) => Promise<Config["database"]>,
  more: readonly string[] = [],
): void {
  async function openTables(of: string) {
    const address = await addressOf(of);
    const store = await openStore(address, PATIENT);
    const statements = await openStatements(address, identifyStore(address));
    async function dispose(): Promise<void> {
      await statements.close();
      await store.close();
    }
    return { store, run: statements.run, [Symbol.asyncDispose]: dispose };
  }

  describe(`the tables of ${name}`, () => {
    test("refuse every SQL statement that changes or deletes entries of the operator's journal", async () => {
      await using tables = await openTables("journal");
      const { store, run } = tables;
      await store.blockHost({ host: "a.example", reason: "spam" }, { who: "api", atMs: 1 });
      for (const statement of ["DELETE FROM journal", "UPDATE journal SET note = NULL", ...more])
        expect(await run(statement).catch(String), statement).toContain("the journal only grows");
      expect((await run<object>("SELECT host FROM journal")).rows).toEqual([{ host: "a.example" }]);
    });

    test("accept 10,000 reports a day and keep at most 50,000 notes", async () => {
      await using tables = await openTables("bounds");
      const { store, run } = tables;
      const [one, other] = [newLink("one"), newLink("other")];
      await store.insert([one, other]);
      const report = ({ code, createdMs }: typeof one, reporter: string) =>
        store.report({ code, createdMs, reporter, ...REPORT });
      const upTo = (last: number) =>
        `WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${last})`;
      await report(one, "first");
      await run(
        `${upTo(9998)} INSERT INTO reporters SELECT 1, 'one', ${one.createdMs}, 'reporter ' || n FROM n`,
      );
      await run(`${upTo(50_000)} INSERT INTO notes (code, created_ms, noted_ms, reason, note)
        SELECT 'full', n, 1, 'spam', first.note FROM n, (SELECT note FROM notes) AS first`);
      expect(await report(one, "the last")).toBe("counted");
      expect(await report(one, "one too many")).toBe("repeated");
      expect(await store.caseOf(one)).toMatchObject({ reports: 2 });
      for (let nth = 0; nth < 500; nth += 50)
        await Promise.all(Array.from({ length: 50 }, (_, of50) => report(other, String(nth + of50))));
      expect((await run<object>("SELECT count(*) AS notes FROM notes")).rows).toEqual([{ notes: 50_000 }]);
      expect(await store.caseOf(one)).toMatchObject({ notes: { length: 1 } });
    });
  });
}
