import { spyOn } from "bun:test";

/** Stops the clock of `performance.now` in this scope: only `advance` lets time pass. Timers keep running. */
export function stopClock() {
  let nowMs = performance.now();
  const stopped = spyOn(performance, "now").mockImplementation(() => nowMs);
  return { advance: (ms: number) => void (nowMs += ms), [Symbol.dispose]: () => stopped.mockRestore() };
}
