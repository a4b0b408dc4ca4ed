import { createServer, isIP } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";

import type { Certificate } from "../config/certificate.ts";
import type { Config } from "../config/config.ts";
import { lockFile } from "../visits/journal/slots.ts";
import type { App } from "./app.ts";

/**
 * No limit here, because Bun's own 413 has no JSON. `body.ts` has the real limit, which suffices: Bun reads a body only on
 * demand.
 */
const MAX_REQUEST_BODY_BYTES = Number.MAX_SAFE_INTEGER;
/** For idle connections. For the headers of a request, Bun itself allows 12 s. */
export const IDLE_SECONDS = 20;
export const DRAIN_LIMIT_MS = 10_000;

/** Tests set lower limits, so that they need not wait. */
export interface ServerLimits {
  readonly idleSeconds?: number;
  readonly drainLimitMs?: number;
}

type KeyPair = Pick<Certificate, "cert" | "key">;

interface ListenOptions extends ServerLimits {
  /** Plain HTTP without it. */
  readonly tls?: KeyPair | undefined;
}

/** The port is in use or forbidden, or the host is not an address of this machine. */
export class CannotListen extends Error {
  override readonly name = "CannotListen";
}

/** Several processes can listen on the port and share its connections. Throws {@link CannotListen}. */
export function listen(
  app: App,
  { host, port }: Pick<Config, "host" | "port">,
  { tls, idleSeconds = IDLE_SECONDS, drainLimitMs = DRAIN_LIMIT_MS }: ListenOptions,
) {
  const servers = bind(host, port, {
    reusePort: true,
    idleTimeout: idleSeconds,
    ...(tls !== undefined && { tls }),
    ...handlers(app),
  });
  return {
    port: servers[0]?.port ?? port,
    /** Requests without a response yet. */
    pending: () => servers.reduce((sum, { pendingRequests }) => sum + pendingRequests, 0),
    /**
     * Keeps responding for `waitMs`, and closes each connection after its next response. Then refuses new connections, and waits
     * up to `drainLimitMs` for open requests.
     */
    async drain(waitMs: number): Promise<void> {
      const closing = handlers(closingApp(app));
      for (const server of servers) server.reload(closing);
      await Bun.sleep(waitMs);
      await Promise.race([Promise.all(servers.map((server) => server.stop())), Bun.sleep(drainLimitMs)]);
      await stopNow(servers);
    },
  };
}

function closingApp({ redirect, fetch }: App): App {
  return {
    redirect: { GET: closingConnection(redirect.GET), HEAD: closingConnection(redirect.HEAD) },
    fetch: closingConnection(fetch),
  };
}

/**
 * Takes the port for this process and its children, or a free one for 0, until the end of this process. Doesn't listen on it.
 * Throws {@link CannotListen}.
 */
export async function takePort(host: string, port: number): Promise<Disposable & { readonly port: number }> {
  using lock = new DisposableStack();
  const chosen = port === 0 ? await findPort(host, port) : port;
  try {
    lock.use(await lockPort(host, chosen));
  } catch (cause) {
    throw cannotListen(cause, host, chosen);
  }
  // Other programs, and children of a killed Curt, don't have the lock.
  await findPort(host, chosen);
  return Object.assign(lock.move(), { port: chosen });
}

/**
 * Locks the port on the addresses that `host` stands for, until the end of this process, also by SIGKILL. Processes of one user can
 * listen on the same port (SO_REUSEPORT), so the port itself doesn't refuse a second Curt. Children don't inherit the lock. Throws
 * EADDRINUSE if another process has it.
 * @internal
 */
export async function lockPort(host: string, port: number, platform = process.platform): Promise<Disposable> {
  using locks = new DisposableStack();
  for (const address of lockedAddresses(host)) {
    const name = `curt-${port}-${address.replaceAll(":", ".")}`;
    locks.use(platform === "linux" ? await lockName(name) : lockTemporaryFile(name));
  }
  return locks.move();
}

/** Clients may try either loopback address for localhost, so serve both. Some machines have no IPv6. */
function addressesOf(host: string): string[] {
  if (host !== "localhost") return [host];
  return localAddresses().includes("::1") ? ["127.0.0.1", "::1"] : ["127.0.0.1"];
}

/** All of the machine, if `host` stands for them. */
function lockedAddresses(host: string): string[] {
  return host === "0.0.0.0" || host === "::" ? localAddresses() : addressesOf(host);
}

function localAddresses(): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  return [...new Set(addresses.map(({ address }) => address))];
}

/** A name without a file, for as long as a socket has it. Like a port, it belongs to the network namespace, such as a container. */
async function lockName(name: string): Promise<Disposable> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const server = createServer((socket) => socket.destroy()).once("error", reject);
  server.listen({ path: `\0${name}` }, resolve).unref();
  await promise;
  return { [Symbol.dispose]: () => void server.close() };
}

/** The folder is the user's own, and so are the ports that the user's processes can share. */
function lockTemporaryFile(name: string): Disposable {
  const lock = lockFile(join(tmpdir(), `${name}.lock`));
  if (lock === undefined) throw Object.assign(new Error(`${name} is locked`), { code: "EADDRINUSE" });
  return lock;
}

/** Checks that the port is free, or chooses a free one for 0. */
async function findPort(host: string, port: number): Promise<number> {
  const servers = bind(host, port, { fetch: () => new Response(null, { status: 503 }) });
  const freePort = servers[0]?.port ?? port;
  await stopNow(servers);
  return freePort;
}

type BindOptions = {
  readonly fetch: (request: Request, server: Bun.Server<unknown>) => Response | Promise<Response>;
  readonly routes?: ReturnType<typeof handlers>["routes"];
  readonly reusePort?: boolean;
  readonly idleTimeout?: number;
  readonly tls?: KeyPair;
};

/** Handlers catch their own faults. If one doesn't, Bun's page would show paths and source lines to the client. */
export const NO_ERROR_PAGE = {
  development: false,
  error: () => new Response(null, { status: 500 }),
} as const;

/** Starts one server for each address of the host, all on the same port. Throws {@link CannotListen}. */
function bind(host: string, port: number, options: BindOptions): Bun.Server<unknown>[] {
  const servers: Bun.Server<unknown>[] = [];
  try {
    for (const hostname of addressesOf(host)) {
      const common = { hostname, port: servers[0]?.port ?? port, maxRequestBodySize: MAX_REQUEST_BODY_BYTES };
      servers.push(Bun.serve({ reusePort: false, ...options, ...common, ...NO_ERROR_PAGE }));
    }
    return servers;
  } catch (cause) {
    void stopNow(servers);
    throw cannotListen(cause, host, port);
  }
}

function cannotListen(cause: unknown, host: string, port: number): CannotListen {
  const reason = whyNotListen(cause, host, port);
  return new CannotListen(`cannot listen on HOST ${host}, PORT ${port}: ${reason}`, { cause });
}

/** Why Curt can't listen there, and what to do. */
export function whyNotListen(cause: unknown, host: string, port: number): string {
  const { code, message } = cause as NodeJS.ErrnoException;
  if (code === "EADDRINUSE") return "another program uses the port. Stop it, or set another port";
  if (code === "EACCES" && port < 1024)
    return "this user may not use a port below 1024. Set another port, or give Curt CAP_NET_BIND_SERVICE";
  // For an unknown name, Bun reports its last error.
  if (code === "EADDRNOTAVAIL" || (isIP(host) === 0 && host !== "localhost"))
    return "it is not an address of this machine. Set localhost, an address that `ip address` shows, or :: for all";
  return message;
}

async function stopNow(servers: readonly Bun.Server<unknown>[]): Promise<void> {
  await Promise.all(servers.map((server) => server.stop(true)));
}

/** Bun matches short addresses natively, which is fast. All other paths and methods go to `fetch`. */
function handlers({ redirect, fetch }: App) {
  return { fetch, routes: { "/:code": redirect, "/:code/": redirect } };
}

/** Closes the connection after each response, so that clients connect to another server before this one stops. */
function closingConnection<R extends unknown[]>(
  handle: (...request: R) => Response | Promise<Response>,
): (...request: R) => Promise<Response> {
  return async (...request) => {
    const response = await handle(...request);
    response.headers.set("Connection", "close");
    return response;
  };
}
