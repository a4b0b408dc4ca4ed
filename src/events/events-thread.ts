import type { Config } from "../config/config.ts";
import type { Log } from "../lib/log.ts";
import { repeat } from "../lib/repeat.ts";
import { startThread, type Thread, ThreadEnded } from "../lib/thread.ts";
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

/** Starts to record events and to send them to EVENTS_URL. A thread that crashes starts again. */
export async function openEvents(
  config: Config,
  log: Log,
  clock: Clock,
  { takeOverMs, firstRetryMs, requestMs }: SenderLimits = {},
  onFault: (error: unknown) => void,
): Promise<Events> {
  const { database, eventsUrl, eventsSecrets, eventsFormat, eventsTypes, baseUrl, domains } = config;
  const storeFiles = identifyStore(database);
  let isClosed = false;
  /** Closing may interrupt a request to the endpoint. */
  const onFaultWhileOpen = (error: unknown) => {
    if (!isClosed) onFault(error);
  };
  let figures = NO_EVENTS;
  /** Undefined after a crash, until the next second. */
  let thread: Thread<EventsCalls> | undefined;

  async function start(): Promise<Thread<EventsCalls>> {
    const worker = () => new Worker(new URL("./events-worker.ts", import.meta.url));
    const errorClasses = { StoreMisplaced, StoreUnavailable, StoreUnusable, SyncFailed };
    // The task of the last second or the next one fails.
    thread = startThread<EventsCalls>(worker, errorClasses, () => {});
    try {
      await thread.perform("open", {
        database,
        storeFiles,
        settings: { eventsUrl, eventsSecrets, eventsFormat, eventsTypes, baseUrl, domains },
        limits: { takeOverMs, firstRetryMs, requestMs },
        figures,
        nowMs: clock.nowMs(),
      });
      return thread;
    } catch (error) {
      stop();
      throw error;
    }
  }

  function stop(): void {
    thread?.terminate();
    thread = undefined;
  }

  function report(before: EventFigures): void {
    const { reason, dropped, waiting, refused, refusal } = figures;
    if (reason !== undefined && before.reason === undefined)
      log.warn({ reason, waiting }, "EVENTS_URL accepts no events: Curt keeps them and retries");
    if (reason === undefined && before.reason !== undefined) log.info("EVENTS_URL accepts events again");
    if (refused > before.refused) log.warn({ ...refusal }, "an event was set aside: EVENTS_URL refused it");
    if (dropped > before.dropped)
      log.warn(
        { dropped: dropped - before.dropped },
        "events were dropped: EVENTS_URL did not take them in time",
      );
  }

  await start();
  const repetition = repeat(
    EVERY_MS,
    async () => {
      const before = figures;
      const now = { nowMs: clock.nowMs(), isClockTrusted: clock.trustworthy() };
      try {
        figures = await (thread ?? (await start())).perform("send", now);
      } catch (error) {
        if (error instanceof ThreadEnded) stop();
        throw error;
      }
      report(before);
    },
    onFaultWhileOpen,
  );

  return {
    figures: () => figures,
    async close() {
      const closed = repetition.stop().then(() => thread?.perform("close", {}));
      await Promise.race([closed.catch(onFaultWhileOpen), Bun.sleep(CLOSE_MS)]);
      isClosed = true;
      stop();
    },
  };
}
