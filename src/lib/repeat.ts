export interface Repetition {
  /** Starts no more runs. Resolves once the current one has finished. */
  stop(): Promise<void>;
}

/** Runs a task every `everyMs`. Skips a run while another one is in progress. */
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
