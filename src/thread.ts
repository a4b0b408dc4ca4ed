/** A worker thread as a function. */
export interface Thread<Task> {
  /** Tasks are performed one by one, in order. Rejects with what the task threw. */
  perform(task: Task): Promise<unknown>;
  terminate(): void;
}

/**
 * Anything else that a worker sends is the result itself, not in another object: Bun hands a flat object to another
 * thread without copying its strings, and the thread that redirects takes part in every hand-over.
 */
interface Failure {
  readonly failure: string;
  readonly name: string;
}
type ErrorClass = new (message: string) => Error;

/**
 * Makes a worker that runs {@link performTasks} callable. Errors lose their class on the way between threads; those of
 * `errorClasses` get it back, by their `name`.
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
  // Tasks catch what they throw, so a thread that ends by itself is a bug. Nobody may wait for it, and throwing here
  // reaches the handler of last resort.
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

/** Runs in the worker: answers each task with what `perform` returns or throws. */
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
