// Sends events on a worker thread with a connection of its own, so that a slow endpoint delays nothing else.
import type { Config } from "../config/config.ts";
import { performTasks } from "../lib/thread.ts";
import { openStatements } from "../store/open.ts";
import { createOutbox } from "./outbox.ts";
import { createSender, type SenderLimits, type SenderSettings } from "./sender.ts";

export type EventsTask =
  | {
      type: "open";
      database: Config["database"];
      storeFiles: readonly string[];
      settings: SenderSettings;
      limits: SenderLimits;
      nowMs: number;
    }
  | { type: "send"; nowMs: number; isClockTrusted: boolean }
  | { type: "close" };

async function open({ database, storeFiles, settings, limits, nowMs }: EventsTask & { type: "open" }) {
  const statements = await openStatements(database, storeFiles);
  const sender = createSender(createOutbox(statements), settings, limits);
  await sender.start(nowMs);
  return { statements, sender };
}

let worker: Awaited<ReturnType<typeof open>>;

performTasks(async (task: EventsTask) => {
  switch (task.type) {
    case "open":
      worker = await open(task);
      return undefined;
    case "send":
      return worker.sender.send(task.nowMs, task.isClockTrusted);
    case "close":
      await worker.sender.release();
      return worker.statements.close();
  }
});
