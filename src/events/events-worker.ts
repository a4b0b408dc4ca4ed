// Sends events on a worker thread with a connection of its own, so that a slow endpoint delays nothing else.
import type { Config } from "../config/config.ts";
import { performTasks } from "../lib/thread.ts";
import { openStatements } from "../store/open.ts";
import { createOutbox } from "./outbox.ts";
import { Sender, type EventFigures, type SenderLimits, type SenderSettings } from "./sender.ts";

interface OpenTask {
  readonly database: Config["database"];
  readonly storeFiles: readonly string[];
  readonly settings: SenderSettings;
  readonly limits: SenderLimits;
  /** Figures of the crashed thread, so that counters continue. */
  readonly figures: EventFigures;
  readonly nowMs: number;
}

async function open({ database, storeFiles, settings, limits, figures, nowMs }: OpenTask) {
  const statements = await openStatements(database, storeFiles);
  const sender = new Sender(createOutbox(statements), settings, limits, figures);
  await sender.start(nowMs);
  return { statements, sender };
}

let worker: Awaited<ReturnType<typeof open>>;

const calls = {
  async open(task: OpenTask): Promise<void> {
    worker = await open(task);
  },
  send: ({ nowMs, isClockTrusted }: { readonly nowMs: number; readonly isClockTrusted: boolean }) =>
    worker.sender.send(nowMs, isClockTrusted),
  async close(_task: object): Promise<void> {
    await worker.sender.release();
    await worker.statements.close();
  },
};

export type EventsCalls = typeof calls;

performTasks(calls);
