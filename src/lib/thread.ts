import { closeSync, openSync } from "node:fs";

/** The calls of a worker, by name. Each takes the fields of one object. */
type CallMap<Calls> = { readonly [Name in keyof Calls]: (task: never) => unknown };
export type TaskOf<Calls extends CallMap<Calls>, Name extends keyof Calls> = Parameters<Calls[Name]>[0];
export type ResultOf<Calls extends CallMap<Calls>, Name extends keyof Calls> = Awaited<
  ReturnType<Calls[Name]>
>;

/** A worker thread as a function. */
export interface Thread<Calls extends CallMap<Calls>> {
  /**
   * Performs tasks one at a time, in order. Rejects with the error that the call threw. `waitMs` is for workers that need the
   * lock of another process.
   */
  perform<Name extends keyof Calls>(
    type: Name,
    task: TaskOf<Calls, Name>,
    waitMs?: number,
  ): Promise<ResultOf<Calls, Name>>;
  terminate(): void;
}

/**
 * The message of a failed task. Tasks and results are sent as they are, without a wrapper: Bun doesn't copy the strings of flat
 * objects between threads, and copying would delay redirects.
 */
interface Failure {
  readonly failure: string;
  readonly name: string;
  readonly stack: string | undefined;
}
type ErrorClass = new (message: string) => Error;

/** The thread ended, so its tasks get no result. */
export class ThreadEnded extends Error {
  override readonly name = "ThreadEnded";
}

/** A thread opens about ten. More connections may be accepted while it starts. */
const FREE_DESCRIPTORS = 32;

/**
 * Starts sending tasks to a worker that runs {@link performTasks}. Errors lose their class between threads. Those whose
 * `name` is in `errorClasses` get it back; the others become plain errors. If the thread ends by itself, calls `onEnd`; without
 * it, the process ends. Throws {@link ThreadEnded} if too few file descriptors are free.
 */
export function startThread<Calls extends CallMap<Calls>>(
  start: () => Worker,
  errorClasses: Readonly<Record<string, ErrorClass>>,
  onEnd: (end: ThreadEnded) => void = giveUp,
): Thread<Calls> {
  requireDescriptors();
  const worker = start();
  const waiting: { resolve(result: unknown): void; reject(reason: unknown): void }[] = [];
  let end: ThreadEnded | undefined;

  worker.onmessage = ({ data: answer }: MessageEvent<unknown>) => {
    const task = waiting.shift();
    if (isFailure(answer)) task?.reject(toError(answer, errorClasses));
    else task?.resolve(answer);
  };
  // Errors in tasks are caught, so a worker only ends by itself because of a bug. Fail all waiting tasks.
  function die(reason: string): void {
    if (end !== undefined) return;
    end = new ThreadEnded(`A worker thread ended: ${reason}`);
    for (const task of waiting.splice(0)) task.reject(end);
    onEnd(end);
  }
  worker.addEventListener("error", ({ message }) => die(message));
  worker.addEventListener("close", () => die("it exited"));

  return {
    perform(type, task, waitMs = 0) {
      if (end !== undefined) return Promise.reject(end);
      return new Promise((resolve, reject) => {
        // First, because it throws if the task can't be copied. No result may then go to the wrong task.
        worker.postMessage(Object.assign({ type, waitMs }, task));
        waiting.push({ resolve, reject });
      });
    },
    terminate() {
      end ??= new ThreadEnded("The worker thread was terminated");
      for (const task of waiting.splice(0)) task.reject(end);
      worker.terminate();
    },
  };
}

/** Bun ends the process if a thread starts without free descriptors. This check takes 0.1 ms. */
function requireDescriptors(): void {
  const opened: number[] = [];
  try {
    for (let nth = 0; nth < FREE_DESCRIPTORS; nth++) opened.push(openSync("/dev/null", "r"));
  } catch (cause) {
    throw new ThreadEnded("No worker thread can be started: too few file descriptors are free (ulimit -n)", {
      cause,
    });
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

/** Reaches the handler of last resort. */
function giveUp(end: ThreadEnded): never {
  throw end;
}

/** The stack is that of the thread. */
function toError({ failure, name, stack }: Failure, classes: Readonly<Record<string, ErrorClass>>): Error {
  return Object.assign(new (classes[name] ?? Error)(failure), stack !== undefined && { stack });
}

function isFailure(answer: unknown): answer is Failure {
  return typeof answer === "object" && answer !== null && "failure" in answer;
}

declare const self: Worker;

/** The fields that each task has. */
interface Task<Type> {
  readonly type: Type;
  readonly waitMs: number;
}

/**
 * Call this in the worker. It replies to each task with the result or the error of its call. `surround` can do something before
 * and after each call, and change its errors.
 */
export function performTasks<Calls extends CallMap<Calls>>(
  calls: Calls,
  surround = (call: () => unknown, _task: Task<keyof Calls>) => call(),
): void {
  let last: Promise<void> = Promise.resolve();
  self.onmessage = ({ data: task }: MessageEvent<Task<keyof Calls>>) => {
    const perform = () => surround(() => calls[task.type](task as never), task);
    last = last.then(async () => self.postMessage(await answerTo(perform)));
  };
}

async function answerTo(perform: () => unknown): Promise<unknown> {
  try {
    return await perform();
  } catch (error) {
    const { message, name, stack } = error instanceof Error ? error : new Error(String(error));
    return { failure: message, name, stack } satisfies Failure;
  }
}
