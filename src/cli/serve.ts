import type { Config } from "../config/config.ts";
import { describePlace } from "../config/database-url.ts";
import { prepareFolders } from "../config/folders.ts";
import { startWarnings } from "../config/start-warnings.ts";
import { createLog, escapeLine, type Log } from "../lib/log.ts";
import { VERSION } from "../lib/version.ts";
import { SYNC_FAILED } from "../links/link-store.ts";
import type { Member, ProcessGroup } from "../metrics/process-group.ts";
import { takePort } from "../server/listen.ts";
import { type Generation, ProcessPool } from "../server/process-pool.ts";
import { run } from "../server/run.ts";
import { startBackups } from "../server/scheduled-backups.ts";
import { identifyStore } from "../store/open.ts";

/** Terminals, systemd and timeout signal both npm and Curt, and npm passes its signal on. Curt counts the two as one. */
export const SAME_SIGNAL_MS = 500;

/**
 * Serves until SIGTERM or SIGINT, in this process or in PROCESSES children, then resolves with the exit code. A second signal
 * kills them. On SIGUSR2, new children of the program on disk take over: an update without a pause. Throws CannotListen and
 * ConfigError.
 */
export async function serve(settings: Config): Promise<number> {
  const isAlone = settings.processes === 1;
  const log = createLog(settings.logLevel, process.stdout, isAlone ? undefined : { pid: process.pid });
  /** Undefined during the start. */
  let current: Generation | undefined;
  /** During a hand-over: first the new processes, then the old ones. */
  let beside: Generation | undefined;
  let isStarted = false;
  let isStopping = false;
  /** After a failed sync in any process, all have to end. */
  let hasSyncFailed = false;
  // Registered now, because a migration may take long.
  process.on("SIGUSR2", () => {
    if (current !== undefined && isStarted && !isStopping && beside === undefined) void handOver(current);
    else log.warn("SIGUSR2 is ignored while Curt starts, stops or is taken over");
  });
  if (settings.adminTokenFile ?? settings.createTokenFile)
    process.on("SIGHUP", () => [current, beside].forEach((generation) => generation?.readTokensAgain()));
  // A second Curt would silently share the port.
  using place = await takePort(settings.host, settings.port);
  prepareFolders(settings);
  const config = { ...settings, port: place.port };
  const metrics = await startMetrics(config);
  let endBackups = async () => {};

  for (const reason of ["SIGTERM", "SIGINT"] as const) {
    let receivedMs = Number.NEGATIVE_INFINITY;
    process.on(reason, () => {
      if (current === undefined) process.exit(0);
      if (performance.now() - receivedMs < SAME_SIGNAL_MS) return;
      receivedMs = performance.now();
      if (!isStopping && current.pids().length > 0) log.info({ reason }, "stopping");
      for (const generation of [current, beside]) {
        if (isStopping) generation?.kill(1);
        else generation?.stop(reason);
      }
      isStopping = true;
      void endBackups();
    });
  }

  async function handOver(old: Generation): Promise<void> {
    const children = new ProcessPool(config, log, metrics?.group, old);
    beside = children;
    const isUp = await children.up;
    if (isUp && !isStopping) {
      beside = old;
      current = children;
      log.info({ children: children.pids() }, `Curt ${children.version} takes over`);
      beside.stop("new processes take over", true);
      // Otherwise the latest counts of the old processes would be lost.
      await metrics?.group.read();
    } else if (!isStopping) log.error("the new processes could not start: the old ones keep serving");
    if ((await beside.ended) === SYNC_FAILED) {
      hasSyncFailed = true;
      current?.stop("a sync failed");
      current?.kill(SYNC_FAILED);
    }
    beside = undefined;
    if (isUp && !isStopping) log.info("the old processes have ended");
  }

  current = isAlone
    ? await serveHere(config, log, metrics?.group)
    : new ProcessPool(config, log, metrics?.group);
  if (await current.up) {
    isStarted = true;
    if (process.stdout.isTTY && log.isLevelEnabled("info")) process.stdout.write(greeting(config));
    else log.info(isAlone ? {} : { children: current.pids() }, listensOn(config));
    if (metrics !== undefined) log.info(metrics.about);
    for (const { text, fields = {} } of startWarnings(config)) log.warn(fields, text);
    endBackups = startBackups(config, log);
  }
  for (;;) {
    const generation: Generation = current;
    const code = await generation.ended;
    if (generation !== current) continue;
    if (code === SYNC_FAILED) hasSyncFailed = true;
    beside?.stop("the others ended");
    if (hasSyncFailed) beside?.kill(SYNC_FAILED);
    await beside?.ended;
    await endBackups();
    if (isStarted || isStopping) log.info("stopped");
    return hasSyncFailed ? SYNC_FAILED : code;
  }
}

/** Undefined if METRICS_PORT is off. Loads the modules only here, because nothing else needs them. Throws CannotListen. */
async function startMetrics({ metrics, processes }: Config) {
  if (metrics === null) return undefined;
  const [{ createProcessGroup }, { serveMetrics }] = await Promise.all([
    import("../metrics/process-group.ts"),
    import("../server/metrics-server.ts"),
  ]);
  const group = createProcessGroup(processes);
  const port = serveMetrics(metrics, group.read);
  return {
    group,
    about: `metrics for Prometheus are at http://${hostInUrl(metrics.host)}:${port}/metrics`,
  };
}

/** Serves in this process, which saves a child. */
async function serveHere(config: Config, log: Log, group?: ProcessGroup): Promise<Generation> {
  const { stop, exit, readMetrics } = await run(config, log);
  const member: Member | undefined = group?.join((request) => {
    void readMetrics?.(request).then((reading) => member?.answer(reading));
  });
  void exit.then(() => member?.leave());
  return {
    up: Promise.resolve(true),
    ended: exit,
    pids: () => [],
    get storeFiles() {
      return identifyStore(config.database);
    },
    readTokensAgain() {},
    stop: (reason, isReplaced) => void stop(reason, 0, isReplaced),
    kill: (code) => process.exit(code),
  };
}

function listensOn(config: Config): string {
  const { baseUrl, processes } = config;
  const where = `${originOf(config)}${processes === 1 ? "" : ` in ${processes} processes`}`;
  return `Curt ${VERSION} listens on ${where} and creates links at ${baseUrl}; its data is in ${describePlace(config)}`;
}

/** The first things that people need, on a terminal. */
function greeting(config: Config): string {
  const { baseUrl, processes } = config;
  const origin = originOf(config);
  const lines = [
    `Curt ${VERSION} is running${processes === 1 ? "" : ` in ${processes} processes`}.`,
    "",
    `  Open it at:    ${baseUrl}`,
    ...(origin === baseUrl ? [] : [`  It listens on: ${origin}`]),
    `  Data is in:    ${describePlace(config)}`,
    "  Stop it with:  Ctrl+C",
    "",
  ];
  return `${lines.map(escapeLine).join("\n")}\n`;
}

function originOf({ host, port, tlsCert }: Config): string {
  return `${tlsCert === null ? "http" : "https"}://${hostInUrl(host)}:${port}`;
}

function hostInUrl(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
