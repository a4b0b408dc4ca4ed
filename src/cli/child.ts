import type { Config } from "../config.ts";
import { type Places, steerConnections } from "../http/steering.ts";
import { createLog } from "../log.ts";
import type { Reading } from "../metrics/catalogue.ts";
import type { ReadingRequest } from "../metrics/reading.ts";
import { identifyStore } from "../store/open.ts";
import { VERSION } from "../version.ts";
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

/** What it may send later, one of these at a time; or it asks for metrics. */
export interface Order {
  /** Other children serve on, for this reason. */
  readonly replaced?: string;
  /** With `replaced`: another order will say when to leave. Parents of earlier versions do not know of it. */
  readonly isToldToLeave?: boolean;
  /** No new connections come any more. */
  readonly leave?: boolean;
  /** New connections go to these of all processes that listen. */
  readonly steer?: Places;
}

/** How long connections are spread over new processes before all go to the one whose place is certain. */
export const SPREAD_MS = 1500;

/** A child sends this every second to show that it is alive. */
export interface Report {
  /** The files of the store that it has open. Sent once, when it starts to listen. */
  readonly files?: Orders["openElsewhere"];
  readonly version?: string;
  /**
   * An order to steer was carried out, as far as the system can. The first report says false: this child will tell. Those of
   * earlier versions do not.
   */
  readonly isSteered?: boolean;
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
  const { promise: left, resolve: leave } = Promise.withResolvers<void>();
  process.on("disconnect", () => {
    stop({ reason: "the supervisor has ended", isReplaced: false });
    leave();
  });
  // Others may take over while this process starts.
  process.on("message", ({ replaced, isToldToLeave, leave: mayLeave }: Order) => {
    if (replaced !== undefined) {
      stop({ reason: replaced, isReplaced: true });
      if (isToldToLeave !== true) setTimeout(leave, SPREAD_MS);
    }
    if (mayLeave === true) leave();
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
  let canSteer = true;
  const steer = async (to: Places) => {
    if (!canSteer) return;
    canSteer = await steerConnections(to).catch(() => false);
    if (!canSteer)
      log.warn("connections cannot be led past the old processes here: some may be reset when those stop");
  };
  const steerAndTell = (to: Places) => steer(to).then(() => report({ isSteered: true }));
  const answer = async (request: ReadingRequest) => {
    const metrics = await service.readMetrics?.(request);
    if (metrics !== undefined) report({ metrics });
  };
  process.on("message", (message: Order | ReadingRequest) => {
    if ("samples" in message) void answer(message);
    else if (message.steer !== undefined) void steerAndTell(message.steer);
  });
  report({ files: identifyStore(config.database), version: VERSION, isSteered: false });
  const beating = setInterval(() => report({}), BEAT_MS);
  void service.exit.finally(() => clearInterval(beating));
  void stopped.then(({ reason, isReplaced }) => service.stop(reason, 0, isReplaced ? left : undefined));
  return service.exit;
}
