// The worker thread that makes pages, images and documents, so that redirects do not wait for them. It has its own reader
// of the store.
import { setPriority } from "node:os";

import type { Config } from "../config/config.ts";
import { createAdminApiViews } from "../http/api/admin/views.ts";
import { createApiViews } from "../http/api/views.ts";
import { createDomain } from "../http/domain.ts";
import { createMaker } from "../http/views/view-handler.ts";
import type { ViewTask } from "../http/views/view.ts";
import { performTasks } from "../lib/thread.ts";
import { VERSION } from "../lib/version.ts";
import type { Code } from "../links/code.ts";
import type { Link } from "../links/link.ts";
import { createLookUps } from "../links/links.ts";
import { StoreUnavailable } from "../links/store.ts";
import { createListCheck, type ListCheck, type ListTable } from "../moderation/blocklist/list-table.ts";
import { createHostRules } from "../moderation/host-rules.ts";
import { createDisabledSinceReader, createInspection } from "../moderation/inspection.ts";
import { createAdminPageViews } from "../pages/admin/views.ts";
import { createHomeViews } from "../pages/home/handler.ts";
import { createInterstitialPage } from "../pages/interstitial/handler.ts";
import { createManageViews } from "../pages/manage/handler.ts";
import { showMyLinks } from "../pages/my-links/handler.ts";
import { createPreview } from "../pages/preview/handler.ts";
import { createPrivacy } from "../pages/privacy/handler.ts";
import { createQrPage } from "../pages/qr/handler.ts";
import { createQr } from "../pages/qr/image.ts";
import type { ClientLimits } from "../pages/reference/guide.tsx";
import { createReference } from "../pages/reference/handler.ts";
import { createReportViews } from "../pages/report/handler.ts";
import type { Identity } from "../pages/shared/branding.ts";
import { openReader, type StoreReader } from "../store/open.ts";
import { createNoise } from "../visits/statistics/noise.ts";
import { createCounts } from "../visits/visits.ts";

/** The first task passes the configuration, and so does one after each change of the blocklists. */
export type ViewsTask = ({ readonly view: "none" } & ViewsConfig) | ViewTask;
export type ViewsConfig = Pick<
  Config,
  | "database"
  | "baseUrl"
  | "codeHoldMs"
  | "defaultExpiry"
  | "edits"
  | "statsShown"
  | "statsKeepDays"
  | keyof ClientLimits
> & {
  readonly identity: Identity;
  /** For nothing but the noise in statistics. */
  readonly noiseKey: string;
  /** The token itself stays where it is checked. */
  readonly needsToken: boolean;
  /** The files that the service has open. */
  readonly storeFiles: readonly string[];
  readonly lists: readonly ListTable[];
};

/** Redirects come first if all threads share one core. Only Linux has a priority for each thread. */
const PRIORITY = 10;

let config: ViewsConfig;
let isListed: ListCheck;
let make: Awaited<ReturnType<typeof open>> | undefined;
/** The serving thread sends the time with each task, so that both always agree on it. */
let nowMs = 0;
/** Changes when the rules about hosts change. */
let rulesVersion = Number.NaN;

async function open() {
  const store = await openStore();
  const clock = { nowMs: () => nowMs };
  const hostRules = createHostRules(store, (target) => isListed(target));
  let rulesRead = Number.NaN;
  /** Before links are looked up and not with each task: pages without links need no store. */
  async function readRules(): Promise<void> {
    if (rulesRead !== rulesVersion) await hostRules.read();
    rulesRead = rulesVersion;
  }
  async function find(code: Code): Promise<Link | undefined> {
    await readRules();
    return store.find(code);
  }
  const links = createLookUps({ ...config, store: { find }, clock, blocked: hostRules.blocked });
  const noise = createNoise(config.noiseKey);
  const visits = createCounts({ store, clock, shown: config.statsShown, noise });
  const disabledSince = createDisabledSinceReader({ store, hostRules });
  const shared = { ...config, links, visits, clock, disabledSince, version: VERSION };
  const inspection = createInspection({ store: { ...store, find }, clock, blocked: hostRules.blocked });
  const api = createApiViews(shared);
  const home = createHomeViews(shared);
  return createMaker(createDomain(config.baseUrl, config.identity), {
    ...createQr(shared),
    qr: createQrPage(shared),
    home: home.show,
    refusedForm: home.refused,
    privacy: createPrivacy(shared),
    myLinks: showMyLinks,
    reference: createReference({ ...config, describe: api.describe }),
    information: api.information,
    link: api.link,
    statistics: api.statistics,
    document: api.document,
    preview: createPreview(shared),
    adminApi: createAdminApiViews(inspection),
    adminPage: createAdminPageViews(inspection),
    ...createReportViews(shared),
    ...createManageViews(shared),
    interstitial: createInterstitialPage(shared),
  });
}

/** The store existed when the service started, so a failure to open it now is temporary. */
async function openStore(): Promise<StoreReader> {
  try {
    return await openReader(config.database, config.storeFiles);
  } catch (cause) {
    throw new StoreUnavailable(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

if (process.platform === "linux") setPriority(0, PRIORITY);
performTasks(async (task: ViewsTask) => {
  if (task.view === "none") {
    config = task;
    isListed = createListCheck(task.lists);
    return undefined;
  }
  ({ nowMs, rulesVersion } = task);
  make ??= await open();
  return make(task);
});
