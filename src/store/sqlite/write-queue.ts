import type { ResultOf, TaskOf, Thread } from "../../lib/thread.ts";
import { StoreBusy } from "./store-busy.ts";
import type { WriterCalls } from "./writer.ts";

const OF_REQUESTS: ReadonlySet<keyof WriterCalls> = new Set([
  "open",
  "insert",
  "insertOnce",
  "update",
  "change",
  "disable",
  "enable",
  "erase",
  "blockHost",
  "unblockHost",
  "undo",
  "reportAll",
  "answerCase",
  "reopenCase",
]);
/** How long a create waits for other processes in all, from its request on. */
const WAIT_MS = 5000;
/** Background tasks wait this many times longer than a create, and survive a lock that makes creates fail. */
const BACKGROUND_PATIENCE = 1.6;
const MIN_BACKGROUND_WAIT_MS = 1000;
/** A background task holds up the thread, and with it creates, at most this long per try… */
const BACKGROUND_TRY_MS = 100;
/** …and then pauses for this long. */
const BACKGROUND_PAUSE_MS = 100;
/** After a background task, the next one waits as long as it took, at most this long. Another process may need the lock. */
const MAX_REST_MS = 100;

/**
 * Sends tasks to the thread from two queues, one for tasks of requests and one for the background. Each has at most one task
 * on the thread, so that none waits for long behind others.
 */
export function createWriteQueue(thread: Pick<Thread<WriterCalls>, "perform">, createWaitMs = WAIT_MS) {
  const backgroundWaitMs = Math.max(MIN_BACKGROUND_WAIT_MS, createWaitMs * BACKGROUND_PATIENCE);
  const inTurn = createQueue();
  const inBackground = createQueue();
  let restUntilMs = 0;
  let closing = false;

  /** Retries a background task. Tasks of requests run in between. */
  async function tryUntil<Result>(send: Send<Result>, giveUpMs: number): Promise<Result> {
    const restMs = restUntilMs - performance.now();
    if (restMs > 0 && !closing) await Bun.sleep(restMs);
    for (;;) {
      const startMs = performance.now();
      try {
        const result = await send(BACKGROUND_TRY_MS);
        const endMs = performance.now();
        restUntilMs = endMs + Math.min(endMs - startMs, MAX_REST_MS);
        return result;
      } catch (error) {
        if (!(error instanceof StoreBusy) || closing || performance.now() > giveUpMs) throw error;
      }
      await Bun.sleep(BACKGROUND_PAUSE_MS);
    }
  }

  return {
    /** `sinceMs` is when the request arrived (`performance.now`). */
    perform<Name extends keyof WriterCalls>(
      type: Name,
      task: TaskOf<WriterCalls, Name>,
      sinceMs = performance.now(),
    ): Promise<ResultOf<WriterCalls, Name>> {
      if (OF_REQUESTS.has(type))
        return inTurn(() =>
          thread.perform(type, task, Math.max(0, sinceMs + createWaitMs - performance.now())),
        );
      const send = (waitMs: number) => thread.perform(type, task, waitMs);
      if (type !== "close") return inBackground(() => tryUntil(send, sinceMs + backgroundWaitMs));
      closing = true;
      return inBackground(() => inTurn(() => send(createWaitMs)));
    },
  };
}

type Send<Result> = (waitMs: number) => Promise<Result>;

/** One after the other, in order. */
function createQueue() {
  let last: Promise<unknown> = Promise.resolve();
  return <Result>(perform: () => Promise<Result>): Promise<Result> => {
    const result = last.then(perform);
    last = result.catch(() => {});
    return result;
  };
}
