import type { Config } from "../config/config.ts";
import { post } from "../events/delivery.ts";
import { eventId, toCloudEvent } from "../events/event-formats.ts";
import { createOutbox, type Outbox } from "../events/outbox.ts";
import { systemNowMs } from "../server/core.ts";
import { hasStore, openStatements } from "../store/open.ts";
import type { Arguments } from "./command.ts";
import { fail, note, plural, printJson, READER_GONE, watchReader } from "./terminal/print.ts";
import { noStore } from "./terminal/record-names.ts";

const PAGE = 1000;
const EVERY_MS = 500;

/** Prints waiting events and the last ones sent, or prints or sends those that were set aside. Returns the exit code. */
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
    if (options["resend"] === true) return await resend(outbox, config);
    if (options["refused"] === true) {
      for await (const row of refusedEvents(outbox)) printJson(toCloudEvent(row, config));
      return 0;
    }
    const reader = options["follow"] === true ? watchReader() : undefined;
    for (;;) {
      const rows = await outbox.after(Math.max(0, last - PAGE), 2 * PAGE);
      for (const row of rows) if (!recent.has(row.seq)) printJson(toCloudEvent(row, config));
      recent = new Set(rows.map(({ seq }) => seq));
      const next = rows.at(-1)?.seq ?? last;
      if (next === last && reader === undefined) return 0;
      if (reader?.isGone === true) return READER_GONE;
      if (next === last) await Bun.sleep(EVERY_MS);
      last = next;
    }
  } finally {
    await statements.close();
  }
}

async function* refusedEvents(outbox: Outbox) {
  for (let last = 0; ;) {
    const rows = await outbox.refused(last, PAGE);
    yield* rows;
    if (rows.length < PAGE) return;
    last = rows.at(-1)?.seq ?? last;
  }
}

/** Sends events that were set aside, one by one. */
async function resend(outbox: Outbox, config: Config): Promise<number> {
  if (config.eventsUrl === null) return 1;
  let [sent, refused] = [0, 0];
  for await (const row of refusedEvents(outbox)) {
    const failure = await post([row], config, systemNowMs());
    if (failure === undefined) {
      await outbox.deleteRefused(row.seq);
      sent += 1;
    } else if (failure.kind === "refused") {
      note(`${eventId(row)} was refused again: ${failure.reason}`);
      refused += 1;
    } else return fail(`EVENTS_URL accepts no events: ${failure.reason}; ${plural(sent, "event")} sent`);
  }
  note(`${plural(sent, "event")} sent, ${refused} refused again`);
  return refused > 0 ? 1 : 0;
}
