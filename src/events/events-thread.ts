import type { Config } from "../config/config.ts";
import type { Log } from "../lib/log.ts";
import { repeat } from "../lib/repeat.ts";
import { startThread } from "../lib/thread.ts";
import type { Clock } from "../links/clock.ts";
import { StoreMisplaced, StoreUnavailable, StoreUnusable, SyncFailed } from "../links/link-store.ts";
import { identifyStore } from "../store/open.ts";
import type { EventsCalls } from "./events-worker.ts";
import { type EventFigures, NO_EVENTS, type SenderLimits } from "./sender.ts";

const EVERY_MS = 1000;
/** A stop waits this long for the endpoint. The next sender repeats an interrupted request. */
const CLOSE_MS = 2000;

export interface Events {
  /** As of the last second. */
  figures(): EventFigures;
  /** Waits two seconds at most for the endpoint. Another process, or the next start, sends what still waits. */
  close(): Promise<void>;
}

/** Starts to record events and to send them to EVENTS_URL. */
export async function openEvents(
  config: Config,
  log: Log,
  clock: Clock,
  { takeOverMs, firstRetryMs, requestMs }: SenderLimits = {},
  onFault: (error: unknown) => void,
): Promise<Events> {
  const { database, eventsUrl, eventsSecrets, eventsFormat, eventsTypes, baseUrl, domains } = config;
  const worker = () => new Worker(new URL("./events-worker.ts", import.meta.url));
  let isClosed = false;
  /** Closing may interrupt a request to the endpoint. */
  const onFaultWhileOpen = (error: unknown) => {
    if (!isClosed) onFault(error);
  };
  const errorClasses = { StoreMisplaced, StoreUnavailable, StoreUnusable, SyncFailed };
  const thread = startThread<EventsCalls>(worker, errorClasses, onFault);
  let figures = NO_EVENTS;

  function report(before: EventFigures): void {
    const { reason, dropped, waiting, refused, refusal, isPaused, failures } = figures;
    if (isPaused) {
      if (failures > before.failures)
        log.warn(
          { waiting },
          "EVENTS_URL is gone: Curt sends nothing until a restart or curt events --resend",
        );
    } else if (reason !== undefined && before.reason === undefined)
      log.warn({ reason, waiting }, "EVENTS_URL accepts no events: Curt keeps them and retries");
    if (reason === undefined && before.reason !== undefined) log.info("EVENTS_URL accepts events again");
    if (refused > before.refused)
      log.warn({ ...refusal }, "an event was set aside: EVENTS_URL refused it five times");
    if (dropped > before.dropped)
      log.warn(
        { dropped: dropped - before.dropped },
        "events were dropped: EVENTS_URL did not take them in time",
      );
  }

  try {
    await thread.perform("open", {
      database,
      storeFiles: identifyStore(database),
      settings: { eventsUrl, eventsSecrets, eventsFormat, eventsTypes, baseUrl, domains },
      limits: { takeOverMs, firstRetryMs, requestMs },
      nowMs: clock.nowMs(),
    });
  } catch (error) {
    thread.terminate();
    throw error;
  }
  const repetition = repeat(
    EVERY_MS,
    async () => {
      const before = figures;
      const now = { nowMs: clock.nowMs(), isClockTrusted: clock.trustworthy() };
      figures = await thread.perform("send", now);
      report(before);
    },
    onFaultWhileOpen,
  );

  return {
    figures: () => figures,
    async close() {
      const closed = Promise.all([repetition.stop(), thread.perform("close", {})]);
      await Promise.race([closed.catch(onFaultWhileOpen), Bun.sleep(CLOSE_MS)]);
      isClosed = true;
      thread.terminate();
    },
  };
}
