export interface Repetition {
  /** Starts no more runs. Resolves once the current one has finished. */
  stop(): Promise<void>;
}

/** Runs a task every `everyMs`. A run that would start while another is still going is skipped. */
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
