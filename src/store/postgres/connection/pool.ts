import { StoreUnavailable } from "../../../links/link-store.ts";
import {
  type Connect,
  type Connection,
  type Host,
  isRefusal,
  retryMs,
  sqlStateOf,
  within,
} from "./connection.ts";
import type { Leader } from "./primary.ts";

/** Statements that wait for a connection. */
const MAX_WAITING = 1000;
/** Share of a statement's limit to wait for a connection. The rest must be enough to run it. */
const WAITING_SHARE = 0.75;
/** Bounds simultaneous attempts, so that many processes don't storm a new primary. */
const MAX_CONNECTING = 2;
const CONNECT_MS = 1500;
/** How long running statements may take once the pool is closing. */
const CLOSE_MS = 2000;
const READ_ONLY = "25006";

/** Connections to whichever server leads. */
export interface Pool {
  /** Gives `work` a connection of its own. Waits for it most of `limitMs`, and not at all while none leads. */
  use<T>(limitMs: number, work: (connection: Connection) => Promise<T>): Promise<T>;
  /** Commits wait for a standby that does not answer: see {@link Leader}. */
  readonly isStuck: boolean;
  /** Waits for the statements that are running. */
  close(): Promise<void>;
}

interface Waiting {
  readonly take: (connection: Connection) => void;
  readonly refuse: (error: Error) => void;
}

/** `watch` says which server leads, and calls `onChange` whenever that changes and while none does. */
export function openPool(
  connect: Connect,
  connections: number,
  watch: (onChange: () => void) => Leader,
): Pool {
  const open = new Set<Connection>();
  const idle: Connection[] = [];
  const waiting = new Set<Waiting>();
  let uses = 0;
  let onUnused: (() => void) | undefined;
  let leader: Host | undefined;
  /** Attempts to connect to the current primary. */
  const connecting = new Set<AbortController>();
  let refusals = 0;
  /** Why the last attempt failed, until the next one. */
  let trouble: Error | undefined;
  let isClosed = false;

  const primary = watch(() => {
    if (primary.host !== leader) {
      leader = primary.host;
      trouble = undefined;
      abandonAttempts();
      // The previous primary may have outdated data.
      for (const connection of open) connection.drop();
    }
    refuseAll(primary.trouble);
    grow();
  });

  function refuseAll(error: Error | undefined): void {
    if (error !== undefined) for (const { refuse } of waiting) refuse(error);
  }

  /** Attempts may hang. Together with new ones they would be too many connections. */
  function abandonAttempts(): void {
    for (const attempt of connecting) attempt.abort();
    connecting.clear();
  }

  /** Connects for those who wait. */
  function grow(): void {
    if (leader === undefined || trouble !== undefined || isClosed) return;
    const wanted = Math.min(waiting.size, MAX_CONNECTING, connections - open.size) - connecting.size;
    for (let nth = 0; nth < wanted; nth++) void add(leader);
  }

  async function add(host: Host): Promise<void> {
    const attempt = new AbortController();
    const { signal } = attempt;
    connecting.add(attempt);
    try {
      const connection: Connection = await connect(host, CONNECT_MS, () => remove(connection), signal);
      if (signal.aborted) return connection.drop();
      refusals = 0;
      open.add(connection);
      give(connection);
    } catch (error) {
      if (!signal.aborted) pause(error as Error);
    } finally {
      connecting.delete(attempt);
      grow();
    }
  }

  function pause(error: Error): void {
    primary.doubt();
    trouble = error;
    refusals = isRefusal(error) ? refusals + 1 : 0;
    const again = () => {
      trouble = undefined;
      grow();
    };
    setTimeout(again, retryMs(refusals));
    if (open.size === 0) refuseAll(error);
  }

  function remove(connection: Connection): void {
    open.delete(connection);
    const at = idle.indexOf(connection);
    if (at >= 0) idle.splice(at, 1);
    primary.doubt();
    grow();
  }

  function give(connection: Connection): void {
    if (!connection.isOpen) return;
    const [next] = waiting;
    if (next === undefined) idle.push(connection);
    else next.take(connection);
  }

  /** Takes the most recently used connection: its server process has warm caches. */
  function take(limitMs: number): Connection | Promise<Connection> {
    const error = isClosed
      ? new StoreUnavailable("The database is closed")
      : (primary.trouble ?? (open.size === 0 ? trouble : undefined));
    if (error !== undefined) throw error;
    return idle.pop() ?? wait(limitMs);
  }

  function wait(limitMs: number): Promise<Connection> {
    if (waiting.size >= MAX_WAITING) throw new StoreUnavailable("Too many statements wait for the database");
    const { promise, resolve, reject } = Promise.withResolvers<Connection>();
    const entry = { take: once(resolve), refuse: once(reject) };
    const timer = setTimeout(() => entry.refuse(new StoreUnavailable("All connections were busy")), limitMs);
    function once<T>(how: (value: T) => void) {
      return (value: T) => {
        clearTimeout(timer);
        waiting.delete(entry);
        how(value);
      };
    }
    waiting.add(entry);
    grow();
    return promise;
  }

  async function use<T>(limitMs: number, work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await take(limitMs * WAITING_SHARE);
    uses++;
    try {
      return await work(connection);
    } catch (error) {
      if (sqlStateOf(error) === READ_ONLY && leader !== undefined) primary.refuse(leader);
      throw error;
    } finally {
      give(connection);
      if (--uses === 0) onUnused?.();
    }
  }

  return {
    use,
    get isStuck() {
      return primary.isStuck;
    },
    async close() {
      isClosed = true;
      abandonAttempts();
      refuseAll(new StoreUnavailable("The database is closed"));
      const { promise: unused, resolve } = Promise.withResolvers<void>();
      onUnused = resolve;
      if (uses > 0) await within(unused, CLOSE_MS, () => {}).catch(() => {});
      await Promise.all([primary.close(), ...[...open].map((connection) => connection.end())]);
    },
  };
}
