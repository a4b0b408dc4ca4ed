import type { Socket } from "bun";

/** A server that answers nobody for this long is given up. */
const STALLED_AFTER_MS = 10_000;

export interface Answer {
  readonly status: number;
  /** Status line and headers. Both texts hold one character for each byte. */
  readonly head: string;
  readonly body: string;
}

export interface Drive {
  readonly port: number;
  readonly connections: number;
  /** No request starts later. */
  readonly durationMs: number;
  /** The next request, or undefined when there are no more. `number` counts from 0. */
  readonly request: (number: number) => string | undefined;
  /** Throws when an answer is not what this load is about; that ends the whole drive. */
  readonly check: (answer: Answer, number: number) => void;
}

/**
 * Drives a server over keep-alive connections of raw sockets, one request at a time on each. Cheap, so that
 * the server is the bottleneck. Resolves with the answers and the time up to the last one.
 */
export function drive({ port, connections, durationMs, request, check }: Drive) {
  const { promise, resolve, reject } = Promise.withResolvers<{ requests: number; durationMs: number }>();
  const startMs = performance.now();
  let sent = 0;
  let answered = 0;
  let lastMs = startMs;
  let open = connections;

  interface Conversation {
    number: number;
    /** An answer to HEAD ends with its headers. */
    isHead: boolean;
    /** What has come of the answer. */
    received: string;
    finished: boolean;
  }

  function sendNext(socket: Socket<Conversation>): void {
    const text = performance.now() - startMs < durationMs ? request(sent) : undefined;
    if (text === undefined) {
      socket.data.finished = true;
      socket.end();
      open--;
      if (open === 0) resolve({ requests: answered, durationMs: lastMs - startMs });
      return;
    }
    socket.data.number = sent++;
    socket.data.isHead = text.startsWith("HEAD ");
    socket.data.received = "";
    if (socket.write(text) !== text.length) throw new Error("a request did not fit into the socket's buffer");
  }

  const stalled = setInterval(() => {
    if (performance.now() - lastMs > STALLED_AFTER_MS) reject(new Error("the server stalls"));
  }, 1000);
  const failing = (run: () => void) => {
    try {
      run();
    } catch (error) {
      reject(error);
    }
  };
  for (let connection = 0; connection < connections; connection++) {
    Bun.connect<Conversation>({
      hostname: "127.0.0.1",
      port,
      data: { number: 0, isHead: false, received: "", finished: false },
      socket: {
        open: (socket) => failing(() => sendNext(socket)),
        data(socket, chunk) {
          failing(() => {
            socket.data.received += chunk.toString("latin1");
            const answer = parseAnswer(socket.data.received, socket.data.isHead);
            if (answer === undefined) return;
            answered++;
            lastMs = performance.now();
            check(answer, socket.data.number);
            sendNext(socket);
          });
        },
        close({ data }) {
          if (!data.finished) reject(new Error("the server closed a connection"));
        },
        error: (_socket, error) => reject(error),
      },
    }).catch(reject);
  }
  return promise.finally(() => clearInterval(stalled));
}

/** The answer once it is complete (RFC 9112). Every server measured here sends Content-Length. */
export function parseAnswer(text: string, isHead = false): Answer | undefined {
  const headEnd = text.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const head = text.slice(0, headEnd);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error(`an answer without Content-Length:\n${head}`);
  const body = text.slice(headEnd + 4);
  const bodyLength = isHead ? 0 : Number(length);
  if (body.length < bodyLength) return undefined;
  if (body.length > bodyLength) throw new Error(`more than one answer to a request:\n${head}`);
  return { status: Number(text.slice(9, 12)), head, body };
}
