import type { Config } from "../config/config.ts";
import type { Identity } from "../http/page.ts";
import type { RenderCalls } from "../http/view-task.ts";
import { createViews, type ViewLimits, type Views } from "../http/views.ts";
import { startThread, type Thread } from "../lib/thread.ts";
import { StoreMisplaced, StoreUnavailable } from "../links/store.ts";
import type { ListTable } from "../moderation/blocklist/list-table.ts";
import { answerProblem } from "../pages/problem/answer.ts";
import { identifyStore } from "../store/open.ts";
import type { Blocklists } from "./blocklists.ts";
import type { Core } from "./core.ts";

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
  let latest: Thread<ViewsCalls> | undefined;

  function sendSettings(thread: Thread<ViewsCalls>): void {
    const settings = settingsOf(config, { identity, noiseKey, storeFiles, lists: blocklists.tables() });
    thread.perform("configure", settings).catch(() => {});
  }

  function start(): Thread<ViewsCalls> {
    const worker = () => new Worker(new URL("./views-worker.ts", import.meta.url));
    latest = startThread<ViewsCalls>(worker, { StoreMisplaced, StoreUnavailable }, () => {});
    sendSettings(latest);
    return latest;
  }

  blocklists.onChange(() => {
    if (latest !== undefined) sendSettings(latest);
  });
  return createViews({ ...limits, start, clock, hostRules, onFault, refuse: answerProblem });
}

interface ViewsState {
  readonly identity: Identity;
  /** Only for the noise in statistics. */
  readonly noiseKey: string;
  /** The files that the service has open. */
  readonly storeFiles: readonly string[];
  readonly lists: readonly ListTable[];
}

function settingsOf(config: Config, state: ViewsState) {
  return {
    ...state,
    database: config.database,
    baseUrl: config.baseUrl,
    domains: config.domains,
    codeHoldMs: config.codeHoldMs,
    cacheSeconds: config.cacheSeconds,
    defaultExpiry: config.defaultExpiry,
    edits: config.edits,
    statsShown: config.statsShown,
    statsKeepDays: config.statsKeepDays,
    limitCreate: config.limitCreate,
    limitUnknown: config.limitUnknown,
    limitView: config.limitView,
    limitReport: config.limitReport,
    limitPasswords: config.limitPasswords,
    // The token itself stays where it is checked.
    needsToken: config.createToken !== null,
  };
}

export type ViewsSettings = ReturnType<typeof settingsOf>;
export interface ViewsCalls extends RenderCalls {
  /** Called first, and again after each change of the blocklists. */
  configure(settings: ViewsSettings): void;
}
