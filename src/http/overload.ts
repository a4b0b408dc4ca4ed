import type { Clock } from "../links/clock.ts";
import type { Call } from "./call.ts";

/**
 * Requests that wait for their turn, in the order in which they get one. The last kind waits longest, so it is refused first.
 * Links that lead on never wait here.
 */
const ORDER = ["unknown", "creates", "views"] as const;
export type TakesTurns = (typeof ORDER)[number];

/** How many are begun before all connections are read again. Redirects wait for them, about a millisecond. */
const BEGUN_AT_ONCE = 16;
/** With this many waiting, twice as many are begun at once, and so on: reading a long burst leaves little time for the rest. */
const WAITING_FOR_AS_MANY = 512;
/** Refused between two looks: that takes less time. What is late now is late at the next turn, too. */
const REFUSED_AT_ONCE = 128;
/** A burst may wait this long: a client that was refused would be told to wait as long. */
const MAX_WAIT_MS = 2000;
/** If some have waited all the time for so long, it is no burst, and those that come may only wait this long. */
const MAX_STANDING_WAIT_MS = 500;
/** In each line, so that a long one keeps nobody out of another. Each takes some kilobytes. */
const MAX_IN_LINE = 5000;
/** It is over when nothing was refused for so long. */
const OVER_AFTER_MS = 5000;

/** Tests lower them. */
export interface OverloadLimits {
  readonly begunAtOnce?: number;
  readonly maxWaitMs?: number;
  readonly overAfterMs?: number;
}

export interface OverloadOptions extends OverloadLimits {
  readonly clock: Pick<Clock, "monotonicMs">;
  /** More is refused from now on, or nothing any more. */
  readonly onChange: (refused: readonly TakesTurns[]) => void;
}

type Answer = Response | Promise<Response>;

interface Waiting {
  readonly sinceMs: number;
  /** Aborted when the client hangs up. */
  readonly signal: AbortSignal;
  readonly begin: () => Answer;
  readonly refuse: () => Answer;
  readonly resolve: (answer: Answer) => void;
}

interface Line {
  readonly what: TakesTurns;
  readonly waiting: Set<Waiting>;
  /** When the line was last empty. */
  emptyMs: number;
}

export interface Overload {
  /** Begins the work at once if there is nothing else to do, otherwise when it is its turn. `refuse` answers if that takes too long. */
  takeTurns(what: TakesTurns, call: Call, begin: () => Answer, refuse: () => Answer): Answer;
  /** How many were refused since the start. */
  readonly refusals: Readonly<Record<TakesTurns, number>>;
  /** Refuses those that wait: what they would begin is about to be closed. */
  close(): void;
}

/** Lets redirects go first. What takes longer is begun a few at a time, and all connections are looked at in between. */
export function createOverload(options: OverloadOptions): Overload {
  const { clock, onChange, begunAtOnce = BEGUN_AT_ONCE } = options;
  const { maxWaitMs = MAX_WAIT_MS, overAfterMs = OVER_AFTER_MS } = options;
  const lines = ORDER.map((what): Line => ({ what, waiting: new Set(), emptyMs: clock.monotonicMs() }));
  const refusals = { unknown: 0, creates: 0, views: 0 };
  const lineOf = Object.fromEntries(lines.map((line) => [line.what, line])) as Record<TakesTurns, Line>;
  let waiting = 0;
  let begun = 0;
  /** Refused in this turn because they waited too long. */
  let late = 0;
  let turn: NodeJS.Immediate | undefined;
  let refused: readonly TakesTurns[] = [];
  let refusedMs = 0;
  let over: NodeJS.Timeout | undefined;

  /** After all that has arrived on connections by now. */
  function nextTurn(): void {
    begun = 0;
    late = 0;
    turn = undefined;
    const nowMs = clock.monotonicMs();
    const most = Math.floor(begunAtOnce * (1 + waiting / WAITING_FOR_AS_MANY));
    for (const line of lines) serve(line, nowMs, most);
    if (waiting > 0) turn = setImmediate(nextTurn);
  }

  function serve(line: Line, nowMs: number, most: number): void {
    const isStanding = nowMs - line.emptyMs > maxWaitMs;
    const limitMs = isStanding ? Math.min(maxWaitMs, MAX_STANDING_WAIT_MS) : maxWaitMs;
    for (const next of line.waiting) {
      const isLate = nowMs - next.sinceMs > limitMs;
      if (isLate ? late >= REFUSED_AT_ONCE : begun >= most) return;
      line.waiting.delete(next);
      waiting--;
      if (next.signal.aborted) {
        // Who tries again would otherwise get two links.
        next.resolve(next.refuse());
        continue;
      }
      if (isLate) late++;
      else begun++;
      const answer = isLate ? () => refuseOne(line.what, next.refuse) : next.begin;
      // What it throws rejects the promise.
      next.resolve((async () => answer())());
    }
    line.emptyMs = nowMs;
  }

  function refuseOne(what: TakesTurns, refuse: () => Answer): Answer {
    refusals[what]++;
    refusedMs = clock.monotonicMs();
    if (!refused.includes(what)) {
      refused = ORDER.filter((one) => one === what || refused.includes(one));
      onChange(refused);
    }
    over ??= setTimeout(lookIfOver, overAfterMs);
    return refuse();
  }

  function lookIfOver(): void {
    const leftMs = refusedMs + overAfterMs - clock.monotonicMs();
    over = leftMs > 0 ? setTimeout(lookIfOver, leftMs) : undefined;
    if (over !== undefined) return;
    refused = [];
    onChange(refused);
  }

  return {
    takeTurns(what, call, begin, refuse) {
      turn ??= setImmediate(nextTurn);
      if (waiting === 0 && begun < begunAtOnce) {
        begun++;
        return begin();
      }
      const line = lineOf[what];
      if (line.waiting.size >= MAX_IN_LINE) return refuseOne(what, refuse);
      // The client's address is lost if it hangs up meanwhile.
      call.client();
      const { signal } = call.request;
      const sinceMs = clock.monotonicMs();
      if (line.waiting.size === 0) line.emptyMs = sinceMs;
      waiting++;
      return new Promise((resolve) => line.waiting.add({ sinceMs, signal, begin, refuse, resolve }));
    },
    refusals,
    close() {
      clearTimeout(over);
      clearImmediate(turn);
      const left = lines.flatMap((line) => [...line.waiting]);
      for (const line of lines) line.waiting.clear();
      waiting = 0;
      for (const { resolve, refuse } of left) resolve(refuse());
    },
  };
}
