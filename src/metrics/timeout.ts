const WAIT_MS = 1000;

/** Undefined if there is no answer, or too late. */
export function inTime<T>(answer: Promise<T>): Promise<T | undefined> {
  return Promise.race([answer.catch(() => undefined), Bun.sleep(WAIT_MS).then(() => undefined)]);
}
