import type { Thread } from "../../lib/thread.ts";
import { StoreUnavailable } from "../../links/store.ts";
import type { Task } from "./writer.ts";

const SOMEBODY_WAITS: ReadonlySet<Task["type"]> = new Set([
  "open",
  "insert",
  "insertOnce",
  "update",
  "disable",
  "enable",
  "erase",
  "blockHost",
  "unblockHost",
  "reportAll",
  "answerCase",
]);
/** How long a create waits for other processes, from when it was asked for, whatever it waits for. */
const WAIT_MS = 5000;
/** As many times as long as a create: a lock that makes creates fail for once need not make the rest fail as well. */
const BACKGROUND_PATIENCE = 1.6;
const MIN_BACKGROUND_WAIT_MS = 1000;
/** A background task holds up the thread, and with it creates, for no longer than this… */
const BACKGROUND_TRY_MS = 100;
/** …and then leaves it to them for this long. */
const BACKGROUND_PAUSE_MS = 100;

/** What the thread is sent: a task, and how long to wait for other processes' locks. */
export type TimedTask = Task & { readonly waitMs: number };

/** Another process has the lock. Nothing was done. */
export class StoreBusy extends StoreUnavailable {
  override readonly name = "StoreBusy";
}

/**
 * Sends tasks to the thread so that none waits for long behind others. There are two queues, one for what people wait
 * for and one for the rest, and each has at most one task on the thread.
 */
export function createWriteQueue(thread: Pick<Thread<TimedTask>, "perform">, createWaitMs = WAIT_MS) {
  const backgroundWaitMs = Math.max(MIN_BACKGROUND_WAIT_MS, createWaitMs * BACKGROUND_PATIENCE);
  const inTurn = createQueue();
  const inBackground = createQueue();
  let closing = false;

  /** Tries again and again, so that what people wait for gets its turn in between. */
  async function tryUntil(task: Task, endMs: number): Promise<unknown> {
    for (;;) {
      try {
        return await thread.perform({ ...task, waitMs: BACKGROUND_TRY_MS });
      } catch (error) {
        if (!(error instanceof StoreBusy) || closing || performance.now() > endMs) throw error;
      }
      await Bun.sleep(BACKGROUND_PAUSE_MS);
    }
  }

  return {
    /** `sinceMs` is when it was asked for, on the clock of `performance.now`. */
    perform(task: Task, sinceMs = performance.now()): Promise<unknown> {
      if (SOMEBODY_WAITS.has(task.type))
        return inTurn(() => {
          const waitMs = Math.max(0, sinceMs + createWaitMs - performance.now());
          return thread.perform({ ...task, waitMs });
        });
      if (task.type !== "close") return inBackground(() => tryUntil(task, sinceMs + backgroundWaitMs));
      closing = true;
      return inBackground(() => inTurn(() => thread.perform({ ...task, waitMs: createWaitMs })));
    },
  };
}

/** One after the other, in order. */
function createQueue() {
  let last: Promise<unknown> = Promise.resolve();
  return (perform: () => Promise<unknown>): Promise<unknown> => {
    const result = last.then(perform);
    last = result.catch(() => {});
    return result;
  };
}
