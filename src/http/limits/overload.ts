import type { MonotonicClock } from "../links/clock.ts";
import type { Call, Handler } from "./call.ts";

/**
 * Requests that wait for their turn, most urgent first. The last class waits longest, so it is refused first. Redirects of
 * existing links never wait here.
 */
const ORDER = ["unknown", "creates", "views"] as const;
export type RequestClass = (typeof ORDER)[number];

/** Requests per turn. All connections are read between turns, so redirects wait about a millisecond for one. */
export const STARTS_PER_TURN = 16;
/** With this many waiting, a turn starts twice as many, and so on. Reading a long burst leaves little time for the rest. */
const WAITING_PER_MULTIPLE = 512;
/** Refusals are cheaper. The remaining late requests are refused at the next turn. */
const REFUSALS_PER_TURN = 128;
/** For a burst. A refused client would have to wait as long before its retry. */
export const MAX_WAIT_MS = 2000;
/** For new requests in a line that wasn't empty during `MAX_WAIT_MS`: that is no burst. */
export const MAX_STANDING_WAIT_MS = 500;
/** Most wait for one turn, in which few clients hang up. A signal costs each of them as much as its limits. */
const WATCHED_AFTER_MS = 5;
/** Per line, so that a long line keeps nobody out of another. A request takes some kilobytes. */
export const MAX_IN_LINE = 5000;
/** The overload ends after this long without a refusal. */
const OVER_AFTER_MS = 5000;

/** Tests lower them. */
export interface OverloadLimits {
  readonly startsPerTurn?: number;
  readonly maxWaitMs?: number;
  readonly overAfterMs?: number;
}

export interface OverloadOptions extends OverloadLimits {
  readonly clock: MonotonicClock;
  /** Called with the classes refused since the overload started, or with none when it ends. */
  readonly onChange: (refused: readonly RequestClass[]) => void;
}

type Answer = Response | Promise<Response>;

interface WaitingRequest {
  readonly sinceMs: number;
  readonly call: Call;
  readonly start: Handler;
  readonly refuse: Handler;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (reason: unknown) => void;
}

interface Line {
  readonly kind: RequestClass;
  readonly waiting: Set<WaitingRequest>;
  /** When the line was last empty. */
  emptyMs: number;
}

export interface Overload {
  /** Starts the work immediately if nothing waits, otherwise at its turn. `refuse` answers if that takes too long. */
  takeTurns(kind: RequestClass, call: Call, start: Handler, refuse: Handler): Answer;
  /** Refusals since the start. */
  readonly refusals: Readonly<Record<RequestClass, number>>;
  /** Refuses all waiting requests, because the parts they need are about to close. */
  close(): void;
}

/** Lets redirects go first: starts more expensive requests a few at a time, and reads all connections in between. */
export function createOverload(options: OverloadOptions): Overload {
  const { clock, onChange, startsPerTurn = STARTS_PER_TURN } = options;
  const { maxWaitMs = MAX_WAIT_MS, overAfterMs = OVER_AFTER_MS } = options;
  const lines = ORDER.map((kind): Line => ({ kind, waiting: new Set(), emptyMs: clock.monotonicMs() }));
  const refusals = { unknown: 0, creates: 0, views: 0 };
  const lineOf = Object.fromEntries(lines.map((line) => [line.kind, line])) as Record<RequestClass, Line>;
  let waiting = 0;
  let started = 0;
  /** Late requests refused in this turn. */
  let late = 0;
  let turn: NodeJS.Immediate | undefined;
  let refused: readonly RequestClass[] = [];
  let refusedMs = 0;
  let over: NodeJS.Timeout | undefined;

  /** Runs after everything that has arrived on connections by now. */
  function nextTurn(): void {
    started = 0;
    late = 0;
    turn = undefined;
    const nowMs = clock.monotonicMs();
    const most = Math.floor(startsPerTurn * (1 + waiting / WAITING_PER_MULTIPLE));
    for (const line of lines) serve(line, nowMs, most);
    if (waiting > 0) turn = setImmediate(nextTurn);
  }

  function serve(line: Line, nowMs: number, most: number): void {
    const isStanding = nowMs - line.emptyMs > maxWaitMs;
    const limitMs = isStanding ? Math.min(maxWaitMs, MAX_STANDING_WAIT_MS) : maxWaitMs;
    for (const next of line.waiting) {
      const isLate = nowMs - next.sinceMs > limitMs;
      if (isLate ? late >= REFUSALS_PER_TURN : started >= most) return;
      line.waiting.delete(next);
      waiting--;
      if (nowMs - next.sinceMs > WATCHED_AFTER_MS && next.call.request.signal.aborted) {
        // Otherwise a client that retries would get two links.
        next.resolve(next.refuse(next.call));
        continue;
      }
      if (isLate) late++;
      else started++;
      try {
        next.resolve(isLate ? refuseOne(line.kind, next) : next.start(next.call));
      } catch (error) {
        next.reject(error);
      }
    }
    line.emptyMs = nowMs;
  }

  function refuseOne(kind: RequestClass, { call, refuse }: Pick<WaitingRequest, "call" | "refuse">): Answer {
    refusals[kind]++;
    refusedMs = clock.monotonicMs();
    if (!refused.includes(kind)) {
      refused = ORDER.filter((one) => one === kind || refused.includes(one));
      onChange(refused);
    }
    over ??= setTimeout(checkIfOver, overAfterMs);
    return refuse(call);
  }

  function checkIfOver(): void {
    const leftMs = refusedMs + overAfterMs - clock.monotonicMs();
    over = leftMs > 0 ? setTimeout(checkIfOver, leftMs) : undefined;
    if (over !== undefined) return;
    refused = [];
    onChange(refused);
  }

  return {
    takeTurns(kind, call, start, refuse) {
      turn ??= setImmediate(nextTurn);
      if (waiting === 0 && started < startsPerTurn) {
        started++;
        return start(call);
      }
      const line = lineOf[kind];
      if (line.waiting.size >= MAX_IN_LINE) return refuseOne(kind, { call, refuse });
      const sinceMs = clock.monotonicMs();
      if (line.waiting.size === 0) line.emptyMs = sinceMs;
      waiting++;
      return new Promise((resolve, reject) =>
        line.waiting.add({ sinceMs, call, start, refuse, resolve, reject }),
      );
    },
    refusals,
    close() {
      clearTimeout(over);
      clearImmediate(turn);
      const rest = lines.flatMap((line) => [...line.waiting]);
      for (const line of lines) line.waiting.clear();
      waiting = 0;
      for (const { call, resolve, refuse } of rest) resolve(refuse(call));
    },
  };
}
