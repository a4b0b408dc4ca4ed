/** Runs a task every `everyMs`, never twice at a time. */
export interface Repetition {
  /** Resolves once the task that is under way has finished; none is started any more. */
  stop(): Promise<void>;
}

export function repeat(
  everyMs: number,
  task: () => Promise<void>,
  onFault: (error: unknown) => void,
): Repetition {
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    running ??= task()
      .catch(onFault)
      .finally(() => (running = undefined));
  }, everyMs);
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
