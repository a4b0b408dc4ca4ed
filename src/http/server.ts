import { networkInterfaces } from "node:os";

import type { createApp } from "./app.ts";

/**
 * No limit: Bun would answer a longer body with a bare 413. It does not read a body ahead of us, so ours (`body.ts`)
 * is the one that counts.
 */
const MAX_REQUEST_BODY_BYTES = Number.MAX_SAFE_INTEGER;
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

/** The address is taken, not ours, or none. */
export class CannotListen extends Error {
  override readonly name = "CannotListen";
}

/** With `isShared`, other processes may share the port, each taking a part of the connections. Throws {@link CannotListen}. */
export function listen(
  app: App,
  host: string,
  port: number,
  isShared: boolean,
  { idleSeconds = IDLE_SECONDS, drainLimitMs = DRAIN_LIMIT_MS }: ServerLimits = {},
): Server {
  const options = { reusePort: isShared, idleTimeout: idleSeconds };
  const servers = bind(host, port, { ...options, ...handlers(app) });
  return {
    port: servers[0]?.port ?? port,
    async drain(waitMs) {
      const redirect = {
        GET: closingConnection(app.redirect.GET),
        HEAD: closingConnection(app.redirect.HEAD),
      };
      const closing = handlers({ ...app, redirect, fetch: closingConnection(app.fetch) });
      for (const server of servers) server.reload(closing);
      await Bun.sleep(waitMs);
      await Promise.race([Promise.all(servers.map((server) => server.stop())), Bun.sleep(drainLimitMs)]);
      await stopNow(servers);
    },
  };
}

/** The port, or with 0 one that the system chooses; nobody listens there right now. Throws {@link CannotListen}. */
export async function findPort(host: string, port: number): Promise<number> {
  const servers = bind(host, port, { fetch: () => new Response(null, { status: 503 }) });
  const found = servers[0]?.port ?? port;
  await stopNow(servers);
  return found;
}

type BindOptions = {
  readonly fetch: (request: Request, server: Bun.Server<unknown>) => Response | Promise<Response>;
  readonly routes?: ReturnType<typeof handlers>["routes"];
  readonly reusePort?: boolean;
  readonly idleTimeout?: number;
};

/** One server for each address of the host, all on one port. */
function bind(host: string, port: number, options: BindOptions): Bun.Server<unknown>[] {
  const servers: Bun.Server<unknown>[] = [];
  try {
    for (const hostname of addressesOf(host)) {
      const known = { hostname, port: servers[0]?.port ?? port, maxRequestBodySize: MAX_REQUEST_BODY_BYTES };
      servers.push(Bun.serve({ ...options, ...known }));
    }
    return servers;
  } catch (cause) {
    void stopNow(servers);
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CannotListen(`cannot listen on HOST ${host}, PORT ${port}: ${reason}`, { cause });
  }
}

/** localhost is both loopback addresses, whichever a client tries first; some machines have no IPv6. */
function addressesOf(host: string): string[] {
  if (host !== "localhost") return [host];
  const local = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return local.some(({ address }) => address === "::1") ? ["127.0.0.1", "::1"] : ["127.0.0.1"];
}

async function stopNow(servers: readonly Bun.Server<unknown>[]): Promise<void> {
  await Promise.all(servers.map((server) => server.stop(true)));
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
