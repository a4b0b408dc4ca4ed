import type { Subprocess } from "bun";

import type { Config } from "../config/config.ts";
import type { Log } from "../lib/log.ts";
import { SYNC_FAILED } from "../links/link-store.ts";
import type { Member, ProcessGroup } from "../metrics/process-group.ts";
import { BEAT_MS, CHILD, type Order, type Report, type StartOrder } from "./child-process.ts";

/** Read at the start: once another file replaces the program, Bun calls it `curt (deleted)`. */
const EXECUTABLE = process.execPath;

/** How long a child's place stays empty after its end; doubled each time, up to the limit. */
const FIRST_WAIT_MS = 100;
const MAX_WAIT_MS = 5000;
/** A child that lived this long resets the wait. */
const LIVED_WELL_MS = 60_000;

const STOP_SIGNALS: ReadonlySet<unknown> = new Set<NodeJS.Signals>(["SIGTERM", "SIGINT"]);

/** A child that misses this many beats is killed. */
export const MAX_SILENT_BEATS = 10;

/** The processes that serve together: this process itself, or its children. */
export interface Generation {
  /** Resolves when all listen, or with false if one could not start and all were stopped. */
  readonly up: Promise<boolean>;
  /** Resolves with the exit code when all have ended. */
  readonly ended: Promise<number>;
  /** Process ids of the children. */
  pids(): number[];
  /** The files of the store that they have open. */
  readonly storeFiles: StartOrder["openElsewhere"];
  /** Lets the children read the files of tokens again. A process that serves by itself does so on SIGHUP. */
  readTokensAgain(): void;
  /** Stops gracefully. `isReplaced`: another generation keeps serving. */
  stop(reason: string, isReplaced?: boolean): void;
  /** Ends this process with `code` if it serves by itself. Otherwise call `stop` first, or new children replace the killed ones. */
  kill(code: number): void;
}

/**
 * Starts `config.processes` serving children, and replaces those that end, until the stop. `others` may serve meanwhile.
 *
 * A child runs the program that is on disk when it starts. Parent and child share a channel. The parent sends the port and the
 * files of the store that the other children have open. The child reports when it listens and which files it opened, and then
 * every second that it is alive. When the channel closes, the child shuts down. The system closes it if the parent is killed,
 * so no child outlives it.
 */
export class ProcessPool implements Generation {
  /** The version of Curt that the children run. */
  version = "";
  storeFiles: Generation["storeFiles"];
  readonly up: Promise<boolean>;
  readonly ended: Promise<number>;
  private readonly running = new Set<Subprocess>();
  private isStopping = false;
  /** Resolved by a stop. */
  private readonly stopped = Promise.withResolvers<void>();
  private areOthersGone: boolean;

  constructor(
    private readonly config: Pick<Config, "processes" | "port">,
    private readonly log: Log,
    private readonly group: ProcessGroup | undefined,
    others?: Generation,
  ) {
    this.storeFiles = others?.storeFiles;
    this.areOthersGone = others === undefined;
    void others?.ended.then(() => (this.areOthersGone = true));
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.up = promise;
    this.ended = this.startAll(resolve);
  }

  pids(): number[] {
    return Array.from(this.running, ({ pid }) => pid);
  }

  /** A child that hasn't started yet reads the files when it does. */
  readTokensAgain(): void {
    for (const child of this.running) send(child, { isTokenFileNew: true });
  }

  stop(reason: string, isReplaced = false): void {
    if (this.isStopping) return;
    this.isStopping = true;
    this.stopped.resolve();
    // Not by a signal, which a starting child may not handle yet. The channel stays open, so that a hung child is noticed.
    for (const child of this.running) send(child, isReplaced ? { replaced: reason } : { stop: reason });
  }

  kill(): void {
    for (const child of this.running) child.kill("SIGKILL");
  }

  private async startAll(onUp: (areUp: boolean) => void): Promise<number> {
    // Only the first child creates or migrates the store, and reports problems with it.
    const first = this.place();
    await first.up;
    const further = this.isStopping
      ? []
      : Array.from({ length: this.config.processes - 1 }, () => this.place());
    await Promise.all(further.map((each) => each.up));
    onUp(!this.isStopping);
    const codes = await Promise.all([first, ...further].map(({ ended }) => ended));
    // A wrong configuration may only show when a child opens a file.
    if (codes.includes(2)) return 2;
    if (codes.includes(SYNC_FAILED)) return SYNC_FAILED;
    return codes.every((code) => code === 0) ? 0 : 1;
  }

  private place() {
    const { promise: up, resolve } = Promise.withResolvers<void>();
    return { up, ended: this.fill(resolve).finally(resolve) };
  }

  /** Keeps one place filled until the stop. Resolves with the exit code of its last child. */
  private async fill(up: () => void): Promise<number> {
    const { log, stopped } = this;
    let waitMs = FIRST_WAIT_MS;
    let hasListened = false;
    for (;;) {
      const startedMs = performance.now();
      const end = await this.runChild((child) => {
        if (hasListened) log.info({ child }, "another process replaced it");
        hasListened = true;
        up();
      });
      // A signal to all processes also ends a child that has hardly started. Our own signal may arrive a moment later.
      const isSignalled = STOP_SIGNALS.has(end.signal);
      if (isSignalled) await Promise.race([stopped.promise, Bun.sleep(FIRST_WAIT_MS)]);
      if (end.code === SYNC_FAILED) {
        // All processes share the log's index, which may count lost pages as written. It disappears with the last process.
        this.isStopping = true;
        stopped.resolve();
        this.kill();
        return end.code;
      }
      if (this.isStopping) return isSignalled ? 0 : end.code;
      if (!hasListened) {
        log.error(end, "a process could not start");
        this.stop("a process could not start");
        return end.code || 1;
      }
      log.warn(end, "a process ended");
      if (performance.now() - startedMs >= LIVED_WELL_MS) waitMs = FIRST_WAIT_MS;
      await Promise.race([stopped.promise, Bun.sleep(waitMs)]);
      if (this.isStopping) return 0;
      waitMs = Math.min(waitMs * 2, MAX_WAIT_MS);
    }
  }

  /** Runs one child. Resolves with how it ended. */
  private async runChild(onListening: (child: number) => void) {
    const { running, group, log } = this;
    let watching: NodeJS.Timeout | undefined;
    let member: Member | undefined;
    try {
      // Without other processes, the WAL may be gone: the last one removes it when it closes the store.
      const isAlone = running.size === 0 && this.areOthersGone;
      const openElsewhere = this.storeFiles?.slice(0, isAlone ? 1 : this.storeFiles.length);
      let silentBeats = 0;
      const child = startChild({ port: this.config.port, openElsewhere }, (report) => {
        silentBeats = 0;
        if (report.metrics !== undefined) member?.answer(report.metrics);
        if (report.files === undefined) return;
        this.storeFiles = report.files;
        this.version = report.version ?? "";
        member = group?.join((request) => child.send(request));
        onListening(child.pid);
        watch();
      });
      const watch = () => {
        watching ??= setInterval(() => {
          // Count missing beats, not seconds, so that a suspended machine kills nobody.
          if (++silentBeats !== MAX_SILENT_BEATS) return;
          log.warn({ child: child.pid }, "a process is hung and will be killed");
          child.kill("SIGKILL");
        }, BEAT_MS);
      };
      running.add(child);
      // A starting child sends no beats, because a migration may take long. During a stop, it has as long as the others.
      void this.stopped.promise.then(() => running.has(child) && watch());
      const code = await child.exited;
      running.delete(child);
      return { child: child.pid, code, signal: child.signalCode ?? undefined };
    } catch (err) {
      return { code: 1, err };
    } finally {
      clearInterval(watching);
      member?.leave();
    }
  }
}

function send(child: Subprocess, order: Order): void {
  try {
    child.send(order);
  } catch {
    // The child has just ended.
  }
}

function startChild(order: StartOrder, onReport: (report: Report) => void): Subprocess {
  const child = Bun.spawn([...ownProgram(), CHILD], {
    stdio: ["ignore", "inherit", "inherit"],
    serialization: "json",
    ipc: onReport,
  });
  child.send(order);
  return child;
}

/** The command line that starts whatever program is at this program's path now. */
export function ownProgram(): string[] {
  return [EXECUTABLE, ...(Bun.isStandaloneExecutable ? [] : [...process.execArgv, Bun.main])];
}
