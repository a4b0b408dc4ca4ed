import type { Config } from "../config/config.ts";
import { DAY_MS, HOUR_MS } from "../links/time.ts";
import { chooseBatch, type EventsEndpoint, type PostLimits, post } from "./delivery.ts";
import { type EventRow, eventId } from "./event-formats.ts";
import type { Outbox } from "./outbox.ts";

export interface SenderSettings extends EventsEndpoint, Pick<Config, "eventsTypes"> {}

export interface SenderLimits extends PostLimits {
  /** Another process takes over from an owner that takes no turn for this long. Longer than a request may take. */
  readonly takeOverMs?: number | undefined;
  readonly firstRetryMs?: number | undefined;
}

/** Counts of this process since its start, except `waiting`. */
export interface EventFigures {
  readonly waiting: number;
  readonly sent: number;
  readonly dropped: number;
  /** Events that were set aside. */
  readonly refused: number;
  /** Requests that failed. */
  readonly failures: number;
  /** Why the endpoint accepts no events. */
  readonly reason?: string | undefined;
  /** The event that was set aside last. */
  readonly refusal?: { readonly id: string; readonly reason: string } | undefined;
}

export const NO_EVENTS: EventFigures = {
  waiting: 0,
  sent: 0,
  dropped: 0,
  refused: 0,
  failures: 0,
};

export const BATCH = 100;
export const TAKE_OVER_MS = 15_000;
/** How often the owner takes a turn while it waits to retry. */
const HEARTBEAT_MS = 4000;
export const FIRST_RETRY_MS = 1000;
export const MAX_RETRY_MS = 300_000;
/** Older events are dropped. */
export const MAX_AGE_MS = DAY_MS;
/** `send` starts no further batch after this, so that a stop needn't wait. */
const SEND_MS = 900;
/** Links count as expired this much later: a create may commit late, and another machine's clock may be behind. */
const LATE_MS = 5000;

/**
 * Sends events in order, reports first. Only one process per store sends. A refused event is set aside and retried later. Only
 * one per second, which is also the bound for an endpoint that refuses everything.
 */
export class Sender {
  private readonly owner = crypto.randomUUID();
  private wasClockTrusted = false;
  private renewedMs = Number.NEGATIVE_INFINITY;
  /** The last turn that another owner took while events waited. */
  private lastTurn: { readonly turn: number; readonly sinceMs: number } | undefined;
  private heartbeatMs = Number.NEGATIVE_INFINITY;
  private failuresInRow = 0;
  private retryMs = Number.NEGATIVE_INFINITY;
  /** How many requests have a single event, because a batch was refused. */
  private alone = 0;
  /** Events that the endpoint took, and the one that it refused, until the outbox knows. */
  private sent: readonly number[] = [];
  private refused: EventRow | undefined;

  constructor(
    private readonly outbox: Outbox,
    private readonly settings: SenderSettings,
    private readonly limits: SenderLimits,
    private figures = NO_EVENTS,
  ) {}

  async start(nowMs: number): Promise<void> {
    await this.outbox.start(this.settings.eventsTypes, nowMs);
    this.renewedMs = performance.now();
  }

  /** Sends waiting events for about a second. Call it every second. `isClockTrusted`: links and events age by `nowMs`. */
  async send(nowMs: number, isClockTrusted: boolean): Promise<EventFigures> {
    const fromMs = performance.now();
    const passedMs = () => performance.now() - fromMs;
    const turn = { nowMs, passedMs, endedByMs: isClockTrusted ? nowMs - LATE_MS : 0, isClockTrusted };
    if (isClockTrusted && !this.wasClockTrusted) await this.outbox.setBack(nowMs);
    this.wasClockTrusted = isClockTrusted;
    const state = await this.outbox.readState(turn.endedByMs);
    // An import turns recording off.
    if (state === undefined) await this.start(nowMs);
    // A jump of the clock ends the recording early.
    else if (!state.isRecording || fromMs - this.renewedMs > HOUR_MS) await this.renew(nowMs, isClockTrusted);
    const { waiting = 0, isDue = false } = state ?? {};
    const isOwner = state?.owner === this.owner;
    if (!isOwner) this.retryMs = Number.NEGATIVE_INFINITY;
    this.count({ waiting: this.stillWaiting(waiting) });
    if (waiting === 0 && !isDue) this.lastTurn = undefined;
    if (state === undefined || (waiting === 0 && !isDue)) return this.figures;
    if (!isOwner && state.owner !== "" && !this.isDead(state.turn)) return this.figures;
    if (isOwner && fromMs < this.retryMs && fromMs - this.heartbeatMs < HEARTBEAT_MS) return this.figures;
    if (await this.sendBatches(turn, isOwner ? -1 : state.turn)) await this.retryRefused(turn);
    return this.figures;
  }

  release(): Promise<void> {
    return this.outbox.release(this.owner);
  }

  private async renew(nowMs: number, isClockTrusted: boolean): Promise<void> {
    await this.outbox.renew();
    // Waits for a trusted clock, because a deletion can't be undone.
    if (isClockTrusted) {
      const dropped = await this.outbox.dropRefused(nowMs - MAX_AGE_MS);
      this.count({ dropped: this.figures.dropped + dropped });
    }
    this.renewedMs = performance.now();
  }

  /** Whether the owner has taken no turn for so long that this process may take over. */
  private isDead(turn: number): boolean {
    if (this.lastTurn?.turn !== turn) this.lastTurn = { turn, sinceMs: performance.now() };
    return performance.now() - this.lastTurn.sinceMs >= (this.limits.takeOverMs ?? TAKE_OVER_MS);
  }

  /** False if this process may send nothing more now. `lastTurn` is that of the owner whose place this one takes, or -1. */
  private async sendBatches(turn: Turn, lastTurn: number): Promise<boolean> {
    for (;;) {
      const step = await this.outbox.step({
        owner: this.owner,
        turn: lastTurn,
        endedByMs: turn.endedByMs,
        // Dropping can't be undone either.
        dropBeforeMs: turn.isClockTrusted ? turn.nowMs - MAX_AGE_MS : 0,
        waiting: this.figures.waiting,
        sent: this.sent,
        refused: this.refused,
        limit: this.alone > 0 || this.settings.eventsFormat === "text" ? 1 : BATCH,
        chooseBatch: (rows) => chooseBatch(rows, this.settings),
      });
      this.heartbeatMs = performance.now();
      const wasRefused = this.refused !== undefined;
      [this.sent, this.refused] = [[], undefined];
      if (step === undefined) return false;
      const { waiting, dropped } = this.figures;
      this.count({ waiting: Math.max(0, waiting - step.dropped), dropped: dropped + step.dropped });
      if (this.heartbeatMs < this.retryMs) return false;
      if (step.batch.length === 0 || wasRefused || turn.passedMs() > SEND_MS) return true;
      if (!(await this.sendBatch(step.batch, turn))) return false;
      this.count({ waiting: this.stillWaiting(this.figures.waiting) });
    }
  }

  /** False if the endpoint accepts nothing now. */
  private async sendBatch(batch: readonly EventRow[], turn: Turn): Promise<boolean> {
    const { settings, limits, figures } = this;
    const failure = await post(batch, settings, turn.nowMs + turn.passedMs(), limits);
    this.alone = Math.max(0, this.alone - 1);
    if (failure === undefined) {
      this.failuresInRow = 0;
      this.sent = batch.map(({ seq }) => seq);
      this.count({ sent: figures.sent + batch.length, reason: undefined });
      return true;
    }
    const { reason, kind } = failure;
    this.count({ failures: figures.failures + 1, ...(kind === "temporary" && { reason }) });
    if (kind === "temporary") {
      const { firstRetryMs = FIRST_RETRY_MS } = limits;
      this.retryMs = performance.now() + Math.min(firstRetryMs * 2 ** this.failuresInRow++, MAX_RETRY_MS);
      return false;
    }
    const [first] = batch;
    if (batch.length > 1) this.alone = batch.length;
    else if (first !== undefined) {
      this.refused = first;
      this.count({ refused: figures.refused + 1, refusal: { id: eventId(first), reason } });
    }
    return true;
  }

  /** Retries refused events that are due, until one fails again. */
  private async retryRefused(turn: Turn): Promise<void> {
    const { outbox, settings, limits } = this;
    do {
      const event = await outbox.nextRefused(turn.endedByMs);
      if (event === undefined) return;
      const failure = await post([event], settings, turn.nowMs + turn.passedMs(), limits);
      if (failure !== undefined) {
        this.count({ failures: this.figures.failures + 1 });
        return outbox.postpone(event, turn.endedByMs);
      }
      this.count({ sent: this.figures.sent + 1 });
      await outbox.deleteRefused(event.seq);
    } while (turn.passedMs() < SEND_MS);
  }

  private stillWaiting(waiting: number): number {
    return Math.max(0, waiting - this.sent.length - (this.refused ? 1 : 0));
  }

  private count(figures: Partial<EventFigures>): void {
    this.figures = { ...this.figures, ...figures };
  }
}

/** One call of `send`. */
interface Turn {
  readonly nowMs: number;
  readonly passedMs: () => number;
  /** Links that ended by then count as expired. */
  readonly endedByMs: number;
  readonly isClockTrusted: boolean;
}
