import type { MonotonicClock } from "../../links/clock.ts";
import type { Call, Handler } from "../call.ts";

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
  readonly waiting: Set<WaitingRequest>;
  /** When the line was last empty. */
  emptyMs: number;
}

/** Lets redirects go first: starts more expensive requests a few at a time, and reads all connections in between. */
export class Overload {
  /** Refusals since the start. */
  readonly refusals = { unknown: 0, creates: 0, views: 0 };
  private readonly lines: Readonly<Record<RequestClass, Line>>;
  private waiting = 0;
  /** Requests started, and late ones refused, in this turn. */
  private started = 0;
  private late = 0;
  private turn: NodeJS.Immediate | undefined;
  /** The classes refused since the overload started, and when the last one was. */
  private refused: readonly RequestClass[] = [];
  private refusedMs = 0;
  private over: NodeJS.Timeout | undefined;

  constructor(private readonly options: OverloadOptions) {
    const createLine = (): Line => ({ waiting: new Set(), emptyMs: options.clock.monotonicMs() });
    this.lines = { unknown: createLine(), creates: createLine(), views: createLine() };
  }

  /** Starts the work immediately if nothing waits, otherwise at its turn. `refuse` answers if that takes too long. */
  takeTurns(kind: RequestClass, call: Call, start: Handler, refuse: Handler): Answer {
    this.turn ??= setImmediate(this.nextTurn);
    if (this.waiting === 0 && this.started < (this.options.startsPerTurn ?? STARTS_PER_TURN)) {
      this.started++;
      return start(call);
    }
    const line = this.lines[kind];
    if (line.waiting.size >= MAX_IN_LINE) return this.refuseOne(kind, { call, refuse });
    const sinceMs = this.options.clock.monotonicMs();
    if (line.waiting.size === 0) line.emptyMs = sinceMs;
    this.waiting++;
    return new Promise((resolve, reject) =>
      line.waiting.add({ sinceMs, call, start, refuse, resolve, reject }),
    );
  }

  /** Refuses all waiting requests, because the parts they need are about to close. */
  close(): void {
    clearTimeout(this.over);
    clearImmediate(this.turn);
    const rest = ORDER.flatMap((kind) => [...this.lines[kind].waiting]);
    for (const kind of ORDER) this.lines[kind].waiting.clear();
    this.waiting = 0;
    for (const { call, resolve, refuse } of rest) resolve(refuse(call));
  }

  /** Runs after everything that has arrived on connections by now. */
  private readonly nextTurn = (): void => {
    this.started = 0;
    this.late = 0;
    this.turn = undefined;
    const { clock, startsPerTurn = STARTS_PER_TURN } = this.options;
    const nowMs = clock.monotonicMs();
    const most = Math.floor(startsPerTurn * (1 + this.waiting / WAITING_PER_MULTIPLE));
    for (const kind of ORDER) this.serve(kind, nowMs, most);
    if (this.waiting > 0) this.turn = setImmediate(this.nextTurn);
  };

  private serve(kind: RequestClass, nowMs: number, most: number): void {
    const { maxWaitMs = MAX_WAIT_MS } = this.options;
    const line = this.lines[kind];
    const isStanding = nowMs - line.emptyMs > maxWaitMs;
    const limitMs = isStanding ? Math.min(maxWaitMs, MAX_STANDING_WAIT_MS) : maxWaitMs;
    for (const next of line.waiting) {
      const isLate = nowMs - next.sinceMs > limitMs;
      if (isLate ? this.late >= REFUSALS_PER_TURN : this.started >= most) return;
      line.waiting.delete(next);
      this.waiting--;
      if (nowMs - next.sinceMs > WATCHED_AFTER_MS && next.call.request.signal.aborted) {
        // Otherwise a client that retries would get two links.
        next.resolve(next.refuse(next.call));
        continue;
      }
      if (isLate) this.late++;
      else this.started++;
      try {
        next.resolve(isLate ? this.refuseOne(kind, next) : next.start(next.call));
      } catch (error) {
        next.reject(error);
      }
    }
    line.emptyMs = nowMs;
  }

  private refuseOne(kind: RequestClass, { call, refuse }: Pick<WaitingRequest, "call" | "refuse">): Answer {
    const { clock, onChange, overAfterMs = OVER_AFTER_MS } = this.options;
    this.refusals[kind]++;
    this.refusedMs = clock.monotonicMs();
    if (!this.refused.includes(kind)) {
      this.refused = ORDER.filter((one) => one === kind || this.refused.includes(one));
      onChange(this.refused);
    }
    this.over ??= setTimeout(this.checkIfOver, overAfterMs);
    return refuse(call);
  }

  private readonly checkIfOver = (): void => {
    const { clock, onChange, overAfterMs = OVER_AFTER_MS } = this.options;
    const leftMs = this.refusedMs + overAfterMs - clock.monotonicMs();
    this.over = leftMs > 0 ? setTimeout(this.checkIfOver, leftMs) : undefined;
    if (this.over !== undefined) return;
    this.refused = [];
    onChange(this.refused);
  };
}
