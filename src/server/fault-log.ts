import type { Log } from "../lib/log.ts";
import { StoreMisplaced, StoreUnavailable } from "../links/store.ts";

const TELL_EVERY_MS = 5000;
/** More kinds than this at a time are told as one. */
const MAX_KINDS = 50;
/** The system's codes for a full disk and an exhausted quota. */
const FULL_DISK: readonly unknown[] = ["ENOSPC", "EDQUOT"];

/** `request`: the id of the request that failed, if it has one. */
export type ReportFault = (error: unknown, request?: string) => void;

interface Repeated {
  /** Since the last line. */
  times: number;
  hasRecurred: boolean;
  latest: unknown;
  request: string | undefined;
  readonly timer: NodeJS.Timeout;
}

/**
 * Logs faults without flooding the log: the first of a kind immediately, then how many came, every `tellEveryMs` until none
 * comes any more.
 */
export function reportFaults(log: Log, tellEveryMs = TELL_EVERY_MS) {
  const kinds = new Map<string, Repeated>();

  function tell(kind: string, repeated: Repeated): void {
    if (repeated.times === 0) {
      forget(kind, repeated);
      if (repeated.hasRecurred)
        log.info({ reason: reasonOf(repeated.latest) }, "a repeated fault has stopped");
      return;
    }
    write(log, repeated.latest, repeated.request, repeated.times);
    repeated.times = 0;
    repeated.hasRecurred = true;
  }

  function forget(kind: string, { timer }: Repeated): void {
    clearInterval(timer);
    kinds.delete(kind);
  }

  /** Call this before a line says that the store answers again: its faults are not logged after it. */
  function settleStore(): void {
    for (const [kind, repeated] of kinds) {
      if (!(repeated.latest instanceof StoreUnavailable)) continue;
      if (repeated.times > 0) tell(kind, repeated);
      forget(kind, repeated);
    }
  }

  const report: ReportFault = (error, request) => {
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
    // It must not keep a process that stops alive.
    const timer = setInterval(() => tell(kind, repeated), tellEveryMs).unref();
    const repeated: Repeated = { times: 0, hasRecurred: false, latest: error, request, timer };
    kinds.set(kind, repeated);
  };
  return { report, settleStore };
}

/** What it is and where it comes from; messages may name a different file each time. */
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
  // That the store is away is expected: the line has no stack.
  else if (err instanceof StoreUnavailable)
    log.warn({ reason: reasonOf(err), request, times }, "the store cannot answer");
  else if (isFullDisk(err)) log.warn({ reason: reasonOf(err), request, times }, "the disk is full");
  else log.error({ err, request, times }, "unexpected fault");
}

/** The messages of an error and its causes. Many repeat their cause's message, which is then left out. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  if (cause === undefined) return message;
  const why = reasonOf(cause);
  return message.includes(why) ? message : `${message}: ${why}`;
}
