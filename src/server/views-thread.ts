import { type Config, type PublicConfig, publicConfigOf } from "../config/config.ts";
import type { Identity } from "../http/page.ts";
import { startThread, type Thread } from "../lib/thread.ts";
import { StoreMisplaced, StoreUnavailable } from "../links/link-store.ts";
import type { Blocklists } from "../moderation/blocklist/configured-lists.ts";
import type { ListTable } from "../moderation/blocklist/list-table.ts";
import { answerProblem } from "../pages/problem/answer.ts";
import { identifyStore } from "../store/open.ts";
import type { SharingLimits } from "../views/sharing.ts";
import type { ViewCalls } from "../views/task.ts";
import { createViews, type Views } from "../views/views.ts";
import type { Core } from "./core.ts";

interface ViewsParts {
  readonly identity: Identity;
  /** The identity of domains with a home elsewhere. */
  readonly withHome: Identity;
  readonly blocklists: Pick<Blocklists, "tables" | "onChange">;
  readonly limits: SharingLimits | undefined;
  readonly onFault: (error: unknown) => void;
}

/** Opens the views, whose thread starts with the first one. If it crashes, redirects continue. */
export function openViews(
  config: Config,
  { clock, hostRules, secret }: Pick<Core, "clock" | "hostRules" | "secret">,
  { identity, withHome, blocklists, limits, onFault }: ViewsParts,
): Views {
  const storeFiles = identifyStore(config.database);
  const noiseKey = secret.hash("noise", []);
  let latest: Thread<ViewsCalls> | undefined;

  function sendSettings(thread: Thread<ViewsCalls>): void {
    const settings = {
      ...publicConfigOf(config),
      identity,
      withHome,
      noiseKey,
      storeFiles,
      lists: blocklists.tables(),
    };
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
  return createViews({ limits, start, clock, hostRules, onFault, refuse: answerProblem });
}

export interface ViewsSettings extends PublicConfig, Pick<ViewsParts, "identity" | "withHome"> {
  /** Only for the noise in statistics. */
  readonly noiseKey: string;
  /** The files that the service has open. */
  readonly storeFiles: readonly string[];
  readonly lists: readonly ListTable[];
}

export interface ViewsCalls extends ViewCalls {
  /** Called first, and again after each change of the blocklists. */
  configure(settings: ViewsSettings): void;
}
