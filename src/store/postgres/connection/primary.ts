import { StoreMisconfigured, StoreUnavailable } from "../../../links/store.ts";
import { type Connect, type Connection, type Host, isRefusal, retryMs, Unanswered } from "./connection.ts";

/** How often each server is queried. */
const USUALLY_MS = 500;
/** The shortest pause between queries, however often `doubt` is called. */
const LEAST_MS = 20;
/**
 * Reports a primary only after it has led for this long, because many short ones would fill the log. Longer than
 * the limit of a request's statement, so that statements caught by the outage have failed before.
 */
const STEADY_MS = 2000;
/** How long the first choice waits for all servers: an old primary may be the first to answer. */
const FIRST_MS = 500;
const CONNECT_MS = 1500;
const ANSWER_MS = 1000;

export interface Primary {
  /** Undefined while there is no primary, and before the first answer. */
  readonly host: Host | undefined;
  /**
   * Commits wait for a standby that does not answer. Each further one would occupy a connection of the server. Reads are not
   * affected.
   */
  readonly isStuck: boolean;
  /** Why there is no primary. Undefined while unknown. */
  readonly trouble: Error | undefined;
  /** Queries all servers now, because something failed. */
  doubt(): void;
  /** Marks a server as read-only, whatever it said. */
  refuse(host: Host): void;
  close(): Promise<void>;
}

/**
 * Called when the database answers again after an outage, and when the primary changes. `name` is the primary's host and
 * port, `trouble` the first reason why there was none.
 */
export type OnPrimary = (name: string, trouble: string | undefined) => void;

interface ServerState {
  readonly isPrimary: boolean;
  readonly isStuck: boolean;
  /** Identifies the cluster. Undefined with one host, where nothing is compared. */
  readonly system?: string;
  /** Eight hexadecimal digits. Each promotion starts a later one. */
  readonly timeline?: string;
}

/** A client gives up on a backend that waits longer than this. */
const STATE = `
  SELECT current_setting('transaction_read_only') = 'off' AS "isPrimary", EXISTS (
    SELECT FROM pg_stat_activity WHERE usename = current_user AND wait_event = 'SyncRep'
      AND query_start < clock_timestamp() - interval '800 milliseconds'
  ) AS "isStuck"`;
/** Only for several servers: not every managed PostgreSQL has these functions. */
const TIMELINE = `
  , (SELECT system_identifier::text FROM pg_control_system()) AS system
  , CASE WHEN NOT pg_is_in_recovery() THEN substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END AS timeline`;

/**
 * Watches which server of a cluster is the primary, over one connection to each. Of two candidates it takes the one with
 * the later timeline: the other is an old primary that was frozen or cut off. Calls `onChange` when the primary changes,
 * and whenever there is none.
 */
export function watchPrimary(
  hosts: readonly Host[],
  connect: Connect,
  onChange: () => void,
  onPrimary: OnPrimary = () => {},
): Primary {
  const question = hosts.length > 1 ? STATE + TIMELINE : STATE;
  /** The last answer of each server, or why it gave none. */
  const answers = new Map<Host, ServerState | Error>();
  const wakes = new Set<() => void>();
  let doubts = 0;
  let host: Host | undefined;
  let trouble: Error | undefined;
  /** State of the current or last primary, so that an older one cannot follow it. */
  let leading: ServerState | undefined;
  let primarySinceMs = 0;
  /** The last primary that was reported, and the trouble since. */
  let lastReport: { readonly host?: Host | undefined; readonly trouble?: Error | undefined } = {};
  const closing = new AbortController();

  let isFirst = true;
  const first = setTimeout(() => {
    isFirst = false;
    settle();
  }, FIRST_MS);

  function settle(): void {
    if (isFirst && answers.size < hosts.length) return;
    isFirst = false;
    const before = host;
    host = undefined;
    for (const [candidate, state] of answers) {
      if (state instanceof Error || !state.isPrimary || isOlder(state, leading)) continue;
      if (host !== undefined && !isOlder(leading, state)) continue;
      [host, leading] = [candidate, state];
    }
    const isKnown = host !== undefined || answers.size < hosts.length;
    trouble = isKnown ? undefined : noPrimary(answers);
    if (host !== before) primarySinceMs = performance.now();
    report();
    if (host !== undefined && host === before) return;
    onChange();
    if (host !== before) doubt();
  }

  function report(): void {
    if (trouble !== undefined) lastReport = { trouble, ...lastReport };
    if (host === undefined || performance.now() - primarySinceMs < STEADY_MS) return;
    const isNews =
      lastReport.trouble !== undefined || (lastReport.host !== undefined && lastReport.host !== host);
    if (isNews) onPrimary(nameOf(host), lastReport.trouble?.message);
    lastReport = { host };
  }

  function doubt(): void {
    doubts++;
    for (const wake of wakes) wake();
  }

  async function watch(server: Host): Promise<void> {
    let connection: Connection | undefined;
    let refusals = 0;

    async function query(): Promise<ServerState> {
      if (connection?.isOpen === true) {
        try {
          return await queryOn(connection);
        } catch (error) {
          if (error instanceof Unanswered) throw error;
          // Only this connection may be broken.
          connection.drop();
        }
      }
      connection = await connect(server, CONNECT_MS, () => {
        if (server === host) doubt();
      });
      return queryOn(connection);
    }

    async function queryOn(open: Connection): Promise<ServerState> {
      const { rows } = await open.run(question, [], ANSWER_MS);
      return rows[0] as ServerState;
    }

    while (!closing.signal.aborted) {
      const known = doubts;
      const state = await query().catch((error: Error) => error);
      refusals = isRefusal(state) ? refusals + 1 : 0;
      answers.set(server, state);
      settle();
      await Bun.sleep(LEAST_MS);
      const isAway = host === undefined || leading?.isStuck === true;
      const ms = isAway ? retryMs(refusals) : USUALLY_MS;
      if (known === doubts) await pause(ms - LEAST_MS);
    }
    await connection?.end();
  }

  /** Sleeps, at most until `doubt` is called. */
  async function pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    wakes.add(resolve);
    await promise;
    clearTimeout(timer);
    wakes.delete(resolve);
  }

  const watches = hosts.map(watch);
  return {
    get host() {
      return host;
    },
    get isStuck() {
      return host !== undefined && leading?.isStuck === true;
    },
    get trouble() {
      return trouble;
    },
    doubt,
    refuse(refused) {
      answers.set(refused, { isPrimary: false, isStuck: false });
      settle();
    },
    async close() {
      closing.abort();
      clearTimeout(first);
      doubt();
      await Promise.all(watches);
    },
  };
}

function isOlder(state: ServerState | undefined, than: ServerState | undefined): boolean {
  return state?.system === than?.system && (state?.timeline ?? "") < (than?.timeline ?? "");
}

export function nameOf({ host, port }: Host): string {
  return `${host}:${port}`;
}

function noPrimary(answers: ReadonlyMap<Host, ServerState | Error>): StoreUnavailable {
  const reasons = [...answers].map(([host, answer]) => {
    const reason = answer instanceof Error ? answer.message : "it takes no changes";
    return `${nameOf(host)}: ${reason}`;
  });
  const errors = [...answers.values()].filter((answer) => answer instanceof Error);
  const cause = errors.find((error) => error instanceof StoreMisconfigured) ?? errors[0];
  return new StoreUnavailable(`No server of the database can be used: ${reasons.join("; ")}`, { cause });
}
