import { createFairShares } from "../lib/fair-shares.ts";
import { type Thread, ThreadEnded } from "../lib/thread.ts";
import type { MonotonicClock } from "../links/clock.ts";
import type { ViewCalls } from "./task.ts";

/** Further requests get 503, which keeps the queue short. Visitors share their places, and can't take the operator's. */
export const MAX_WAITING = { visitors: 64, operator: 16 };
type Audience = keyof typeof MAX_WAITING;
/** After a crash, the thread starts no earlier than this. */
const RESTART_AFTER_MS = 1000;
const CLOSE_MS = 2000;

export interface ViewQueueOptions {
  /** Starts the views thread. */
  readonly start: () => Thread<ViewCalls>;
  readonly clock: MonotonicClock;
  readonly onFault: (error: unknown) => void;
}

/** Why the queue doesn't take a task. */
export interface Refusal {
  readonly kind: "overloaded" | "unavailable";
}

/** A place in the queue, for one task. */
interface Place {
  readonly audience: Audience;
  leave(): void;
}

export interface ViewLoad {
  /** Views that wait or are being rendered. */
  readonly waiting: Readonly<Record<Audience, number>>;
  /** Requests refused because too many waited. */
  readonly refused: number;
  /** How often the thread ended by itself. */
  readonly crashes: number;
}

export interface ViewQueue {
  /** Takes a place. `sharers` get only a share of all places. */
  enter(audience: Audience, sharers: readonly string[]): Place | Refusal;
  /** Performs a task on the thread, and leaves the place. Rejects with {@link ThreadEnded} if the thread crashes. */
  perform<Result>(place: Place, task: (thread: Thread<ViewCalls>) => Promise<Result>): Promise<Result>;
  readonly load: ViewLoad;
  /** Waits two seconds at most for the thread to close its store. */
  close(): Promise<void>;
}

/** The views thread and the tasks that wait for it. It starts with the first task, and again after a crash. */
export function createViewQueue({ start, clock, onFault }: ViewQueueOptions): ViewQueue {
  let thread: Thread<ViewCalls> | undefined;
  let startAgainAtMs = 0;
  const waiting = { visitors: 0, operator: 0 };
  const load = { waiting, refused: 0, crashes: 0 };
  const shares = {
    visitors: createFairShares(MAX_WAITING.visitors),
    operator: createFairShares(MAX_WAITING.operator),
  };

  function refuse(kind: Refusal["kind"]): Refusal {
    load.refused++;
    return { kind };
  }

  return {
    enter(audience, sharers) {
      if (thread === undefined && clock.monotonicMs() < startAgainAtMs) return refuse("unavailable");
      const leave = shares[audience](sharers);
      return leave === undefined ? refuse("overloaded") : { audience, leave };
    },

    async perform({ audience, leave }, task) {
      let current: Thread<ViewCalls> | undefined;
      waiting[audience]++;
      try {
        current = thread ??= start();
        return await task(current);
      } catch (error) {
        // Both are undefined if the thread failed to start.
        if (error instanceof ThreadEnded && thread === current) {
          thread = undefined;
          load.crashes++;
          startAgainAtMs = clock.monotonicMs() + RESTART_AFTER_MS;
          onFault(error);
        }
        throw error;
      } finally {
        waiting[audience]--;
        leave();
      }
    },

    load,

    async close() {
      const ending = thread;
      thread = undefined;
      // Ending the thread would close its connection as well, but later than the writer's, which must be the last to empty the log.
      await Promise.race([ending?.perform("close", {}).catch(() => {}), Bun.sleep(CLOSE_MS)]);
      ending?.terminate();
    },
  };
}
