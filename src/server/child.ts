import type { Config } from "../config/config.ts";
import { createLog } from "../lib/log.ts";
import { VERSION } from "../lib/version.ts";
import type { Reading } from "../metrics/catalogue.ts";
import type { ReadingRequest } from "../metrics/reading.ts";
import { identifyStore } from "../store/open.ts";
import { run } from "./run.ts";

/** The internal command that the parent starts its children with. */
export const CHILD = "child";

/** How often a child says that it is alive. */
export const BEAT_MS = 1000;

/** A start that has failed waits so long for the word that it should stop anyway. */
const STOP_WORD_MS = 200;

// What parent and child send each other may only grow: after an update, the parent is of an earlier version.

/** What the parent sends at a child's start. */
export type Orders = Pick<Config, "port" | "openElsewhere">;

/** It may send this later, or a request for metrics. */
export interface Order {
  /** Stop, for this reason: others serve on. */
  readonly replaced?: string;
}

/** A child sends this every second to show that it is alive. */
export interface Report {
  /** The files of the store that it has open. Sent once, when it starts to listen. */
  readonly files?: Orders["openElsewhere"];
  readonly version?: string;
  /** What was asked for. */
  readonly metrics?: Reading;
}

/** Serves on the port that the parent says, until it lets go; resolves with the exit code. */
export async function serveAsChild(config: Config): Promise<number> {
  if (process.send === undefined) {
    console.error(`curt: ${CHILD} is what serve starts. Run curt serve.`);
    return 2;
  }
  const { promise: stopped, resolve: stop } = Promise.withResolvers<{
    reason: string;
    isReplaced: boolean;
  }>();
  // The parent signals its children, and so do a terminal and systemd: the first signal counts. The parent decides whom a
  // second one ends.
  for (const reason of ["SIGTERM", "SIGINT"]) process.on(reason, () => stop({ reason, isReplaced: false }));
  process.on("disconnect", () => stop({ reason: "the supervisor has ended", isReplaced: false }));
  // Others may take over while this process starts.
  process.on("message", ({ replaced }: Order) => {
    if (replaced !== undefined) stop({ reason: replaced, isReplaced: true });
  });
  const { promise: told, resolve: tell } = Promise.withResolvers<Orders>();
  process.once("message", tell);
  const orders = await Promise.race([told, stopped]);
  if ("reason" in orders) return 0;

  const log = createLog(config.logLevel, process.stdout, { pid: process.pid });
  const service = await run({ ...config, ...orders }, log).catch(async (error: unknown) => {
    // What fails while the others close the store is no reason to complain. Word of the stop may still be on its way.
    if ((await Promise.race([stopped, Bun.sleep(STOP_WORD_MS)])) === undefined) throw error;
    return undefined;
  });
  if (service === undefined) return 0;
  const report = (what: Report) => void (process.connected && process.send?.(what));
  const answer = async (request: ReadingRequest) => {
    const metrics = await service.readMetrics?.(request);
    if (metrics !== undefined) report({ metrics });
  };
  process.on("message", (message: Order | ReadingRequest) => {
    if ("samples" in message) void answer(message);
  });
  report({ files: identifyStore(config.database), version: VERSION });
  const beating = setInterval(() => report({}), BEAT_MS);
  void service.exit.finally(() => clearInterval(beating));
  void stopped.then(({ reason, isReplaced }) => service.stop(reason, 0, isReplaced));
  return service.exit;
}
