import type { Config } from "../config/config.ts";
import { startThread, type Thread } from "../lib/thread.ts";
import { StoreMisplaced, StoreUnavailable } from "../links/store.ts";
import type { Lists } from "../moderation/blocklist/lists.ts";
import type { Identity } from "../pages/shared/branding.ts";
import type { ViewsTask } from "./views-worker.ts";

export type ViewsSettings = Config & { readonly identity: Identity; readonly noiseKey: string };

/** The process goes on without it until it is started again. */
export function startViews(
  config: ViewsSettings,
  storeFiles: readonly string[],
  lists: Lists,
): Thread<ViewsTask> {
  const start = () => new Worker(new URL("./views-worker.ts", import.meta.url));
  const thread = startThread<ViewsTask>(start, { StoreMisplaced, StoreUnavailable }, () => {});
  tellViews(thread, config, storeFiles, lists);
  return thread;
}

/** Tells the thread what it makes views of; again when the lists have changed. */
export function tellViews(
  thread: Thread<ViewsTask>,
  config: ViewsSettings,
  storeFiles: readonly string[],
  lists: Lists,
): void {
  const task: ViewsTask = {
    view: "none",
    database: config.database,
    baseUrl: config.baseUrl,
    identity: config.identity,
    codeHoldMs: config.codeHoldMs,
    defaultExpiry: config.defaultExpiry,
    edits: config.edits,
    statsShown: config.statsShown,
    statsKeepDays: config.statsKeepDays,
    noiseKey: config.noiseKey,
    limitCreate: config.limitCreate,
    limitUnknown: config.limitUnknown,
    limitView: config.limitView,
    limitReport: config.limitReport,
    limitPasswords: config.limitPasswords,
    // The token itself stays where it is checked.
    needsToken: config.createToken !== null,
    storeFiles,
    lists: lists.tables(),
  };
  thread.perform(task).catch(() => {});
}
