import type { Database } from "bun:sqlite";

/** Changes that are kept. A reader that missed more forgets everything it remembers. */
const MAX_CHANGES = 100_000;

const ADD = "INSERT INTO changes (code) VALUES (?1) RETURNING revision";
const FORGET = "DELETE FROM changes WHERE revision <= ?1";

/** Records changes for the memories of all processes. To be called in the transaction that makes the change. */
export function prepareChanges(database: Database) {
  const add = database.prepare<{ revision: number }, [string]>(ADD);
  const forget = database.prepare<unknown, [number]>(FORGET);
  return {
    add(code: string): void {
      const revision = add.get(code)?.revision ?? 0;
      forget.run(revision - MAX_CHANGES);
    },
    close() {
      add.finalize();
      forget.finalize();
    },
  };
}

export type ChangesTable = ReturnType<typeof prepareChanges>;
