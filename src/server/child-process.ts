import type { Config } from "../config/config.ts";
import { createLog } from "../lib/log.ts";
import { VERSION } from "../lib/version.ts";
import type { Snapshot, SnapshotRequest } from "../metrics/catalogue.ts";
import { identifyStore } from "../store/open.ts";
import { run } from "./run.ts";

/** The internal command that the parent starts its children with. */
export const CHILD = "child";

/** How often a child reports that it is alive. */
export const BEAT_MS = 1000;

/** A failed start waits this long for an order to stop. */
const STOP_ORDER_MS = 200;

// Messages between parent and child may only gain fields: after an update, the parent has an earlier version.

/** The parent sends this at a child's start. */
export type StartOrder = Pick<Config, "port" | "openElsewhere">;

/** The parent may send this later, or a request for metrics. */
export interface Order {
  /** Why to stop. Other processes keep serving. */
  readonly replaced?: string;
  /** Why to stop. All other processes stop as well. */
  readonly stop?: string;
  /** Files of tokens have changed. */
  readonly isTokenFileNew?: boolean;
}

/** A child sends this every second to show that it is alive. */
export interface Report {
  /** The files of the store that the child has open. Sent once, when it starts to listen. */
  readonly files?: StartOrder["openElsewhere"];
  readonly version?: string;
  /** The response to a request for metrics. */
  readonly metrics?: Snapshot;
}

/** Serves on the parent's port until the parent lets go. Resolves with the exit code. */
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
  process.on("message", (order: Order) => {
    if (order.replaced !== undefined) stop({ reason: order.replaced, isReplaced: true });
    else if (order.stop !== undefined) stop({ reason: order.stop, isReplaced: false });
    else if (order.isTokenFileNew === true) process.emit("SIGHUP");
  });
  const { promise: started, resolve: start } = Promise.withResolvers<StartOrder>();
  process.once("message", start);
  const order = await Promise.race([started, stopped]);
  if ("reason" in order) return 0;

  const log = createLog(config.logLevel, process.stdout, { pid: process.pid });
  const { port, openElsewhere } = order;
  const service = await run({ ...config, port, openElsewhere }, log).catch(async (error: unknown) => {
    // A start that fails while the others close the store is no fault. The order to stop may still be on its way.
    if ((await Promise.race([stopped, Bun.sleep(STOP_ORDER_MS)])) === undefined) throw error;
    return undefined;
  });
  if (service === undefined) return 0;
  const send = (report: Report) => void (process.connected && process.send?.(report));
  const sendMetrics = async (request: SnapshotRequest) => {
    const metrics = await service.readMetrics?.(request);
    if (metrics !== undefined) send({ metrics });
  };
  process.on("message", (message: Order | SnapshotRequest) => {
    if ("samples" in message) void sendMetrics(message);
  });
  send({ files: identifyStore(config.database), version: VERSION });
  const beating = setInterval(() => send({}), BEAT_MS);
  void service.exit.finally(() => clearInterval(beating));
  void stopped.then(({ reason, isReplaced }) => service.stop(reason, 0, isReplaced));
  return service.exit;
}
