import type { Socket } from "bun";

import { type Answer, parseAnswer } from "./connections.ts";
import { type Latency, toLatency } from "./percentiles.ts";

/** A server that answers nobody for this long is given up. */
const STALLED_AFTER_MS = 10_000;
/** Between two looks at the sockets; shorter, and what the looks leave to the garbage collector is felt. */
const TURN_MS = 0.01;

export interface Stream {
  /** Requests that wait for an answer at once; what is due beyond waits for one of these. */
  readonly connections: number;
  readonly perSecond: number;
  /** Called once for each number, from 0. */
  readonly request: (number: number) => Uint8Array;
  /** Throws when an answer is not what this load is about; that ends everything. */
  readonly check: (answer: Answer) => void;
}

/**
 * Sends requests at a fixed rate, however long the answers take, so that a server that stands still for a moment
 * is charged with every request that was due meanwhile. Never sleeps: a timer's millisecond would hide what a
 * server takes. Resolves once everything is answered.
 */
export async function pace(port: number, durationMs: number, streams: readonly Stream[]): Promise<Latency[]> {
  const { promise: failed, reject } = Promise.withResolvers<never>();
  const running = await Promise.race([
    Promise.all(streams.map((stream) => connect(port, durationMs, stream, reject))),
    failed,
  ]);
  const startMs = performance.now();
  const finished = new Promise<void>((resolve) => {
    const turn = () => {
      let nowMs = performance.now() - startMs;
      for (const endMs = nowMs + TURN_MS; nowMs < endMs;) nowMs = performance.now() - startMs;
      for (const stream of running) stream.sendDue(nowMs);
      if (running.every((stream) => stream.isFinished())) resolve();
      else if (nowMs > durationMs + STALLED_AFTER_MS) reject(new Error("the server stalls"));
      else setImmediate(turn);
    };
    for (const stream of running) stream.start(startMs);
    turn();
  });
  await Promise.race([finished, failed]);
  return running.map((stream) => stream.latency());
}

async function connect(
  port: number,
  durationMs: number,
  { connections, perSecond, request, check }: Stream,
  fail: (error: unknown) => void,
) {
  interface Conversation {
    dueMs: number;
    received: string;
  }
  const total = Math.floor((perSecond * durationMs) / 1000);
  const latenciesMs: number[] = [];
  const lateMs: number[] = [];
  let startMs = 0;
  let sent = 0;
  /** When the last turn was; what became due since then has waited for the generator only. */
  let turnMs = 0;

  const idle = await Promise.all(
    Array.from({ length: connections }, () =>
      Bun.connect<Conversation>({
        hostname: "127.0.0.1",
        port,
        data: { dueMs: 0, received: "" },
        socket: {
          data(socket, chunk) {
            try {
              socket.data.received += chunk.toString("latin1");
              const answer = parseAnswer(socket.data.received);
              if (answer === undefined) return;
              latenciesMs.push(performance.now() - startMs - socket.data.dueMs);
              idle.push(socket);
              check(answer);
            } catch (error) {
              fail(error);
            }
          },
          close: () => fail(new Error("the server closed a connection")),
          error: (_socket, error) => fail(error),
        },
      }),
    ),
  );

  function send(socket: Socket<Conversation>, dueMs: number, nowMs: number): void {
    socket.data = { dueMs, received: "" };
    if (dueMs > turnMs) lateMs.push(nowMs - dueMs);
    const bytes = request(sent++);
    if (socket.write(bytes) !== bytes.length)
      fail(new Error("a request did not fit into the socket's buffer"));
  }

  return {
    start(nowMs: number) {
      startMs = nowMs;
    },
    sendDue(nowMs: number) {
      for (let dueMs = (sent / perSecond) * 1000; sent < total && dueMs <= nowMs;) {
        const socket = idle.shift();
        if (socket === undefined) break;
        send(socket, dueMs, nowMs);
        dueMs = (sent / perSecond) * 1000;
      }
      turnMs = nowMs;
    },
    isFinished: () => latenciesMs.length === total,
    latency: () => toLatency(latenciesMs, lateMs),
  };
}
