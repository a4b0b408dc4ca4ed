import type { Config } from "../config/config.ts";
import { DAY_MS, HOUR_MS } from "../links/time.ts";
import { chooseBatch, type EventsEndpoint, type PostLimits, post } from "./delivery.ts";
import { eventId } from "./event-formats.ts";
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
  /** Why the last request failed. */
  readonly reason?: string | undefined;
  /** The event that was set aside last. */
  readonly refusal?: { readonly id: string; readonly reason: string } | undefined;
  /** Whether the endpoint is gone. */
  readonly isPaused: boolean;
}

export const NO_EVENTS: EventFigures = {
  waiting: 0,
  sent: 0,
  dropped: 0,
  refused: 0,
  failures: 0,
  isPaused: false,
};

export const BATCH = 100;
export const TAKE_OVER_MS = 15_000;
/** How often the owner takes a turn while it waits to retry. */
const HEARTBEAT_MS = 4000;
export const FIRST_RETRY_MS = 1000;
export const MAX_RETRY_MS = 300_000;
/** Older events are dropped. */
export const MAX_AGE_MS = DAY_MS;
/** An event is set aside after this many refusals. */
export const MAX_REFUSALS = 5;
/** Five attempts take at most ten minutes, and almost as long while the endpoint refuses everything. */
export const MAX_REFUSED_RETRY_MS = 120_000;
/** `send` starts no further batch after this, so that a stop needn't wait. */
const SEND_MS = 900;
/** Links count as expired this much later: a create may commit late, and another machine's clock may be behind. */
const LATE_MS = 5000;

/** Sends events in order. Only one process per store sends. */
export function createSender(
  outbox: Outbox,
  settings: SenderSettings,
  { takeOverMs = TAKE_OVER_MS, firstRetryMs = FIRST_RETRY_MS, requestMs }: SenderLimits,
) {
  const owner = crypto.randomUUID();
  const maxBatch = settings.eventsFormat === "text" ? 1 : BATCH;
  let figures = NO_EVENTS;
  let wasClockTrusted = false;
  let renewedMs = Number.NEGATIVE_INFINITY;
  /** The last turn that another owner took while events waited. */
  let lastTurn: { readonly turn: number; readonly sinceMs: number } | undefined;
  /** This owner's last turn. */
  let ownTurn: number | undefined;
  let heartbeatMs = Number.NEGATIVE_INFINITY;
  let failuresInRow = 0;
  /** Infinity while sending is paused. */
  let retryMs = Number.NEGATIVE_INFINITY;
  /** Events in the next request. A refused batch is halved until the refused event is found. */
  let limit = maxBatch;
  let refusals = { seq: 0, count: 0 };
  /** Events that the endpoint took or refused, until the outbox knows. */
  let [sent, refused]: [readonly number[], readonly number[]] = [[], []];

  async function start(nowMs: number): Promise<void> {
    await outbox.start(settings.eventsTypes, nowMs);
    renewedMs = performance.now();
  }

  /** Whether the owner has taken no turn for so long that this process may take over. */
  function isDead(turn: number): boolean {
    if (lastTurn?.turn !== turn) lastTurn = { turn, sinceMs: performance.now() };
    return performance.now() - lastTurn.sinceMs >= takeOverMs;
  }

  /** Returns how often the event has been refused. */
  function countRefusal(seq: number): number {
    refusals = { seq, count: refusals.seq === seq ? refusals.count + 1 : 1 };
    return refusals.count;
  }

  return {
    start,
    /** Sends waiting events for about a second. Call it every second. `isClockTrusted`: links and events age by `nowMs`. */
    async send(nowMs: number, isClockTrusted: boolean): Promise<EventFigures> {
      const fromMs = performance.now();
      const passedMs = () => performance.now() - fromMs;
      const endedByMs = isClockTrusted ? nowMs - LATE_MS : 0;
      if (isClockTrusted && !wasClockTrusted) await outbox.setBack(nowMs);
      wasClockTrusted = isClockTrusted;
      const state = await outbox.readState(endedByMs);
      // An import turns recording off.
      if (state === undefined) await start(nowMs);
      // A jump of the clock ends the recording early.
      else if (!state.isRecording || fromMs - renewedMs > HOUR_MS) {
        await outbox.renew();
        // Waits for a trusted clock, because a deletion can't be undone.
        if (isClockTrusted) await outbox.forgetRefused(nowMs);
        renewedMs = fromMs;
      }
      const { waiting = 0, isDue = false, turn = 0 } = state ?? {};
      const isOwner = state?.owner === owner;
      // `curt events --resend` takes a turn to end the wait.
      if (!isOwner || turn !== ownTurn) retryMs = Number.NEGATIVE_INFINITY;
      figures = {
        ...figures,
        waiting: Math.max(0, waiting - sent.length - refused.length),
        isPaused: retryMs === Number.POSITIVE_INFINITY,
      };
      if (waiting === 0 && !isDue) lastTurn = undefined;
      if (state === undefined || (waiting === 0 && !isDue)) return figures;
      if (!isOwner && state.owner !== "" && !isDead(turn)) return figures;
      if (isOwner && fromMs < retryMs && fromMs - heartbeatMs < HEARTBEAT_MS) return figures;
      for (;;) {
        const step = await outbox.step({
          owner,
          turn: isOwner ? -1 : turn,
          endedByMs,
          // Dropping can't be undone either.
          dropBeforeMs: isClockTrusted ? nowMs - MAX_AGE_MS : 0,
          waiting: figures.waiting,
          sent,
          refused,
          limit,
          chooseBatch: (rows) => chooseBatch(rows, settings),
        });
        heartbeatMs = performance.now();
        [sent, refused] = [[], []];
        if (step === undefined) return figures;
        const { batch, dropped } = step;
        ownTurn = step.turn;
        figures = {
          ...figures,
          waiting: Math.max(0, figures.waiting - dropped),
          dropped: figures.dropped + dropped,
        };
        const [first] = batch;
        if (first === undefined || heartbeatMs < retryMs || passedMs() > SEND_MS) return figures;
        const failure = await post(batch, settings, nowMs + passedMs(), { requestMs });
        if (failure === undefined) {
          failuresInRow = 0;
          limit = Math.min(maxBatch, 2 * limit);
          sent = batch.map(({ seq }) => seq);
          figures = { ...figures, sent: figures.sent + sent.length, reason: undefined };
        } else {
          const { reason, kind } = failure;
          figures = { ...figures, failures: figures.failures + 1, reason, isPaused: kind === "gone" };
          if (kind === "refused" && batch.length > 1) limit = Math.floor(batch.length / 2);
          else if (kind === "refused" && countRefusal(first.seq) >= MAX_REFUSALS) {
            refused = [first.seq];
            figures = { ...figures, refused: figures.refused + 1, refusal: { id: eventId(first), reason } };
          } else {
            const maxMs = kind === "refused" ? MAX_REFUSED_RETRY_MS : MAX_RETRY_MS;
            const waitMs = Math.min(firstRetryMs * 2 ** failuresInRow++, maxMs);
            retryMs = kind === "gone" ? Number.POSITIVE_INFINITY : performance.now() + waitMs;
            return figures;
          }
        }
        figures = { ...figures, waiting: Math.max(0, figures.waiting - sent.length - refused.length) };
      }
    },
    release: () => outbox.release(owner),
  };
}
