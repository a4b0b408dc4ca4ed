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
  readonly stack: string | undefined;
}
type ErrorClass = new (message: string) => Error;

/** What was asked of a thread will not be answered. */
export class ThreadEnded extends Error {
  override readonly name = "ThreadEnded";
}

/**
 * Makes a worker that runs {@link performTasks} callable. Errors lose their class on the way between threads; those of
 * `errorClasses` get it back, by their `name`. Unless `onEnd` is given, the process cannot do without the thread.
 */
export function startThread<Task>(
  worker: Worker,
  errorClasses: Readonly<Record<string, ErrorClass>>,
  onEnd: (end: ThreadEnded) => void = giveUp,
): Thread<Task> {
  const waiting: { resolve(result: unknown): void; reject(reason: unknown): void }[] = [];
  let end: ThreadEnded | undefined;

  worker.onmessage = ({ data: answer }: MessageEvent<unknown>) => {
    const task = waiting.shift();
    if (isFailure(answer)) task?.reject(toError(answer, errorClasses));
    else task?.resolve(answer);
  };
  // Tasks catch what they throw, so a thread that ends by itself is a bug. Nobody may wait for it.
  function die(reason: string): void {
    if (end !== undefined) return;
    end = new ThreadEnded(`A worker thread ended: ${reason}`);
    for (const task of waiting.splice(0)) task.reject(end);
    onEnd(end);
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
      end ??= new ThreadEnded("The worker thread was terminated");
      for (const task of waiting.splice(0)) task.reject(end);
      worker.terminate();
    },
  };
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

/** Runs in the worker: answers each task with what `perform` returns or throws. */
export function performTasks(perform: (task: never) => unknown): void {
  let last: Promise<void> = Promise.resolve();
  self.onmessage = ({ data: task }) => {
    last = last.then(async () => self.postMessage(await answerTo(() => perform(task as never))));
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
