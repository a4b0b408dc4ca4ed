import { StoreMisconfigured, StoreUnavailable } from "../../../links/store.ts";
import { type Connect, type Connection, type Host, isRefusal, retryMs, Unanswered } from "./connection.ts";

/** How often each server is asked. */
const USUALLY_MS = 500;
/** However often somebody doubts. */
const LEAST_MS = 20;
/**
 * A server is reported once it leads for so long. One that comes and goes would fill the log. Longer than a statement that
 * somebody waits for, so that those that the outage caught have failed before.
 */
const STEADY_MS = 2000;
/** How long the first choice waits for all answers: an old primary may be the first to say that it leads. */
const FIRST_MS = 500;
const CONNECT_MS = 1500;
const ANSWER_MS = 1000;

export interface Primary {
  /** Undefined while no server leads, and before the first answer. */
  readonly host: Host | undefined;
  /**
   * Commits wait for a standby that does not answer. Each more would take a connection of the server until it does. What
   * only reads is not affected.
   */
  readonly isStuck: boolean;
  /** Why none leads. Undefined as long as that is not known. */
  readonly trouble: Error | undefined;
  /** Asks again now: something failed. */
  doubt(): void;
  /** It takes no changes, whatever it said. */
  refuse(host: Host): void;
  close(): Promise<void>;
}

/**
 * Called when the database answers again after it did not, and when another server leads it. `name` is the leader's host
 * and port, `trouble` the first reason why none led.
 */
export type OnPrimary = (name: string, trouble: string | undefined) => void;

interface Standing {
  readonly isPrimary: boolean;
  readonly isStuck: boolean;
  /** Which cluster this is. Undefined with one host, where nothing is to be compared. */
  readonly system?: string;
  /** Eight hexadecimal digits. Each promotion starts a later one. */
  readonly timeline?: string;
}

/** A backend that waits longer than this has been given up by its client, or will be. */
const STANDING = `
  SELECT current_setting('transaction_read_only') = 'off' AS "isPrimary", EXISTS (
    SELECT FROM pg_stat_activity WHERE usename = current_user AND wait_event = 'SyncRep'
      AND query_start < clock_timestamp() - interval '800 milliseconds'
  ) AS "isStuck"`;
/** Only for several servers: not every managed PostgreSQL has these functions. */
const TIMELINE = `
  , (SELECT system_identifier::text FROM pg_control_system()) AS system
  , CASE WHEN NOT pg_is_in_recovery() THEN substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END AS timeline`;

/**
 * Keeps asking all servers of a cluster which of them leads, each over a connection of its own. Of two that say they do,
 * it is the one with the later timeline: the other is an old primary that was frozen or cut off. `onChange` is called
 * when another leads, and whenever none does.
 */
export function watchPrimary(
  hosts: readonly Host[],
  connect: Connect,
  onChange: () => void,
  onPrimary: OnPrimary = () => {},
): Primary {
  const question = hosts.length > 1 ? STANDING + TIMELINE : STANDING;
  /** The last answer of each, or why there is none. */
  const answers = new Map<Host, Standing | Error>();
  const wakes = new Set<() => void>();
  let doubts = 0;
  let host: Host | undefined;
  let trouble: Error | undefined;
  /** Of the server that leads or led last, so that an older primary cannot follow it. */
  let leading: Standing | undefined;
  let leadsSinceMs = 0;
  /** The last leader that was told of, and what was wrong since. */
  let told: { readonly host?: Host | undefined; readonly trouble?: Error | undefined } = {};
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
    for (const [candidate, standing] of answers) {
      if (standing instanceof Error || !standing.isPrimary || isOlder(standing, leading)) continue;
      if (host !== undefined && !isOlder(leading, standing)) continue;
      [host, leading] = [candidate, standing];
    }
    const isKnown = host !== undefined || answers.size < hosts.length;
    trouble = isKnown ? undefined : nobodyLeads(answers);
    if (host !== before) leadsSinceMs = performance.now();
    tell();
    if (host !== undefined && host === before) return;
    onChange();
    if (host !== before) doubt();
  }

  function tell(): void {
    if (trouble !== undefined) told = { trouble, ...told };
    if (host === undefined || performance.now() - leadsSinceMs < STEADY_MS) return;
    const isNews = told.trouble !== undefined || (told.host !== undefined && told.host !== host);
    if (isNews) onPrimary(nameOf(host), told.trouble?.message);
    told = { host };
  }

  function doubt(): void {
    doubts++;
    for (const wake of wakes) wake();
  }

  async function watch(asked: Host): Promise<void> {
    let connection: Connection | undefined;
    let refusals = 0;

    async function ask(): Promise<Standing> {
      if (connection?.isOpen === true) {
        try {
          return await answer(connection);
        } catch (error) {
          if (error instanceof Unanswered) throw error;
          // Only this connection may be broken.
          connection.drop();
        }
      }
      connection = await connect(asked, CONNECT_MS, () => {
        if (asked === host) doubt();
      });
      return answer(connection);
    }

    async function answer(from: Connection): Promise<Standing> {
      const { rows } = await from.run(question, [], ANSWER_MS);
      return rows[0] as Standing;
    }

    while (!closing.signal.aborted) {
      const known = doubts;
      const standing = await ask().catch((error: Error) => error);
      refusals = isRefusal(standing) ? refusals + 1 : 0;
      answers.set(asked, standing);
      settle();
      await Bun.sleep(LEAST_MS);
      const isAway = host === undefined || leading?.isStuck === true;
      const ms = isAway ? retryMs(refusals) : USUALLY_MS;
      if (known === doubts) await rest(ms - LEAST_MS);
    }
    await connection?.end();
  }

  /** Until somebody doubts. */
  async function rest(ms: number): Promise<void> {
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

function isOlder(standing: Standing | undefined, than: Standing | undefined): boolean {
  return standing?.system === than?.system && (standing?.timeline ?? "") < (than?.timeline ?? "");
}

export function nameOf({ host, port }: Host): string {
  return `${host}:${port}`;
}

function nobodyLeads(answers: ReadonlyMap<Host, Standing | Error>): StoreUnavailable {
  const reasons = [...answers].map(([host, answer]) => {
    const reason = answer instanceof Error ? answer.message : "it takes no changes";
    return `${nameOf(host)}: ${reason}`;
  });
  const errors = [...answers.values()].filter((answer) => answer instanceof Error);
  const cause = errors.find((error) => error instanceof StoreMisconfigured) ?? errors[0];
  return new StoreUnavailable(`No server of the database can be used: ${reasons.join("; ")}`, { cause });
}
