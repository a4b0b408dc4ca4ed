import type { Config } from "../config/config.ts";
import { createViews, type ViewLimits, type Views } from "../http/views.ts";
import { startThread, type Thread } from "../lib/thread.ts";
import { StoreMisplaced, StoreUnavailable } from "../links/store.ts";
import type { Identity } from "../pages/shared/branding.ts";
import { identifyStore } from "../store/open.ts";
import type { Blocklists } from "./blocklists.ts";
import type { Core } from "./core.ts";
import type { ViewsTask } from "./views-worker.ts";

interface ViewsParts {
  readonly identity: Identity;
  readonly blocklists: Pick<Blocklists, "tables" | "onChange">;
  readonly limits: ViewLimits;
  readonly onFault: (error: unknown) => void;
}

/** Opens the views, whose thread starts with the first one. If it crashes, redirects continue. */
export function openViews(
  config: Config,
  { clock, hostRules, secret }: Pick<Core, "clock" | "hostRules" | "secret">,
  { identity, blocklists, limits, onFault }: ViewsParts,
): Views {
  const storeFiles = identifyStore(config.database);
  const noiseKey = secret.hash("noise", []);
  let latest: Thread<ViewsTask> | undefined;

  function sendSettings(thread: Thread<ViewsTask>): void {
    const task: ViewsTask = {
      view: "none",
      database: config.database,
      baseUrl: config.baseUrl,
      identity,
      codeHoldMs: config.codeHoldMs,
      defaultExpiry: config.defaultExpiry,
      edits: config.edits,
      statsShown: config.statsShown,
      statsKeepDays: config.statsKeepDays,
      noiseKey,
      limitCreate: config.limitCreate,
      limitUnknown: config.limitUnknown,
      limitView: config.limitView,
      limitReport: config.limitReport,
      limitPasswords: config.limitPasswords,
      // The token itself stays where it is checked.
      needsToken: config.createToken !== null,
      storeFiles,
      lists: blocklists.tables(),
    };
    thread.perform(task).catch(() => {});
  }

  function start(): Thread<ViewsTask> {
    const worker = () => new Worker(new URL("./views-worker.ts", import.meta.url));
    latest = startThread<ViewsTask>(worker, { StoreMisplaced, StoreUnavailable }, () => {});
    sendSettings(latest);
    return latest;
  }

  blocklists.onChange(() => {
    if (latest !== undefined) sendSettings(latest);
  });
  return createViews({ ...limits, start, clock, hostRules, onFault });
}
