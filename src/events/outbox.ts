// The queue of events in the store. Triggers and creates write them in the transaction of the change.
import { EventType } from "../config/event-settings.ts";
import type { LinkKey } from "../links/code.ts";
import { parseTerms } from "../links/terms/term-values.ts";
import { HOUR_MS, MINUTE_MS } from "../links/time.ts";
import type { LinkRow } from "../store/shared/link-row.ts";
import { insertInto, list, type Run, type Statements } from "../store/shared/sql.ts";
import type { EventRow } from "./event-formats.ts";

/** Curt drops the oldest events beyond this. Recording stops at twice as many. */
export const MAX_WAITING = 100_000;
/** How many sent events stay for `curt events`. */
export const MAX_SENT = 1000;
/** Rows per statement: in SQLite, creates wait for it. */
const MAX_TOO_OLD = 1000;
/** Per turn. The slowest owner takes one every 4 s and drops 2,500 rows per second. */
const MAX_TOO_MANY = 10_000;
/** A refused event waits as long as it is old, within these bounds. */
export const MIN_REFUSED_WAIT_MS = MINUTE_MS;
export const MAX_REFUSED_WAIT_MS = HOUR_MS;
const EXPIRED_PAGE = 500;

const START = `
  INSERT INTO event_sender (id, owner, turn, types, renewed, expired_ms, expired_code)
  VALUES (1, '', 0, $1, CURRENT_TIMESTAMP, $2, '')
  ON CONFLICT (id) DO UPDATE SET types = excluded.types, renewed = excluded.renewed,
    expired_ms = CASE WHEN EXISTS (SELECT 1 FROM event_recording) THEN event_sender.expired_ms
      ELSE excluded.expired_ms END`;
/** Machines' clocks differ by less. */
const CLOCKS_DIFFER_MS = HOUR_MS;
const SET_BACK = "UPDATE event_sender SET expired_ms = $1, expired_code = '' WHERE expired_ms > $2";
const RENEW = "UPDATE event_sender SET renewed = CURRENT_TIMESTAMP";
const DUE = `
  disabled IS NULL AND ends_ms >= expired_ms AND (ends_ms > expired_ms OR links.code > expired_code) AND ends_ms <= $1`;
const STATE = `
  SELECT owner, turn, EXISTS (SELECT 1 FROM event_recording) AS "isRecording",
    EXISTS (SELECT 1 FROM links WHERE ${DUE}) OR EXISTS (SELECT 1 FROM refused_events WHERE next_ms <= $1) AS "isDue",
    (SELECT count(*) FROM (SELECT 1 AS one FROM events WHERE NOT sent LIMIT ${2 * MAX_WAITING}) AS few) AS waiting
  FROM event_sender`;
const TAKE_TURN = `UPDATE event_sender SET owner = $1, turn = turn + 1 WHERE owner = $1 OR turn = $2 RETURNING turn, batch`;
const KEEP_BATCH = "UPDATE event_sender SET batch = $1";
const RELEASE = "UPDATE event_sender SET owner = '' WHERE owner = $1";
/** Locks the links, so that none changes its end meanwhile. */
const EXPIRED = `
  SELECT links.code, created_ms, ends_ms, terms FROM links
  WHERE disabled IS NULL AND ends_ms >= $1 AND (ends_ms > $1 OR code > $2) AND ends_ms <= $3
  ORDER BY ends_ms, code LIMIT ${EXPIRED_PAGE} FOR UPDATE`;
const MOVE_CURSOR = "UPDATE event_sender SET expired_ms = $1, expired_code = $2";
const DROP = `
  DELETE FROM events WHERE seq IN (
    SELECT seq FROM (SELECT seq, at_ms FROM events WHERE NOT sent ORDER BY seq LIMIT $1) AS oldest WHERE at_ms < $2)
  RETURNING seq`;
const DELETE_SENT = "DELETE FROM events WHERE sent AND seq <= $1";
const REFUSE = `
  INSERT INTO refused_events (seq, type, code, created_ms, detail, operator, at_ms, next_ms)
  SELECT seq, type, code, created_ms, detail, operator, at_ms, CAST($2 AS bigint) FROM events WHERE seq = $1 AND NOT sent`;
const DELETE = "DELETE FROM events WHERE seq = $1 AND NOT sent";
const POSTPONE = "UPDATE refused_events SET next_ms = $2 WHERE seq = $1";
const DROP_REFUSED = "DELETE FROM refused_events WHERE at_ms < $1 RETURNING seq";
const DELETE_REFUSED = "DELETE FROM refused_events WHERE seq = $1";
const eventsOf = (table: string) => `
  SELECT seq, type, at_ms AS "atMs", detail, operator, events.code, events.created_ms AS "createdMs", events.created_ms,
    original_url, target, ends_ms, disabled, terms, reports, reasons, hosts.reason AS "hostReason"
  FROM ${table} AS events
  LEFT JOIN links ON links.code = events.code AND links.created_ms = events.created_ms
  LEFT JOIN cases ON type = 'report.opened' AND cases.code = events.code AND cases.created_ms = events.created_ms
  LEFT JOIN hosts ON type = 'host.blocked' AND hosts.host = detail`;
const IS_REPORT = `type = '${EventType.reportOpened}'`;
const unsent = (condition: string) =>
  `${eventsOf("events")} WHERE NOT sent AND ${condition} ORDER BY seq LIMIT $1`;
const after = (table: string) => `${eventsOf(table)} WHERE seq > $1 ORDER BY seq LIMIT $2`;
const NEXT_REFUSED = `${eventsOf("refused_events")} WHERE next_ms <= $1 ORDER BY next_ms LIMIT 1`;

interface OutboxState {
  /** The process that sends, "" if none does. */
  readonly owner: string;
  /** Grows while the owner works. */
  readonly turn: number;
  /** SQLite returns numbers for this and `isDue`. */
  readonly isRecording: boolean | 0 | 1;
  /** Whether expired links lack their event, or a refused event is due. */
  readonly isDue: boolean | 0 | 1;
  readonly waiting: number;
}

interface Step {
  readonly owner: string;
  /** Takes over if the other owner is still at this turn. */
  readonly turn: number;
  /** Links that ended by then get an event. */
  readonly endedByMs: number;
  /** Events from before this are dropped. */
  readonly dropBeforeMs: number;
  readonly waiting: number;
  readonly sent: readonly number[];
  /** An event to set aside, unless another process has sent it meanwhile. */
  readonly refused: EventRow | undefined;
  /** How many events to return at most. */
  readonly limit: number;
  /** Returns the first of these events that fit into a request. */
  chooseBatch(rows: readonly EventRow[]): readonly EventRow[];
}

/** Events that wait for the endpoint, and those that it refused. Instants are Unix ms. Rejects with `StoreUnavailable`. */
export interface Outbox {
  /** Turns recording on, for a day. */
  start(types: readonly string[], nowMs: number): Promise<void>;
  /** Undoes a `start` while the clock was far ahead: no link would expire with an event until that time. */
  setBack(nowMs: number): Promise<void>;
  /** Keeps recording on for another day. */
  renew(): Promise<void>;
  /** Deletes refused events from before this. Returns how many. */
  dropRefused(beforeMs: number): Promise<number>;
  /** Undefined if recording was never turned on. */
  readState(nowMs: number): Promise<OutboxState | undefined>;
  /**
   * Marks events as sent or sets one aside, and returns the next batch and how many events were dropped. Undefined if
   * another process has taken over.
   */
  step(step: Step): Promise<{ turn: number; batch: readonly EventRow[]; dropped: number } | undefined>;
  /** Lets another process send immediately. */
  release(owner: string): Promise<void>;
  /** The refused events after a number, in order. */
  refused(seq: number, limit: number): Promise<readonly EventRow[]>;
  /** The refused event that is due first. */
  nextRefused(nowMs: number): Promise<EventRow | undefined>;
  /** After another refusal. */
  postpone(event: EventRow, nowMs: number): Promise<void>;
  deleteRefused(seq: number): Promise<void>;
  /** The events after a number, in order, also those that were sent. */
  after(seq: number, limit: number): Promise<readonly EventRow[]>;
}

function nextAttemptMs({ atMs }: EventRow, nowMs: number): number {
  return nowMs + Math.min(Math.max(nowMs - atMs, MIN_REFUSED_WAIT_MS), MAX_REFUSED_WAIT_MS);
}

export function createOutbox({ run, transaction }: Statements): Outbox {
  /** Drops up to `limit` of the oldest events, if they are from before `beforeMs`. Returns how many. */
  async function drop(on: Run, limit: number, beforeMs: number): Promise<number> {
    return limit <= 0 ? 0 : (await on(DROP, [limit, beforeMs])).rows.length;
  }

  async function addExpired(on: Run, endedByMs: number): Promise<void> {
    const [cursor] = (
      await on<{ ms: number; code: string; isWanted: boolean }>(
        `SELECT expired_ms AS ms, expired_code AS code, types LIKE '% ${EventType.linkExpired} %' AS "isWanted" FROM event_sender`,
      )
    ).rows;
    if (cursor === undefined) return;
    const { rows } = await on<Pick<LinkRow, "created_ms" | "terms"> & { code: LinkKey; ends_ms: number }>(
      EXPIRED,
      [cursor.ms, cursor.code, endedByMs],
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    const ended = rows.filter(({ terms }) => parseTerms(terms)?.ended === undefined);
    if (cursor.isWanted)
      await insertInto(
        on,
        "events (type, code, created_ms)",
        ended.map((row) => [EventType.linkExpired, row.code, row.created_ms]),
      );
    await on(MOVE_CURSOR, [last.ends_ms, last.code]);
  }

  /**
   * Returns the batch of the last request until the endpoint has taken it, then a new one: reports before other events. Stores
   * a new batch, because another process that sent more or fewer events would give them another id.
   */
  async function nextBatch(
    on: Run,
    kept: string,
    { limit, chooseBatch }: Step,
  ): Promise<readonly EventRow[]> {
    const seqs = JSON.parse(kept) as number[];
    const first = async (condition: string, values: readonly number[] = []) =>
      (await on<EventRow>(unsent(condition), [limit, ...values])).rows;
    let batch = seqs.length === 0 ? [] : await first(`seq IN (${list(seqs, 2)})`, seqs);
    for (const condition of [IS_REPORT, "TRUE"])
      if (batch.length === 0) batch = chooseBatch(await first(condition));
    const chosen = JSON.stringify(batch.map(({ seq }) => seq));
    if (chosen !== kept) await on(KEEP_BATCH, [chosen]);
    return batch;
  }

  return {
    async start(types, nowMs) {
      await run(START, [` ${types.join(" ")} `, nowMs]);
    },
    async setBack(nowMs) {
      await run(SET_BACK, [nowMs, nowMs + CLOCKS_DIFFER_MS]);
    },
    async renew() {
      await run(RENEW);
    },
    async dropRefused(beforeMs) {
      return (await run(DROP_REFUSED, [beforeMs])).rows.length;
    },
    async readState(nowMs) {
      return (await run<OutboxState>(STATE, [nowMs])).rows[0];
    },
    step: (step) =>
      transaction(async (on) => {
        const { sent, refused } = step;
        if (sent.length > 0) {
          await on(`UPDATE events SET sent = TRUE WHERE seq IN (${list(sent)})`, sent);
          await on(DELETE_SENT, [Math.max(...sent) - MAX_SENT]);
        }
        if (refused !== undefined) {
          await on(REFUSE, [refused.seq, nextAttemptMs(refused, step.endedByMs)]);
          await on(DELETE, [refused.seq]);
        }
        const [taken] = (await on<{ turn: number; batch: string }>(TAKE_TURN, [step.owner, step.turn])).rows;
        if (taken === undefined) return undefined;
        await addExpired(on, step.endedByMs);
        const tooOld = await drop(on, MAX_TOO_OLD, step.dropBeforeMs);
        const excess = step.waiting - tooOld - MAX_WAITING;
        const tooMany = await drop(on, Math.min(excess, MAX_TOO_MANY), Number.MAX_SAFE_INTEGER);
        const batch = await nextBatch(on, taken.batch, step);
        return { turn: taken.turn, batch, dropped: tooOld + tooMany };
      }),
    async release(owner) {
      await run(RELEASE, [owner]);
    },
    async refused(seq, limit) {
      return (await run<EventRow>(after("refused_events"), [seq, limit])).rows;
    },
    async nextRefused(nowMs) {
      return (await run<EventRow>(NEXT_REFUSED, [nowMs])).rows[0];
    },
    async postpone(event, nowMs) {
      await run(POSTPONE, [event.seq, nextAttemptMs(event, nowMs)]);
    },
    async deleteRefused(seq) {
      await run(DELETE_REFUSED, [seq]);
    },
    async after(seq, limit) {
      return (await run<EventRow>(after("events"), [seq, limit])).rows;
    },
  };
}
