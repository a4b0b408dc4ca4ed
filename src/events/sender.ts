import type { Config } from "../config/config.ts";
import { VERSION } from "../lib/version.ts";
import { DAY_MS, HOUR_MS } from "../links/time.ts";
import { type EventRow, toCloudEvent, toText } from "./event-formats.ts";
import type { Outbox } from "./outbox.ts";

export type SenderSettings = Pick<
  Config,
  "eventsUrl" | "eventsSecrets" | "eventsFormat" | "eventsTypes" | "baseUrl" | "domains"
>;

export interface SenderLimits {
  /** Another process takes over from an owner that takes no turn for this long. Longer than a request may take. */
  readonly takeOverMs?: number | undefined;
}

/** Counts of this process since its start, except `waiting`. */
export interface EventFigures {
  readonly waiting: number;
  readonly sent: number;
  readonly dropped: number;
  /** Requests that failed. */
  readonly failures: number;
  /** Why the last request failed. */
  readonly reason?: string | undefined;
}

const BATCH = 100;
/** In characters, except for a single event. Express accepts 100 KB, and a refused request holds up all later events. */
const MAX_BODY = 65_536;
const REQUEST_MS = 10_000;
const TAKE_OVER_MS = 15_000;
/** How often the owner takes a turn while it waits to retry. */
const HEARTBEAT_MS = 4000;
const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 300_000;
/** `send` starts no further batch after this, so that a stop needn't wait. */
const SEND_MS = 900;
/** Links count as expired this much later: a create may commit late, and another machine's clock may be behind. */
const LATE_MS = 5000;

/** Sends events in order. Only one process per store sends. */
export function createSender(
  outbox: Outbox,
  settings: SenderSettings,
  { takeOverMs = TAKE_OVER_MS }: SenderLimits,
) {
  const owner = crypto.randomUUID();
  const isText = settings.eventsFormat === "text";
  let figures: EventFigures = { waiting: 0, sent: 0, dropped: 0, failures: 0 };
  let renewedMs = Number.NEGATIVE_INFINITY;
  /** The last turn that another owner took while events waited. */
  let lastTurn: { readonly turn: number; readonly sinceMs: number } | undefined;
  let heartbeatMs = Number.NEGATIVE_INFINITY;
  let failuresInRow = 0;
  let retryMs = Number.NEGATIVE_INFINITY;

  async function start(nowMs: number): Promise<void> {
    await outbox.start(settings.eventsTypes, nowMs);
    renewedMs = performance.now();
  }

  /** Whether the owner has taken no turn for so long that this process may take over. */
  function isDead(turn: number): boolean {
    if (lastTurn?.turn !== turn) lastTurn = { turn, sinceMs: performance.now() };
    return performance.now() - lastTurn.sinceMs >= takeOverMs;
  }

  /** Each of the first events in JSON, as many as fit into a request. */
  function serialize(rows: readonly EventRow[]): readonly string[] {
    let size = 0;
    const events = rows.map((row) => JSON.stringify((isText ? toText : toCloudEvent)(row, settings)));
    const end = events.findIndex((event, nth) => (size += event.length) > MAX_BODY && nth > 0);
    return end < 0 ? events : events.slice(0, end);
  }

  async function post(events: readonly string[], nowMs: number): Promise<string | undefined> {
    const body = isText ? events.join() : `[${events.join()}]`;
    try {
      const response = await fetch(settings.eventsUrl ?? "", {
        method: "POST",
        headers: {
          "Content-Type": isText ? "application/json" : "application/cloudevents-batch+json",
          "User-Agent": `Curt/${VERSION}`,
          ...sign(body, settings.eventsSecrets, nowMs),
        },
        body,
        redirect: "manual",
        signal: AbortSignal.timeout(REQUEST_MS),
      });
      await response.body?.cancel();
      return response.ok ? undefined : `status ${response.status}`;
    } catch (error) {
      // The message may contain the address, which is a secret if it is a chat room's.
      const { code, name } = error as { code?: string; name: string };
      return code ?? name;
    }
  }

  return {
    start,
    /** Sends waiting events for about a second. Call it every second. `isClockTrusted`: links and events age by `nowMs`. */
    async send(nowMs: number, isClockTrusted: boolean): Promise<EventFigures> {
      const fromMs = performance.now();
      const passedMs = () => performance.now() - fromMs;
      const endedByMs = isClockTrusted ? nowMs - LATE_MS : 0;
      const state = await outbox.readState(endedByMs);
      // An import turns recording off.
      if (state === undefined) await start(nowMs);
      // A jump of the clock ends the recording early.
      else if (!state.isRecording || fromMs - renewedMs > HOUR_MS) {
        await outbox.renew();
        renewedMs = fromMs;
      }
      const { waiting = 0, isDue = false, turn = 0 } = state ?? {};
      figures = { ...figures, waiting };
      const isOwner = state?.owner === owner;
      if (waiting === 0 && !isDue) lastTurn = undefined;
      if (state === undefined || (waiting === 0 && !isDue)) return figures;
      if (!isOwner && state.owner !== "" && !isDead(turn)) return figures;
      if (isOwner && fromMs < retryMs && fromMs - heartbeatMs < HEARTBEAT_MS) return figures;
      for (let sent: number[] = []; ;) {
        const step = await outbox.step({
          owner,
          turn: isOwner ? -1 : turn,
          endedByMs,
          // Dropping can't be undone.
          dropBeforeMs: isClockTrusted ? nowMs - DAY_MS : 0,
          waiting: figures.waiting,
          sent,
          limit: isText ? 1 : BATCH,
        });
        heartbeatMs = performance.now();
        if (step === undefined) return figures;
        const { rows, dropped } = step;
        figures = { ...figures, dropped: figures.dropped + dropped };
        if (rows.length === 0 || heartbeatMs < retryMs || passedMs() > SEND_MS) return figures;
        const events = serialize(rows);
        const reason = await post(events, nowMs + passedMs());
        if (reason !== undefined) {
          retryMs = performance.now() + Math.min(FIRST_RETRY_MS * 2 ** failuresInRow++, MAX_RETRY_MS);
          figures = { ...figures, failures: figures.failures + 1, reason };
          return figures;
        }
        failuresInRow = 0;
        sent = rows.slice(0, events.length).map(({ seq }) => seq);
        figures = {
          ...figures,
          waiting: Math.max(0, figures.waiting - sent.length),
          sent: figures.sent + sent.length,
          reason: undefined,
        };
      }
    },
    release: () => outbox.release(owner),
  };
}

/**
 * Returns the headers of Standard Webhooks (https://www.standardwebhooks.com), none without a secret. A retry of the
 * same events has the same id.
 */
function sign(body: string, secrets: readonly string[], nowMs: number): Record<string, string> {
  if (secrets.length === 0) return {};
  const id = `msg_${new Bun.CryptoHasher("sha256").update(body).digest("hex").slice(0, 32)}`;
  const timestamp = String(Math.floor(nowMs / 1000));
  const signatures = secrets.map(
    (secret) =>
      `v1,${new Bun.CryptoHasher("sha256", Buffer.from(secret, "base64")).update(`${id}.${timestamp}.${body}`).digest("base64")}`,
  );
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
}
