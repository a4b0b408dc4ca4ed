import type { Log } from "../lib/log.ts";
import { StoreMisplaced, StoreUnavailable } from "../links/link-store.ts";

export const REPEAT_EVERY_MS = 5000;
/** Further kinds are logged as one. */
const MAX_KINDS = 50;
/** System codes for a full disk and an exhausted quota. */
const FULL_DISK: readonly unknown[] = ["ENOSPC", "EDQUOT"];

/** `request`: the id of the request that failed, if it has one. */
export type ReportFault = (error: unknown, request?: string) => void;

interface RepeatedFault {
  /** Since the last line. */
  times: number;
  hasRecurred: boolean;
  latest: unknown;
  request: string | undefined;
  readonly timer: NodeJS.Timeout;
}

/**
 * Counts faults, and logs them without flooding the log. It logs the first of a kind immediately, then their number every
 * `repeatEveryMs` until they stop.
 */
export function createFaultLog(log: Log, repeatEveryMs = REPEAT_EVERY_MS) {
  const counts = { store: 0, disk: 0, other: 0 };
  const kinds = new Map<string, RepeatedFault>();

  function logRepeats(kind: string, repeated: RepeatedFault): void {
    if (repeated.times === 0) {
      forget(kind, repeated);
      if (repeated.hasRecurred)
        log.info({ reason: messagesOf(repeated.latest) }, "a repeated fault has stopped");
      return;
    }
    write(log, repeated.latest, repeated.request, repeated.times);
    repeated.times = 0;
    repeated.hasRecurred = true;
  }

  function forget(kind: string, { timer }: RepeatedFault): void {
    clearInterval(timer);
    kinds.delete(kind);
  }

  /** Call this before a line says that the store answers again: its faults are not logged after it. */
  function settleStore(): void {
    for (const [kind, repeated] of kinds) {
      if (!(repeated.latest instanceof StoreUnavailable)) continue;
      if (repeated.times > 0) logRepeats(kind, repeated);
      forget(kind, repeated);
    }
  }

  const report: ReportFault = (error, request) => {
    const ofDisk = isFullDisk(error) ? "disk" : "other";
    counts[error instanceof StoreUnavailable ? "store" : ofDisk]++;
    const own = kindOf(error);
    const kind = kinds.has(own) || kinds.size < MAX_KINDS ? own : "others";
    const known = kinds.get(kind);
    if (known !== undefined) {
      known.times++;
      known.latest = error;
      known.request = request;
      return;
    }
    write(log, error, request);
    // The timer must not keep a stopping process alive.
    const timer = setInterval(() => logRepeats(kind, repeated), repeatEveryMs).unref();
    const repeated: RepeatedFault = { times: 0, hasRecurred: false, latest: error, request, timer };
    kinds.set(kind, repeated);
  };
  return { report, settleStore, counts };
}

/** Its class and origin. Messages don't identify a kind, because they may name a different file each time. */
function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { code = "" } = error as { code?: unknown };
  const [place = ""] = error.stack?.match(/^\s+at .*$/m) ?? [];
  return [error.name, String(code), isExpected(error) ? "" : place].join("|");
}

function isExpected(error: Error): boolean {
  return error instanceof StoreUnavailable || isFullDisk(error);
}

function isFullDisk(error: unknown): error is Error {
  return error instanceof Error && FULL_DISK.includes((error as { code?: unknown }).code);
}

function write(log: Log, err: unknown, request?: string, times?: number): void {
  if (err instanceof StoreMisplaced) log.error({ err, request, times }, "the store cannot answer");
  // An unavailable store is expected, so the line has no stack.
  else if (err instanceof StoreUnavailable)
    log.warn({ reason: messagesOf(err), request, times }, "the store cannot answer");
  else if (isFullDisk(err)) log.warn({ reason: messagesOf(err), request, times }, "the disk is full");
  else log.error({ err, request, times }, "unexpected fault");
}

/** Joins the messages of an error and its causes, without repetitions. */
function messagesOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  if (cause === undefined) return message;
  const reason = messagesOf(cause);
  return message.includes(reason) ? message : `${message}: ${reason}`;
}
