/** A worker thread as a function. */
export interface Thread<Task> {
  /** Performs tasks one at a time, in order. Rejects with the error that the task threw. */
  perform(task: Task): Promise<unknown>;
  terminate(): void;
}

/**
 * What a worker sends if a task fails. Results are sent as they are, not wrapped in another object: Bun passes only
 * flat objects between threads without copying their strings, and copying would delay redirects.
 */
interface Failure {
  readonly failure: string;
  readonly name: string;
}
type ErrorClass = new (message: string) => Error;

/**
 * Starts sending tasks to a worker that runs {@link performTasks}. Errors lose their class between threads. Those whose
 * `name` is in `errorClasses` get it back; the others become plain errors.
 */
export function startThread<Task>(
  worker: Worker,
  errorClasses: Readonly<Record<string, ErrorClass>>,
): Thread<Task> {
  const waiting: { resolve(result: unknown): void; reject(reason: unknown): void }[] = [];
  let end: Error | undefined;

  worker.onmessage = ({ data: answer }: MessageEvent<unknown>) => {
    const task = waiting.shift();
    if (isFailure(answer)) task?.reject(new (errorClasses[answer.name] ?? Error)(answer.failure));
    else task?.resolve(answer);
  };
  // Errors in tasks are caught, so a worker only ends by itself because of a bug. Fail all waiting tasks, then throw:
  // even if no task is waiting, the handler of uncaught exceptions logs the error and stops the process.
  function die(reason: string): void {
    if (end !== undefined) return;
    end = new Error(`A worker thread ended: ${reason}`);
    for (const task of waiting.splice(0)) task.reject(end);
    throw end;
  }
  worker.addEventListener("error", ({ message }) => die(message));
  worker.addEventListener("close", () => die("it exited"));

  return {
    perform(task) {
      if (end !== undefined) return Promise.reject(end);
      return new Promise((resolve, reject) => {
        waiting.push({ resolve, reject });
        worker.postMessage(task);
      });
    },
    terminate() {
      end ??= new Error("The worker thread was terminated");
      worker.terminate();
    },
  };
}

function isFailure(answer: unknown): answer is Failure {
  return typeof answer === "object" && answer !== null && "failure" in answer;
}

declare const self: Worker;

/** Call this in the worker. It replies to each task with the result or the error of `perform`. */
export function performTasks(perform: (task: never) => unknown): void {
  self.onmessage = ({ data: task }) => {
    self.postMessage(answerTo(() => perform(task as never)));
  };
}

function answerTo(perform: () => unknown): unknown {
  try {
    return perform();
  } catch (error) {
    const { message, name } = error instanceof Error ? error : new Error(String(error));
    return { failure: message, name } satisfies Failure;
  }
}
