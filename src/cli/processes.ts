import type { Subprocess } from "bun";

import type { Config } from "../config.ts";
import { findPort } from "../http/server.ts";
import { createLog } from "../log.ts";
import type { Reading } from "../metrics/catalogue.ts";
import type { Member } from "../metrics/members.ts";
import type { ReadingRequest } from "../metrics/reading.ts";
import { identifyStore } from "../store/open.ts";
import { startBackups } from "./backups.ts";
import { ownProgram } from "./program.ts";
import { listensOn, prepareHttps, run, startMetrics, warnOfOneClient } from "./serve.ts";

/** How long a child's place stays empty after its end; doubled each time, up to the limit. */
const FIRST_WAIT_MS = 100;
const MAX_WAIT_MS = 5000;
/** A child that lived this long starts the waits anew. */
const LIVED_WELL_MS = 60_000;

/** How often a child says that it is alive. */
const BEAT_MS = 1000;
/** A child that was silent for so many beats is ended. */
const MAX_SILENT_BEATS = 10;

/** The internal command that the supervisor starts its children with. */
export const CHILD = "child";

/** What the supervisor sends to a child at its start. */
type Orders = Pick<Config, "port" | "openElsewhere">;

/** A child sends this every second to show that it is alive. */
interface Report {
  /** The files of the store that it has open. Sent once, when it starts to listen. */
  readonly files?: readonly string[];
  /** What was asked for. */
  readonly metrics?: Reading;
}

/**
 * Starts `config.processes` children that serve, replaces those that end, and stops them on SIGTERM or SIGINT. A second
 * signal ends them at once. Resolves with the exit code. Throws CannotListen.
 *
 * Supervisor and child share a channel. The supervisor sends the port and the files of the store that the other children
 * have open. The child reports when it listens and which files it opened, and then every second that it is alive. When
 * the channel closes, the child shuts down. The system closes it if the supervisor is killed, so no child outlives it.
 */
export async function supervise(config: Config): Promise<number> {
  const log = createLog(config.logLevel, process.stdout, { pid: process.pid });
  // The children would silently share the port with a second Curt. Binding it once without sharing finds that out.
  const port = await findPort(config.host, config.port);
  const { https } = await prepareHttps({ ...config, port }, log);
  const metrics = await startMetrics(config, config.processes);
  const children = new Set<Subprocess>();
  const { promise: stopped, resolve: endWaits } = Promise.withResolvers<void>();
  let stopping = false;
  /** The files of the store that the children have open; undefined until the first child reports them. */
  let storeFiles: Report["files"];
  let endBackups = async () => {};

  function stop(): void {
    stopping = true;
    void endBackups();
    endWaits();
    for (const child of children) child.disconnect();
  }

  for (const reason of ["SIGTERM", "SIGINT"] as const) {
    process.on(reason, () => {
      if (stopping) {
        for (const child of children) child.kill("SIGKILL");
      } else {
        log.info({ reason }, "stopping");
        stop();
      }
    });
  }

  /** The life of one child; resolves with its end. */
  async function live(listening: (child: number) => void) {
    let watching: NodeJS.Timeout | undefined;
    let member: Member | undefined;
    try {
      // If no other child runs, the WAL may be gone, because the last child removed it when it closed the store.
      const openElsewhere = storeFiles?.slice(0, children.size > 0 ? storeFiles.length : 1);
      let silentBeats = 0;
      const child = startChild({ port, openElsewhere }, ({ files, metrics: reading }) => {
        silentBeats = 0;
        if (reading !== undefined) member?.answer(reading);
        if (files === undefined) return;
        storeFiles = files;
        member = metrics?.members.join((request) => child.send(request));
        listening(child.pid);
        watching = setInterval(() => {
          // Count missing beats, not seconds, so that a suspended machine kills nobody. During a stop children have
          // no channel any more, and may take their time.
          if (stopping || ++silentBeats !== MAX_SILENT_BEATS) return;
          log.warn({ child: child.pid }, "a process is hung and will be killed");
          child.kill("SIGKILL");
        }, BEAT_MS);
      });
      children.add(child);
      const code = await child.exited;
      children.delete(child);
      return { child: child.pid, code, signal: child.signalCode ?? undefined };
    } catch (err) {
      return { code: 1, err };
    } finally {
      clearInterval(watching);
      member?.leave();
    }
  }

  /** Keeps one place filled until the stop; resolves with the exit code of its last child. */
  async function fill(up: () => void): Promise<number> {
    let waitMs = FIRST_WAIT_MS;
    let hasListened = false;
    for (;;) {
      const startedMs = performance.now();
      const end = await live((child) => {
        if (hasListened) log.info({ child }, "another process took its place");
        hasListened = true;
        up();
      });
      if (stopping) return end.code;
      if (!hasListened) {
        log.error(end, "a process could not start");
        stop();
        return end.code || 1;
      }
      log.warn(end, "a process ended");
      if (performance.now() - startedMs >= LIVED_WELL_MS) waitMs = FIRST_WAIT_MS;
      await Promise.race([stopped, Bun.sleep(waitMs)]);
      if (stopping) return 0;
      waitMs = Math.min(waitMs * 2, MAX_WAIT_MS);
    }
  }

  function place() {
    const { promise: up, resolve } = Promise.withResolvers<void>();
    return { up, ended: fill(resolve).finally(resolve) };
  }

  // The first child creates or migrates the store, and only it reports what is wrong with it.
  const first = place();
  await first.up;
  const others = stopping ? [] : Array.from({ length: config.processes - 1 }, place);
  await Promise.all(others.map(({ up }) => up));
  if (!stopping) {
    const pids = Array.from(children, ({ pid }) => pid);
    log.info({ children: pids }, `${listensOn(config, port)}, in ${config.processes} processes`);
    if (metrics !== undefined) log.info(metrics.about);
    warnOfOneClient(config, log);
    endBackups = startBackups(config, log);
  }
  const codes = await Promise.all([first, ...others].map(({ ended }) => ended));
  await endBackups();
  await https?.stop();
  // That the configuration is wrong may only show once a child opens what it names.
  if (codes.includes(2)) return 2;
  return codes.every((code) => code === 0) ? 0 : 1;
}

function startChild(orders: Orders, onReport: (report: Report) => void): Subprocess {
  const child = Bun.spawn([...ownProgram(), CHILD], {
    stdio: ["ignore", "inherit", "inherit"],
    serialization: "json",
    ipc: onReport,
  });
  child.send(orders);
  return child;
}

/** Serves on the port that the supervisor says, until it lets go; resolves with the exit code. */
export async function serveAsChild(config: Config): Promise<number> {
  if (process.send === undefined) {
    console.error(`curt: ${CHILD} is what serve starts when PROCESSES is above 1. Run curt serve.`);
    return 2;
  }
  const { promise: stopped, resolve: stop } = Promise.withResolvers<string>();
  // A terminal and systemd signal all processes at once, and the supervisor lets go as well: whatever comes first
  // counts. Whom a second signal ends, the supervisor decides.
  for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => stop(signal));
  process.on("disconnect", () => stop("the supervisor let go"));
  const { promise: told, resolve: tell } = Promise.withResolvers<Orders>();
  process.once("message", tell);
  const orders = await Promise.race([told, stopped]);
  if (typeof orders === "string") return 0;

  const log = createLog(config.logLevel, process.stdout, { pid: process.pid });
  const service = await run({ ...config, ...orders }, log);
  const report = (what: Report) => void (process.connected && process.send?.(what));
  report({ files: identifyStore(config.database) });
  const answer = async (request: ReadingRequest) => {
    const metrics = await service.readMetrics?.(request);
    if (metrics !== undefined) report({ metrics });
  };
  process.on("message", (request: ReadingRequest) => void answer(request));
  const beating = setInterval(() => report({}), BEAT_MS);
  void service.exit.finally(() => clearInterval(beating));
  void stopped.then((reason) => service.stop(reason, 0));
  return service.exit;
}
