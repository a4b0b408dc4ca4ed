import { StoreMisconfigured, StoreUnavailable } from "../../../links/link-store.ts";
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
export class Primary {
  /** Undefined while there is no primary, and before the first answer. */
  host: Host | undefined;
  /** Why there is no primary. Undefined while unknown. */
  trouble: Error | undefined;
  /** The last answer of each server, or why it gave none. */
  private readonly answers = new Map<Host, ServerState | Error>();
  /** State of the current or last primary, so that an older one cannot follow it. */
  private leading: ServerState | undefined;
  private sinceMs = 0;
  /** The last primary that was reported, and the trouble since. */
  private lastReport: { readonly host?: Host | undefined; readonly trouble?: Error | undefined } = {};
  private isFirst = true;
  private readonly first: NodeJS.Timeout;
  /** How often `doubt` was called, and what ends the pauses. */
  private doubts = 0;
  private readonly wakes = new Set<() => void>();
  private isClosing = false;
  private readonly watches: readonly Promise<void>[];

  constructor(
    private readonly hosts: readonly Host[],
    private readonly connect: Connect,
    private readonly onChange: () => void,
    private readonly onPrimary: OnPrimary = () => {},
  ) {
    this.first = setTimeout(() => {
      this.isFirst = false;
      this.settle();
    }, FIRST_MS);
    this.watches = hosts.map((server) => this.watch(server));
  }

  /**
   * Commits wait for a standby that does not answer. Each further one would occupy a connection of the server. Reads are not
   * affected.
   */
  get isStuck(): boolean {
    return this.host !== undefined && this.leading?.isStuck === true;
  }

  /** Queries all servers now, because something failed. */
  doubt(): void {
    this.doubts++;
    for (const wake of this.wakes) wake();
  }

  /** Marks a server as read-only, whatever it said. */
  refuse(host: Host): void {
    this.answers.set(host, { isPrimary: false, isStuck: false });
    this.settle();
  }

  async close(): Promise<void> {
    this.isClosing = true;
    clearTimeout(this.first);
    this.doubt();
    await Promise.all(this.watches);
  }

  private settle(): void {
    if (this.isFirst && this.answers.size < this.hosts.length) return;
    this.isFirst = false;
    const before = this.host;
    this.host = undefined;
    for (const [candidate, state] of this.answers) {
      if (state instanceof Error || !state.isPrimary || isOlder(state, this.leading)) continue;
      if (this.host !== undefined && !isOlder(this.leading, state)) continue;
      [this.host, this.leading] = [candidate, state];
    }
    const isKnown = this.host !== undefined || this.answers.size < this.hosts.length;
    this.trouble = isKnown ? undefined : noPrimary(this.answers);
    if (this.host !== before) this.sinceMs = performance.now();
    this.report();
    if (this.host !== undefined && this.host === before) return;
    this.onChange();
    if (this.host !== before) this.doubt();
  }

  private report(): void {
    const { host, trouble, lastReport } = this;
    if (trouble !== undefined) this.lastReport = { trouble, ...lastReport };
    if (host === undefined || performance.now() - this.sinceMs < STEADY_MS) return;
    const isNews =
      lastReport.trouble !== undefined || (lastReport.host !== undefined && lastReport.host !== host);
    if (isNews) this.onPrimary(nameOf(host), lastReport.trouble?.message);
    this.lastReport = { host };
  }

  private async watch(server: Host): Promise<void> {
    const question = this.hosts.length > 1 ? STATE + TIMELINE : STATE;
    let connection: Connection | undefined;
    let refusals = 0;

    const query = async (): Promise<ServerState> => {
      if (connection?.isOpen === true) {
        try {
          return await stateOf(connection, question);
        } catch (error) {
          if (error instanceof Unanswered) throw error;
          // Only this connection may be broken.
          connection.drop();
        }
      }
      connection = await this.connect(server, CONNECT_MS, () => {
        if (server === this.host) this.doubt();
      });
      return stateOf(connection, question);
    };

    while (!this.isClosing) {
      const known = this.doubts;
      const state = await query().catch((error: Error) => error);
      refusals = isRefusal(state) ? refusals + 1 : 0;
      this.answers.set(server, state);
      this.settle();
      await Bun.sleep(LEAST_MS);
      const isAway = this.host === undefined || this.isStuck;
      const ms = isAway ? retryMs(refusals) : USUALLY_MS;
      if (known === this.doubts) await this.pause(ms - LEAST_MS);
    }
    await connection?.end();
  }

  /** Sleeps, at most until `doubt` is called. */
  private async pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    this.wakes.add(resolve);
    await promise;
    clearTimeout(timer);
    this.wakes.delete(resolve);
  }
}

async function stateOf(connection: Connection, question: string): Promise<ServerState> {
  const { rows } = await connection.run(question, [], ANSWER_MS);
  return rows[0] as ServerState;
}

/** Which server a pool connects to. */
export type Leader = Readonly<Pick<Primary, keyof Primary>>;

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
