import type { createApp } from "./app.ts";
import type { PeerOf } from "./redirect/redirect.ts";

/** Well above our own limit for a body, so that the 413 a caller sees is ours. */
const MAX_REQUEST_BODY_BYTES = 16 * 1024 * 1024;
/** A connection that says nothing for this long is closed; Bun gives the headers 12 s by itself. */
const IDLE_SECONDS = 20;
const DRAIN_LIMIT_MS = 10_000;

/** Lower in tests, which would have to wait for them. */
export interface ServerLimits {
  readonly idleSeconds?: number;
  readonly drainLimitMs?: number;
}

export interface Server {
  readonly port: number;
  /** Answers what comes in for another `waitMs`, asking each connection to close; then refuses new ones. */
  drain(waitMs: number): Promise<void>;
}

type App = ReturnType<typeof createApp>;

/** Asking for the peer's address costs a tenth of a redirect or more: who listens for this machine alone knows it. */
export function peerReader(hostname: string): PeerOf {
  if (/^127\.[\d.]+$/.test(hostname)) return () => "127.0.0.1";
  if (hostname === "::1") return () => hostname;
  return (request, server) => server.requestIP(request)?.address ?? "";
}

/** The address is taken, not ours, or none. */
export class CannotListen extends Error {
  override readonly name = "CannotListen";
}

/** With `isShared`, other processes may share the port, each taking a part of the connections. Throws {@link CannotListen}. */
export function listen(
  app: App,
  hostname: string,
  port: number,
  isShared: boolean,
  { idleSeconds = IDLE_SECONDS, drainLimitMs = DRAIN_LIMIT_MS }: ServerLimits = {},
): Server {
  const server = bind(app, hostname, port, isShared, idleSeconds);
  return {
    port: server.port ?? port,
    async drain(waitMs) {
      const redirect = {
        GET: closingConnection(app.redirect.GET),
        HEAD: closingConnection(app.redirect.HEAD),
      };
      server.reload(handlers({ ...app, redirect, fetch: closingConnection(app.fetch) }));
      await Bun.sleep(waitMs);
      await Promise.race([server.stop(), Bun.sleep(drainLimitMs)]);
      await server.stop(true);
    },
  };
}

/** The port, or with 0 one that the system chooses; nobody listens there right now. Throws {@link CannotListen}. */
export async function findPort(hostname: string, port: number): Promise<number> {
  try {
    const server = Bun.serve({ hostname, port, fetch: () => new Response(null, { status: 503 }) });
    const found = server.port ?? port;
    await server.stop(true);
    return found;
  } catch (cause) {
    throw cannotListen(hostname, port, cause);
  }
}

function bind(app: App, hostname: string, port: number, reusePort: boolean, idleTimeout: number) {
  try {
    return Bun.serve({
      ...handlers(app),
      hostname,
      port,
      reusePort,
      idleTimeout,
      maxRequestBodySize: MAX_REQUEST_BODY_BYTES,
    });
  } catch (cause) {
    throw cannotListen(hostname, port, cause);
  }
}

function cannotListen(hostname: string, port: number, cause: unknown): CannotListen {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new CannotListen(`cannot listen on HOST ${hostname}, PORT ${port}: ${reason}`, { cause });
}

/** Bun matches these by itself and sends the rest to `fetch`: other paths, and other methods of these. */
function handlers({ redirect, fetch, fixedPaths }: App) {
  const fixed = Object.fromEntries(fixedPaths.map((path) => [path, fetch]));
  return { fetch, routes: { ...fixed, "/:code": redirect, "/:code/": redirect } };
}

/** The same, each answer the last of its connection, so that clients move on before the server is gone. */
function closingConnection<R extends unknown[]>(
  handle: (...request: R) => Response | Promise<Response>,
): (...request: R) => Promise<Response> {
  return async (...request) => {
    const response = await handle(...request);
    response.headers.set("Connection", "close");
    return response;
  };
}
