import type { Config } from "../config.ts";
import { findPort } from "../http/server.ts";
import { startHttps } from "../https/start.ts";
import { createLog, type Log } from "../log.ts";
import type { Member } from "../metrics/members.ts";
import { type Service, startService } from "../service.ts";
import { VERSION } from "../version.ts";
import { startBackups } from "./backups.ts";

/** Serves until SIGTERM or SIGINT, then resolves with the exit code. A second signal ends the process at once. */
export async function serve(settings: Config): Promise<number> {
  const log = createLog(settings.logLevel, process.stdout);
  const { config, https } = await prepareHttps(settings, log);
  const metrics = await startMetrics(config, 1);
  const { port, stop, exit, readMetrics } = await run(config, log);
  const member: Member | undefined = metrics?.members.join((request) => {
    void readMetrics?.(request).then((reading) => member?.answer(reading));
  });
  const endBackups = startBackups(config, log);
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      void endBackups();
      if (!stop(signal, 0)) process.exit(1);
    });
  }
  log.info(listensOn(config, port));
  if (metrics !== undefined) log.info(metrics.about);
  warnOfOneClient(config, log);
  const code = await exit;
  await endBackups();
  await https?.stop();
  return code;
}

/** Waits for a certificate, so that nobody meets a wrong one. Throws CannotListen if a port is taken. */
export async function prepareHttps(config: Config, log: Log) {
  if (config.https === null) return { config };
  // A server whose certificate can be replaced would silently share the port with a second Curt.
  const port = await findPort(config.host, config.port);
  const https = startHttps(config, config.https, log);
  await https.ready;
  return { config: { ...config, port }, https };
}

/** Undefined if there are to be none. They are loaded only here, because nothing else needs them. Throws CannotListen. */
export async function startMetrics({ metricsHost: host, metricsPort }: Config, processes: number) {
  if (metricsPort === null) return undefined;
  const [{ createMembers }, { serveMetrics }] = await Promise.all([
    import("../metrics/members.ts"),
    import("../metrics/serve.ts"),
  ]);
  const members = createMembers(processes);
  const port = serveMetrics(host, metricsPort, members.read);
  return { members, about: `metrics for Prometheus are at http://${hostInUrl(host)}:${port}/metrics` };
}

export interface Run {
  readonly port: number;
  readonly readMetrics: Service["readMetrics"];
  /** Stops gracefully; `exit` then resolves with `code`. Returns false if it is already stopping. */
  stop(reason: string, code: number): boolean;
  readonly exit: Promise<number>;
}

/** Runs the service in this process. */
export async function run(config: Config, log: Log): Promise<Run> {
  const { promise: exit, resolve: exitWith } = Promise.withResolvers<number>();
  const service = await startService(config, log);
  let stopping = false;
  function stop(reason: string, code: number): boolean {
    if (stopping) return false;
    stopping = true;
    log.info({ reason }, "stopping");
    service.stop().then(
      () => exitWith(code),
      (err: unknown) => {
        log.error({ err }, "could not stop gracefully");
        exitWith(1);
      },
    );
    return true;
  }
  // These are bugs. Log them, finish the open requests and exit, so that a supervisor can start a fresh process.
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(event, (err: unknown) => {
      log.error({ err }, event);
      stop(event, 1);
    });
  }
  return { port: service.port, readMetrics: service.readMetrics, stop, exit };
}

export function listensOn({ host, baseUrl, https }: Config, port: number): string {
  return `Curt ${VERSION} listens on ${https === null ? "http" : "https"}://${hostInUrl(host)}:${port} and makes links at ${baseUrl}`;
}

/** If only this machine can reach a public service, all visitors come through a proxy. */
export function warnOfOneClient(config: Config, log: Log): void {
  const { host, posture, trustedProxies } = config;
  const { limitCreate, limitUnknown, limitView, limitReport, limitPasswords } = config;
  const limits = [limitCreate, limitUnknown, limitView, limitReport, limitPasswords];
  const isLocal = host === "localhost" || host === "::1" || host.startsWith("127.");
  if (
    limits.some(({ length }) => length > 0) &&
    isLocal &&
    posture === "public" &&
    trustedProxies.length === 0
  )
    log.warn(
      "all visitors count as one client, because they come through a proxy on this machine: set TRUSTED_PROXIES=127.0.0.1,::1 " +
        "and let the proxy append to X-Forwarded-For, or set LIMIT_CREATE, LIMIT_UNKNOWN, LIMIT_VIEW, LIMIT_REPORT and LIMIT_PASSWORDS to off",
    );
}

function hostInUrl(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
