import type { Config } from "../config/config.ts";
import type { Log } from "../lib/log.ts";
import { SYNC_FAILED, SyncFailed } from "../links/link-store.ts";
import { type Service, startService } from "./service.ts";

/** Time for responses that report the failure to leave. */
const RESPOND_MS = 100;

export interface Run {
  readonly port: number;
  readonly readMetrics: Service["readMetrics"];
  /**
   * Stops gracefully, then resolves `exit` with `code`. Returns false if it is already stopping. `isReplaced`: other processes
   * keep serving.
   */
  stop(reason: string, code: number, isReplaced?: boolean): boolean;
  readonly exit: Promise<number>;
}

/** Runs the service in this process. */
export async function run(config: Config, log: Log): Promise<Run> {
  const { promise: exit, resolve: exitWith } = Promise.withResolvers<number>();
  const service = await startService(config, log);
  let stopping = false;
  let hasSyncFailed = false;
  function stop(reason: string, code: number, isReplaced?: boolean): boolean {
    if (stopping) return false;
    stopping = true;
    log.info({ reason }, "stopping");
    service.stop(isReplaced).then(
      () => hasSyncFailed || exitWith(code),
      (err: unknown) => {
        if (hasSyncFailed) return;
        log.error({ err }, "could not stop gracefully");
        exitWith(err instanceof SyncFailed ? SYNC_FAILED : 1);
      },
    );
    return true;
  }
  void service.secretReplaced.then(() => {
    log.error(
      "an import or a restore has replaced the secret of the store: Curt ends, because its manage keys work nowhere else. The next " +
        "start uses the new secret",
    );
    return stop("the secret was replaced", 1);
  });
  async function endAfterFailedSync(): Promise<void> {
    const reason = await service.syncFailed;
    stopping = hasSyncFailed = true;
    log.error(
      { reason },
      "the disk did not store what was written: Curt ends, because trying again proves nothing. Check the disk, then start Curt again",
    );
    await Bun.sleep(RESPOND_MS);
    exitWith(SYNC_FAILED);
  }
  void endAfterFailedSync();
  // These are bugs. Log them, finish the open requests and exit, so that a supervisor can start a fresh process.
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(event, (err: unknown) => {
      log.error({ err }, event);
      stop(event, 1);
    });
  }
  return { port: service.port, readMetrics: service.readMetrics, stop, exit };
}
