// Everything cold, put together for an engine.
import { createCases, createCasesReader } from "./cases.ts";
import { createDecisions, createHostsReader, type EraseVisits } from "./decisions.ts";
import { createInstance } from "./instance.ts";
import { createJournalReader } from "./operator-journal.ts";
import { createReports } from "./reports.ts";
import type { Run, Statements } from "./sql.ts";

/** `background` is for work that nobody waits for. */
export function createGuard(statements: Statements, background: Statements, eraseVisits: EraseVisits) {
  return {
    ...createInstance(statements.run),
    ...createDecisions(statements, eraseVisits),
    ...createReports(statements),
    ...createCases(statements, background),
  };
}

export function createGuardReader(run: Run) {
  return { ...createHostsReader(run), ...createJournalReader(run), ...createCasesReader(run) };
}
