// The worker thread that sends events, on a connection of its own, so that no endpoint slows down anything else.
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
  | { type: "turn"; nowMs: number; isTrusted: boolean }
  | { type: "close" };

async function open({ database, storeFiles, settings, limits, nowMs }: EventsTask & { type: "open" }) {
  const statements = await openStatements(database, storeFiles);
  const sender = createSender(createOutbox(statements), settings, limits);
  await sender.start(nowMs);
  return { statements, sender };
}

let opened: Awaited<ReturnType<typeof open>>;

performTasks(async (task: EventsTask) => {
  switch (task.type) {
    case "open":
      opened = await open(task);
      return undefined;
    case "turn":
      return opened.sender.turn(task.nowMs, task.isTrusted);
    case "close":
      await opened.sender.release();
      return opened.statements.close();
  }
});
