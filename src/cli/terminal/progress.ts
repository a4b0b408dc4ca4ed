import type { Progress } from "./input.ts";

const SHOW_EVERY_MS = 200;
/** Before that, the time left would be a guess. */
const FIRST_GUESS_MS = 2000;

/** A line on a terminal that says how far a long command is; nothing otherwise. */
export function showProgress() {
  const { isTTY } = process.stderr;
  let current: { name: string; startedMs: number; calls: number } | undefined;
  let shownMs = Number.NEGATIVE_INFINITY;

  return {
    isShown: isTTY,
    /** Called once for each thing that was done. */
    report(name: string, { done, all }: Progress, things = 1): void {
      if (!isTTY) return;
      const nowMs = performance.now();
      if (current?.name !== name) current = { name, startedMs: nowMs, calls: 0 };
      current.calls += things;
      if (nowMs - shownMs < SHOW_EVERY_MS) return;
      shownMs = nowMs;
      const spentMs = Math.max(1, nowMs - current.startedMs);
      const rate = Math.round((current.calls * 1000) / spentMs);
      const parts = [`${name}: ${count(current.calls)}`, `${count(rate)}/s`];
      if (all !== undefined && all > 0 && done > 0 && spentMs > FIRST_GUESS_MS)
        parts.push(`${span((spentMs * (all - done)) / done)} left`);
      process.stderr.write(`\r\u001b[K${parts.join(", ")}`);
    },
    end(): void {
      if (current !== undefined) process.stderr.write("\r\u001b[K");
      current = undefined;
    },
    [Symbol.dispose](): void {
      this.end();
    },
  };
}

export type ProgressLine = ReturnType<typeof showProgress>;

function count(number: number): string {
  return number.toLocaleString("en");
}

function span(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
}
