import type { Config } from "../config/config.ts";
import { createLog, type Log } from "../lib/log.ts";
import { VERSION } from "../lib/version.ts";
import { isPrivateHost } from "../links/target.ts";
import type { Member } from "../metrics/members.ts";
import { type Generation, type Members, startChildren } from "../server/children.ts";
import { warnOfReaders } from "../server/file-permissions.ts";
import { findPort } from "../server/listen.ts";
import { warnOfLittleRoom } from "../server/memory-limit.ts";
import { run } from "../server/run.ts";
import { prepareBackups, startBackups } from "../server/scheduled-backups.ts";
import { identifyStore } from "../store/open.ts";

/**
 * Serves until SIGTERM or SIGINT, in this process or in `config.processes` children, then resolves with the exit code. A second
 * signal ends all at once. On SIGUSR2, new children of the program that is on disk then take over: an update without a
 * pause. Throws CannotListen and ConfigError.
 */
export async function serve(settings: Config): Promise<number> {
  const isAlone = settings.processes === 1;
  const log = createLog(settings.logLevel, process.stdout, isAlone ? undefined : { pid: process.pid });
  /** Undefined until something is to serve. */
  let current: Generation | undefined;
  /** Those that are to take over, and then those that were taken over from. */
  let beside: Generation | undefined;
  let isStarted = false;
  let isStopping = false;
  // From now on, because a migration may take long.
  process.on("SIGUSR2", () => {
    if (current !== undefined && isStarted && !isStopping && beside === undefined) void handOver(current);
    else log.warn("SIGUSR2 is ignored while Curt starts, stops or is taken over");
  });
  // A second Curt would silently share the port. Binding it once without sharing finds that out.
  const port = await findPort(settings.host, settings.port);
  prepareBackups(settings);
  const config = { ...settings, port };
  const metrics = await startMetrics(config);
  let endBackups = async () => {};

  for (const reason of ["SIGTERM", "SIGINT"] as const) {
    process.on(reason, () => {
      if (current === undefined) process.exit(0);
      if (!isStopping && current.pids().length > 0) log.info({ reason }, "stopping");
      for (const generation of [current, beside]) {
        if (isStopping) generation?.kill();
        else generation?.stop(reason);
      }
      isStopping = true;
      void endBackups();
    });
  }

  async function handOver(old: Generation): Promise<void> {
    const children = startChildren(config, log, metrics?.members, old);
    beside = children;
    const isUp = await children.up;
    if (isUp && !isStopping) {
      beside = old;
      current = children;
      log.info({ children: children.pids() }, `Curt ${children.version()} takes over`);
      beside.stop("new processes take over", true);
      // What the old ones have counted since they were last asked would end with them.
      await metrics?.members.read();
    } else if (!isStopping) log.error("the new processes could not start: the old ones go on");
    await beside.ended;
    beside = undefined;
    if (isUp && !isStopping) log.info("the old processes have ended");
  }

  current = isAlone
    ? await serveHere(config, log, metrics?.members)
    : startChildren(config, log, metrics?.members);
  if (await current.up) {
    isStarted = true;
    if (isAlone) log.info(listensOn(config, port));
    else
      log.info({ children: current.pids() }, `${listensOn(config, port)}, in ${config.processes} processes`);
    if (metrics !== undefined) log.info(metrics.about);
    for (const misspelling of config.misspellings)
      log.warn(misspelling, "a setting may be misspelt: the environment has `name`, and nothing reads it");
    warnOfPlainAddress(config, log);
    warnOfOneClient(config, log);
    warnOfLittleRoom(config, log);
    warnOfReaders(config.database, log);
    endBackups = startBackups(config, log);
  }
  for (;;) {
    const generation: Generation = current;
    const code = await generation.ended;
    if (generation !== current) continue;
    beside?.stop("the others ended");
    await beside?.ended;
    await endBackups();
    if (isStarted || isStopping) log.info("stopped");
    return code;
  }
}

/** Undefined if there are to be none. They are loaded only here, because nothing else needs them. Throws CannotListen. */
async function startMetrics({ metrics, processes }: Config) {
  if (metrics === null) return undefined;
  const [{ createMembers }, { serveMetrics }] = await Promise.all([
    import("../metrics/members.ts"),
    import("../metrics/serve.ts"),
  ]);
  const members = createMembers(processes);
  const port = serveMetrics(metrics, members.read);
  return {
    members,
    about: `metrics for Prometheus are at http://${hostInUrl(metrics.host)}:${port}/metrics`,
  };
}

/** Serves in this process, which then is a child less to start and to keep. */
async function serveHere(config: Config, log: Log, members?: Members): Promise<Generation> {
  const { stop, exit, readMetrics } = await run(config, log);
  const member: Member | undefined = members?.join((request) => {
    void readMetrics?.(request).then((reading) => member?.answer(reading));
  });
  void exit.then(() => member?.leave());
  return {
    up: Promise.resolve(true),
    ended: exit,
    pids: () => [],
    storeFiles: () => identifyStore(config.database),
    stop: (reason, isReplaced) => void stop(reason, 0, isReplaced),
    kill: () => process.exit(1),
  };
}

function listensOn({ host, baseUrl, tlsCert }: Config, port: number): string {
  return `Curt ${VERSION} listens on ${tlsCert === null ? "http" : "https"}://${hostInUrl(host)}:${port} and makes links at ${baseUrl}`;
}

function warnOfPlainAddress({ baseUrl }: Config, log: Log): void {
  const { protocol, hostname } = new URL(baseUrl);
  if (protocol === "http:" && !isPrivateHost(hostname))
    log.warn(
      "BASE_URL begins with http://: whoever is on the way can change where links lead. Serve HTTPS, and set BASE_URL to https://…",
    );
}

/** If only this machine can reach a public service, all visitors come through a proxy. */
function warnOfOneClient(config: Config, log: Log): void {
  const { host, posture, trustedProxies, tlsCert } = config;
  const { limitCreate, limitUnknown, limitView, limitReport, limitPasswords } = config;
  const limits = [limitCreate, limitUnknown, limitView, limitReport, limitPasswords];
  const isLocal = host === "localhost" || host === "::1" || host.startsWith("127.");
  if (
    limits.some(({ length }) => length > 0) &&
    isLocal &&
    // Who lets Curt serve HTTPS has no proxy that could append to X-Forwarded-For.
    tlsCert === null &&
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
