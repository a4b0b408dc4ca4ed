import type { Config } from "../config.ts";
import { createLog } from "../log.ts";
import { startService } from "../service.ts";
import { VERSION } from "../version.ts";

/** Serves until SIGTERM or SIGINT; resolves with the exit code. A second signal ends the process at once. */
export async function serve(config: Config): Promise<number> {
  const log = createLog(config.logLevel, process.stdout);
  const { promise: exit, resolve: exitWith } = Promise.withResolvers<number>();
  const service = await startService(config, log);
  let stopping = false;
  async function stop(reason: string, code: number): Promise<void> {
    if (stopping) process.exit(code || 1);
    stopping = true;
    log.info({ reason }, "stopping");
    try {
      await service.stop();
      exitWith(code);
    } catch (err) {
      log.error({ err }, "could not stop in order");
      exitWith(1);
    }
  }
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => void stop(signal, 0));
  // The last resort: nothing should come here. What is under way is finished, and a supervisor starts anew.
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(event, (err: unknown) => {
      log.error({ err }, event);
      if (!stopping) void stop(event, 1);
    });
  }
  log.info(
    `Curt ${VERSION} listens on http://${hostInUrl(config.host)}:${service.port} and makes links at ${config.baseUrl}`,
  );
  return exit;
}

function hostInUrl(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
