import type { Database } from "bun:sqlite";

const ADD = `
  INSERT INTO counters (day, name, count) VALUES (?1, ?2, ?3)
  ON CONFLICT (day, name) DO UPDATE SET count = count + ?3`;

/** The writer's half of what is counted by the day. */
export function prepareCounters(database: Database) {
  const add = database.prepare<unknown, [number, string, number]>(ADD);
  /** To be called in a transaction. */
  function addTo(day: number, counts: Readonly<Record<string, number>>): void {
    for (const [name, count] of Object.entries(counts)) if (count > 0) add.run(day, name, count);
  }
  return { add: addTo, count: database.transaction(addTo).immediate, close: () => add.finalize() };
}

export type CountersTable = ReturnType<typeof prepareCounters>;
