import type { Subprocess } from "bun";

import type { Config } from "../config/config.ts";
import type { Log } from "../lib/log.ts";
import type { createMembers, Member } from "../metrics/members.ts";
import { BEAT_MS, CHILD, type Order, type Orders, type Report } from "./child.ts";
import { ownProgram } from "./own-program.ts";

/** How long a child's place stays empty after its end; doubled each time, up to the limit. */
const FIRST_WAIT_MS = 100;
const MAX_WAIT_MS = 5000;
/** A child that lived this long starts the waits anew. */
const LIVED_WELL_MS = 60_000;

const TOLD_TO_STOP: ReadonlySet<unknown> = new Set<NodeJS.Signals>(["SIGTERM", "SIGINT"]);

/** A child that was silent for so many beats is ended. */
const MAX_SILENT_BEATS = 10;

/** What serves at a time: this process itself, or its children. */
export interface Generation {
  /** Resolves when all listen, or with false if one could not start and all were stopped. */
  readonly up: Promise<boolean>;
  /** Resolves with the exit code when all have ended. */
  readonly ended: Promise<number>;
  /** Process ids of children. */
  pids(): number[];
  /** The files of the store that they have open. */
  storeFiles(): Orders["openElsewhere"];
  /** Stops gracefully. `isReplaced`: another generation serves on. */
  stop(reason: string, isReplaced?: boolean): void;
  kill(): void;
}

export type Members = ReturnType<typeof createMembers>;

export interface Children extends Generation {
  /** The version that they are. */
  version(): string;
}

/**
 * Starts `config.processes` children that serve, and replaces those that end until they are to stop. They may start beside
 * others, which serve until then.
 *
 * A child runs the program that is on disk when it starts. Parent and child share a channel. The parent sends the port and the
 * files of the store that the other children have open. The child reports when it listens and which files it opened, and then
 * every second that it is alive. When the channel closes, the child shuts down. The system closes it if the parent is killed,
 * so no child outlives it.
 */
export function startChildren(
  { processes, port }: Pick<Config, "processes" | "port">,
  log: Log,
  members: Members | undefined,
  others?: Generation,
): Children {
  const running = new Set<Subprocess>();
  const listening = new Set<Subprocess>();
  const { promise: stopped, resolve: endWaits } = Promise.withResolvers<void>();
  let stopping = false;
  let storeFiles = others?.storeFiles();
  let areOthersGone = others === undefined;
  void others?.ended.then(() => (areOthersGone = true));
  let version = "";

  function stop(reason: string, isReplaced = false): void {
    if (stopping) return;
    stopping = true;
    endWaits();
    for (const child of running) {
      if (isReplaced) tell(child, { replaced: reason });
      // The channel stays open, so that a child that hangs while it stops is noticed.
      else if (listening.has(child)) child.kill("SIGTERM");
      // One that still starts may not handle signals yet, and sends no beats.
      else child.disconnect();
    }
  }

  /** The life of one child; resolves with its end. */
  async function live(onListening: (child: number) => void) {
    let watching: NodeJS.Timeout | undefined;
    let member: Member | undefined;
    try {
      // If no other process runs, the WAL may be gone, because the last one removed it when it closed the store.
      const isAlone = running.size === 0 && areOthersGone;
      const openElsewhere = storeFiles?.slice(0, isAlone ? 1 : storeFiles.length);
      let silentBeats = 0;
      const child = startChild({ port, openElsewhere }, (report) => {
        silentBeats = 0;
        if (report.metrics !== undefined) member?.answer(report.metrics);
        if (report.files === undefined) return;
        storeFiles = report.files;
        version = report.version ?? "";
        member = members?.join((request) => child.send(request));
        listening.add(child);
        onListening(child.pid);
        watching = setInterval(() => {
          // Count missing beats, not seconds, so that a suspended machine kills nobody.
          if (++silentBeats !== MAX_SILENT_BEATS) return;
          log.warn({ child: child.pid }, "a process is hung and will be killed");
          child.kill("SIGKILL");
        }, BEAT_MS);
      });
      running.add(child);
      const code = await child.exited;
      running.delete(child);
      listening.delete(child);
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
      // Whoever signals all processes at once also ends a child that has hardly begun. Our own signal may be told a moment later.
      const wasTold = TOLD_TO_STOP.has(end.signal);
      if (wasTold) await Promise.race([stopped, Bun.sleep(FIRST_WAIT_MS)]);
      if (stopping) return wasTold ? 0 : end.code;
      if (!hasListened) {
        log.error(end, "a process could not start");
        stop("a process could not start");
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

  const { promise: up, resolve: tellUp } = Promise.withResolvers<boolean>();
  async function startAll(): Promise<number> {
    // The first child creates or migrates the store, and only it reports what is wrong with it.
    const first = place();
    await first.up;
    const further = stopping ? [] : Array.from({ length: processes - 1 }, place);
    await Promise.all(further.map((each) => each.up));
    tellUp(!stopping);
    const codes = await Promise.all([first, ...further].map(({ ended }) => ended));
    // That the configuration is wrong may only show once a child opens what it names.
    if (codes.includes(2)) return 2;
    return codes.every((code) => code === 0) ? 0 : 1;
  }

  return {
    up,
    ended: startAll(),
    pids: () => Array.from(running, ({ pid }) => pid),
    storeFiles: () => storeFiles,
    version: () => version,
    stop,
    kill() {
      for (const child of running) child.kill("SIGKILL");
    },
  };
}

function tell(child: Subprocess, order: Order): void {
  try {
    child.send(order);
  } catch {
    // It has just ended.
  }
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
