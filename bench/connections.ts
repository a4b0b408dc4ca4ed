import type { Socket } from "bun";

/** Default number of connections. */
export const CONNECTIONS = 64;
/** The run fails after this time without any response. */
const STALLED_AFTER_MS = 10_000;
/** Pause between two checks of the sockets. With shorter ones, their garbage would disturb the measurement. */
const TURN_MS = 0.01;

export interface Answer {
  readonly status: number;
  /** Status line and headers. Both texts have one character per byte. */
  readonly head: string;
  readonly body: string;
}

export interface Stream {
  /** One request at a time on each. Requests wait while all connections wait for responses. */
  readonly connections?: number;
  /** The clients' addresses in 127.0.0.0/8. Connections use them in turn. */
  readonly clients?: readonly string[];
  /** Requests per second. Default: as many as the server answers. */
  readonly perSecond?: number;
  /** The next request, in ASCII; undefined when there are no more. `number` counts from 0. */
  readonly request: (number: number) => string | Uint8Array | undefined;
  /** Throws at an unexpected response, which ends the run. */
  readonly check: (answer: Answer, number: number) => void;
}

/** Latencies of one stream of requests, from when each was due until its response was complete. */
export interface Latency {
  readonly p50Us: number;
  readonly p99Us: number;
  readonly maxUs: number;
  /** How late requests left although a connection was free: the generator's own delay, 99th percentile. */
  readonly ownP99Us: number;
  /** Number of the stream's responses by status. */
  readonly statuses: Statuses;
}

type Statuses = Readonly<Record<number, number>>;

export interface Driven {
  readonly requests: number;
  readonly durationMs: number;
  /** Latencies of each stream with a rate. */
  readonly latencies: readonly Latency[];
  /** Number of responses by status. */
  readonly statuses?: Statuses;
}

interface Exchange {
  number: number;
  /** A response to HEAD ends with its headers. */
  isHead: boolean;
  /** The part of the response that has arrived. */
  received: string;
  /** The part of the request that didn't fit into the socket's buffer. */
  unsent?: Uint8Array;
}
type Connection = Socket<Exchange>;

/**
 * Drives a server over kept-alive connections of raw sockets: cheap, so that the server is the bottleneck. No request
 * is due after `durationMs`. Resolves after the last response.
 *
 * A stream with a rate sends at this rate, however long the responses take, so that a stall of the server counts for every
 * request that was due meanwhile. It never sleeps, because a timer's millisecond would hide the server's latency. Any other
 * stream sends a connection's next request after its last response.
 */
export async function drive(port: number, durationMs: number, streams: readonly Stream[]): Promise<Driven> {
  const { promise: over, resolve, reject } = Promise.withResolvers<void>();
  let startMs = performance.now();
  let answered = 0;
  const statuses: Record<number, number> = {};
  let lastMs = 0;
  const nowMs = () => performance.now() - startMs;
  function step(): void {
    for (const stream of running) stream.sendDue(nowMs());
    if (running.every((stream) => stream.isFinished())) resolve();
  }

  async function open({ connections = CONNECTIONS, clients = [], perSecond, request, check }: Stream) {
    const dueMs = (number: number) => (perSecond === undefined ? 0 : (number / perSecond) * 1000);
    const latenciesMs: number[] = [];
    const ownStatuses: Record<number, number> = {};
    const lateMs: number[] = [];
    let sent = 0;
    let unanswered = 0;
    /** Time of the last turn. Requests that became due since then have waited only for the generator. */
    let turnMs = 0;
    let isOver = false;
    const onAnswer = (connection: Connection, answer: Answer) => {
      const { number } = connection.data;
      answered++;
      for (const counts of [statuses, ownStatuses]) counts[answer.status] = (counts[answer.status] ?? 0) + 1;
      unanswered--;
      lastMs = nowMs();
      if (perSecond !== undefined) latenciesMs.push(lastMs - dueMs(number));
      check(answer, number);
      idle.push(connection);
      if (perSecond === undefined) step();
    };
    const idle = await connect(port, connections, clients, onAnswer, reject);
    return {
      sendDue(atMs: number): void {
        while (!isOver && idle.length > 0 && dueMs(sent) <= atMs) {
          const isTimeOver = (perSecond === undefined ? atMs : dueMs(sent)) >= durationMs;
          const next = isTimeOver ? undefined : request(sent);
          const connection = next === undefined ? undefined : idle.shift();
          if (next === undefined || connection === undefined) {
            isOver = true;
            return;
          }
          if (dueMs(sent) > turnMs) lateMs.push(atMs - dueMs(sent));
          unanswered++;
          send(connection, sent++, next);
        }
        turnMs = atMs;
      },
      isFinished: () => isOver && unanswered === 0,
      close: () => idle.forEach((connection) => connection.end()),
      isPaced: perSecond !== undefined,
      latency: (): Latency => ({
        p50Us: percentileUs(latenciesMs, 0.5),
        p99Us: percentileUs(latenciesMs, 0.99),
        maxUs: percentileUs(latenciesMs, 1),
        ownP99Us: percentileUs(lateMs, 0.99),
        statuses: ownStatuses,
      }),
    };
  }

  const running = await Promise.all(streams.map(open));
  startMs = performance.now();
  function turn(): void {
    for (const endMs = nowMs() + TURN_MS; nowMs() < endMs;);
    step();
    setImmediate(turn);
  }
  const stalled = setInterval(() => {
    if (nowMs() - lastMs > STALLED_AFTER_MS) reject(new Error("the server stalls"));
  }, 1000);
  step();
  if (running.some((stream) => stream.isPaced)) turn();
  await over.finally(() => {
    clearInterval(stalled);
    for (const stream of running) stream.close();
  });
  return {
    requests: answered,
    durationMs: lastMs,
    latencies: running.filter((stream) => stream.isPaced).map((stream) => stream.latency()),
    statuses,
  };
}

/** By nearest rank. */
function percentileUs(valuesMs: readonly number[], share: number): number {
  const sorted = valuesMs.toSorted((a, b) => a - b);
  return Math.round((sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN) * 1000);
}

/** Bun's types lack `localAddress`. */
export function addresses(port: number, client: string | undefined) {
  return { hostname: "127.0.0.1", port, ...(client !== undefined && { localAddress: client }) };
}

function connect(
  port: number,
  count: number,
  clients: readonly string[],
  onAnswer: (connection: Connection, answer: Answer) => void,
  fail: (error: unknown) => void,
): Promise<Connection[]> {
  const open = (nth: number) =>
    Bun.connect<Exchange>({
      ...addresses(port, clients[nth % clients.length]),
      data: { number: 0, isHead: false, received: "" },
      socket: {
        data(connection, chunk) {
          try {
            connection.data.received += chunk.toString("latin1");
            const answer = parseAnswer(connection.data.received, connection.data.isHead);
            if (answer !== undefined) onAnswer(connection, answer);
          } catch (error) {
            fail(error);
          }
        },
        drain: flush,
        close: () => fail(new Error("the server closed a connection")),
        error: (_connection, error) => fail(error),
      },
    });
  return Promise.all(Array.from({ length: count }, (_, nth) => open(nth)));
}

function send(connection: Connection, number: number, request: string | Uint8Array): void {
  const isHead = typeof request === "string" && request.startsWith("HEAD ");
  connection.data = { number, isHead, received: "" };
  const written = connection.write(request);
  if (written < request.length) connection.data.unsent = Buffer.from(request).subarray(written);
}

function flush(connection: Connection): void {
  const { unsent } = connection.data;
  if (unsent !== undefined) connection.data.unsent = unsent.subarray(connection.write(unsent));
}

/** The response once it is complete (RFC 9112). Every server measured here sends Content-Length. */
function parseAnswer(text: string, isHead: boolean): Answer | undefined {
  const headEnd = text.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const head = text.slice(0, headEnd);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  const status = Number(text.slice(9, 12));
  // RFC 9110, section 15.4.5: never a body.
  const isBodiless = isHead || status === 304;
  if (length === undefined && !isBodiless) throw new Error(`an answer without Content-Length:\n${head}`);
  const body = text.slice(headEnd + 4);
  const bodyLength = isBodiless ? 0 : Number(length);
  if (body.length < bodyLength) return undefined;
  if (body.length > bodyLength) throw new Error(`more than one answer to a request:\n${head}`);
  return { status, head, body };
}
