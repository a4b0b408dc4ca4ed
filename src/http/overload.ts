import type { Clock } from "../links/clock.ts";

/** What is refused when there is too much to do, in this order. Links that lead on never are. */
const ORDER = ["views", "creates", "unknown"] as const;
type Refusable = (typeof ORDER)[number];

/** How often the thread is asked whether it is late. */
const SAMPLE_EVERY_MS = 100;
/** Samples until more is refused: a second. A thread that was held up once is not overloaded. */
const SAMPLES_UP = 10;
/** And until less is: nobody is refused and admitted by turns. */
const SAMPLES_DOWN = 30;
/**
 * Usually the thread is up to so late when each of {@link ORDER} is refused. A request waits about twice as long. On a machine
 * with ten times as many threads to run as cores, a thread with room is late by some 50 ms.
 */
const LATE_MS = [100, 200, 400];

/** Tests set other limits. */
export interface OverloadLimits {
  readonly lateMs?: readonly number[];
}

export interface OverloadOptions extends OverloadLimits {
  readonly clock: Pick<Clock, "monotonicMs">;
  /** More or less is refused from now on. `lateMs` is how late the thread usually was. */
  readonly onChange: (refused: readonly Refusable[], lateMs: number) => void;
}

export interface Overload {
  refuses(what: Refusable): boolean;
  close(): void;
}

/** Watches how late the thread is, at no cost for requests. */
export function watchOverload({ clock, onChange, lateMs = LATE_MS }: OverloadOptions): Overload {
  const decide = createDecision(lateMs);
  let refused: readonly Refusable[] = [];
  let dueMs = 0;
  let timer: NodeJS.Timeout;

  function wait(): void {
    dueMs = clock.monotonicMs() + SAMPLE_EVERY_MS;
    timer = setTimeout(sample, SAMPLE_EVERY_MS);
  }
  function sample(): void {
    const decided = decide(Math.max(0, clock.monotonicMs() - dueMs));
    if (decided !== undefined) {
      refused = ORDER.slice(0, decided.level);
      onChange(refused, Math.round(decided.lateMs));
    }
    wait();
  }

  wait();
  return {
    refuses: (what) => refused.includes(what),
    close: () => clearTimeout(timer),
  };
}

/** Takes how late the thread was each time. Returns how many of {@link ORDER} to refuse when that changes, one step at a time. */
export function createDecision(limitsMs: readonly number[]) {
  let level = 0;
  let samples: number[] = [];

  function middleOf(last: number): number {
    return samples.slice(-last).toSorted((one, other) => one - other)[Math.floor(last / 2)] ?? 0;
  }

  return (lateMs: number): { readonly level: number; readonly lateMs: number } | undefined => {
    samples = [...samples.slice(1 - SAMPLES_DOWN), lateMs];
    const upMs = limitsMs[level] ?? Number.POSITIVE_INFINITY;
    const downMs = (limitsMs[level - 1] ?? 0) / 2;
    let step = 0;
    if (samples.length >= SAMPLES_UP && middleOf(SAMPLES_UP) > upMs) step = 1;
    else if (level > 0 && samples.length >= SAMPLES_DOWN && middleOf(SAMPLES_DOWN) < downMs) step = -1;
    if (step === 0) return undefined;
    const usuallyMs = middleOf(Math.min(samples.length, SAMPLES_UP));
    level += step;
    // What was refused until now has to show first.
    samples = [];
    return { level, lateMs: usuallyMs };
  };
}
