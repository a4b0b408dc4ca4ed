import type { Config } from "../config/config.ts";
import { toCloudEvent } from "../events/event-formats.ts";
import { createOutbox } from "../events/outbox.ts";
import { hasStore, openStatements } from "../store/open.ts";
import type { Arguments } from "./command.ts";
import { noStore } from "./record-names.ts";
import { fail, note, printJson } from "./terminal/print.ts";

const PAGE = 1000;
const EVERY_MS = 500;

/** Prints waiting events and the last ones sent, and with `--follow` also new ones. Returns the exit code. */
export async function printEvents(config: Config, { options }: Arguments): Promise<number> {
  const { database, eventsUrl } = config;
  if (!(await hasStore(database))) return fail(noStore(database));
  if (eventsUrl === null) note("EVENTS_URL is off: no events are recorded.");
  const statements = await openStatements(database);
  const outbox = createOutbox(statements);
  // Pages overlap: in PostgreSQL, an event may commit after one with a higher number.
  let recent = new Set<number>();
  let last = 0;
  try {
    for (;;) {
      const rows = await outbox.after(Math.max(0, last - PAGE), 2 * PAGE);
      for (const row of rows) if (!recent.has(row.seq)) printJson(toCloudEvent(row, config));
      recent = new Set(rows.map(({ seq }) => seq));
      const next = rows.at(-1)?.seq ?? last;
      if (next === last && options["follow"] !== true) return 0;
      if (next === last) await Bun.sleep(EVERY_MS);
      last = next;
    }
  } finally {
    await statements.close();
  }
}
