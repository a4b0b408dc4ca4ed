// The worker thread that makes pages, images and documents, so that redirects do not wait for them. It has its own reader
// of the store.
import { setPriority } from "node:os";

import type { Config } from "./config.ts";
import { createHostRules } from "./guard/hosts.ts";
import { createInspection } from "./guard/inspection.ts";
import { createAdminApiViews } from "./http/api/admin/views.ts";
import { createApiViews } from "./http/api/views.ts";
import { createDomain } from "./http/domain.ts";
import { createAdminPageViews } from "./http/pages/admin-views.ts";
import { createHomeViews } from "./http/pages/home.ts";
import { createQr } from "./http/pages/images.ts";
import { createPreview } from "./http/pages/preview.ts";
import { createReference } from "./http/pages/reference.ts";
import { createReportViews } from "./http/pages/report.ts";
import { createMaker } from "./http/views/make.ts";
import type { ViewTask } from "./http/views/view.ts";
import { createLookUps } from "./links/links.ts";
import { StoreUnavailable } from "./links/store.ts";
import { openReader, type StoreReader } from "./store/open.ts";
import { performTasks } from "./thread.ts";
import { VERSION } from "./version.ts";
import { createCounts } from "./visits/visits.ts";

/** The first task passes the configuration. */
export type ViewsTask = ({ readonly view: "none" } & ViewsConfig) | ViewTask;
export type ViewsConfig = Pick<
  Config,
  "database" | "baseUrl" | "contact" | "codeHoldMs" | "defaultExpiry" | "statsShown"
> & {
  /** The files that the service has open. */
  readonly storeFiles: readonly string[];
};

/** Redirects come first if all threads share one core. Only Linux has a priority for each thread. */
const PRIORITY = 10;

let config: ViewsConfig;
let opened: ReturnType<typeof open> | undefined;
let rulesVersion: number | undefined;
/** The serving thread sends the time with each task, so that both always agree on it. */
let nowMs = 0;

function open() {
  const store = openStore();
  const clock = { nowMs: () => nowMs };
  const hostRules = createHostRules(store);
  const links = createLookUps({ ...config, store, clock, blocked: hostRules.blocked });
  const visits = createCounts({ store, clock, shown: config.statsShown });
  const shared = { ...config, links, visits, clock, version: VERSION };
  const inspection = createInspection({ store, clock, blocked: hostRules.blocked });
  const api = createApiViews(shared);
  const home = createHomeViews(shared);
  const make = createMaker(createDomain(config.baseUrl, config.contact), {
    ...createQr(shared),
    home: home.show,
    refusedForm: home.refused,
    reference: createReference(api.describe),
    information: api.information,
    link: api.link,
    statistics: api.statistics,
    document: api.document,
    preview: createPreview(shared),
    adminApi: createAdminApiViews(inspection),
    adminPage: createAdminPageViews(inspection),
    ...createReportViews(shared),
  });
  return { make, hostRules };
}

/** The store existed when the service started, so a failure to open it now is temporary. */
function openStore(): StoreReader {
  try {
    return openReader(config.database, config.storeFiles);
  } catch (cause) {
    throw new StoreUnavailable(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

if (process.platform === "linux") setPriority(0, PRIORITY);
performTasks(async (task: ViewsTask) => {
  if (task.view === "none") {
    config = task;
    return undefined;
  }
  opened ??= open();
  const { hostRules, make } = opened;
  if (task.rulesVersion !== rulesVersion) {
    await hostRules.read();
    ({ rulesVersion } = task);
  }
  ({ nowMs } = task);
  return make(task);
});
