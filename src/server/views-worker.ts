// The worker thread that renders pages, images and documents, so that redirects don't wait for them. It has its own reader of
// the store.
import { setPriority } from "node:os";

import { createAdminApiViews } from "../api/admin/admin.ts";
import { createApiViews } from "../api/api.ts";
import { createDomains, type Domain } from "../http/domain.ts";
import { createRenderer, type ViewTask } from "../http/view-task.ts";
import { performTasks } from "../lib/thread.ts";
import { VERSION } from "../lib/version.ts";
import type { Clock } from "../links/clock.ts";
import { type LinkKey, lookUpCode } from "../links/code.ts";
import type { StoredLink } from "../links/link.ts";
import { createLookUps } from "../links/links.ts";
import { StoreUnavailable } from "../links/store.ts";
import { createListCheck, type ListCheck } from "../moderation/blocklist/list-table.ts";
import { createHostRules, type HostRules } from "../moderation/host-rules.ts";
import { createDisabledSinceReader, createInspection, type Inspection } from "../moderation/inspection.ts";
import { createAdminPageViews } from "../pages/admin/views.ts";
import { createHomeViews } from "../pages/home/handler.ts";
import { createInterstitialPage } from "../pages/interstitial/page.tsx";
import { createManageViews } from "../pages/manage/handler.ts";
import { showMyLinks } from "../pages/my-links/page.tsx";
import { createPreview } from "../pages/preview/handler.ts";
import { createPrivacy } from "../pages/privacy/page.tsx";
import { createQrPage } from "../pages/qr/handler.ts";
import { createQrImages } from "../pages/qr/qr-image.ts";
import { createReference } from "../pages/reference/page.tsx";
import { createReportViews } from "../pages/report/handler.ts";
import { openReader, type StoreReader } from "../store/open.ts";
import { createNoise } from "../visits/statistics/noise.ts";
import { createCounts } from "../visits/visits.ts";
import { type DomainReader, readerOf } from "./domain-store.ts";
import type { ViewsCalls, ViewsSettings } from "./views-thread.ts";

/** Redirects come first if all threads share one core. Only Linux has a priority per thread. */
const PRIORITY = 10;

let config: ViewsSettings;
let isListed: ListCheck;
let render: Awaited<ReturnType<typeof open>> | undefined;
/** The serving thread sends the time with each task, so that both always agree on it. */
let nowMs = 0;
/** Changes when the rules about hosts change. */
let rulesVersion = Number.NaN;

async function open() {
  const store = await openStore();
  const clock = { nowMs: () => nowMs };
  const hostRules = createHostRules(store, (target) => isListed(target));
  let readVersion = Number.NaN;
  /** Runs before a look-up and not with each task, because pages without links need no store. */
  async function readRules(): Promise<void> {
    if (readVersion !== rulesVersion) await hostRules.read();
    readVersion = rulesVersion;
  }
  async function find(key: LinkKey): Promise<StoredLink | undefined> {
    await readRules();
    return store.find(key);
  }
  const everyDomain = { ...store, find };
  const inspection = createInspection({ store: everyDomain, clock, blocked: hostRules.blocked });
  const rendererBy = new Map(
    createDomains(config, config.identity).map((domain) => {
      const own = readerOf(everyDomain, domain.keyPrefix);
      return [domain.keyPrefix, rendererOf(domain, { store: own, clock, hostRules, inspection })];
    }),
  );
  return (task: ViewTask) => {
    const renderOwn = rendererBy.get(task.keyPrefix);
    if (renderOwn === undefined) throw new Error("Both threads have the same domains");
    return renderOwn(task);
  };
}

interface RendererParts {
  /** Has only the domain's links. */
  readonly store: DomainReader;
  readonly clock: Pick<Clock, "nowMs">;
  readonly hostRules: HostRules;
  /** Has the links of all domains. */
  readonly inspection: Inspection;
}

function rendererOf(domain: Domain, { store, clock, hostRules, inspection }: RendererParts) {
  const { codeHoldMs, cacheSeconds, statsShown, statsKeepDays, defaultExpiry, edits, needsToken } = config;
  const { find } = store;
  const links = createLookUps({
    codeHoldMs,
    store: { find },
    lookUp: lookUpCode,
    clock,
    blocked: hostRules.blocked,
  });
  const visits = createCounts({ store, clock, shown: statsShown, noise: createNoise(config.noiseKey) });
  const disabledSince = createDisabledSinceReader({ store, hostRules });
  const options = { links, visits, clock, defaultExpiry, cacheSeconds, version: VERSION, needsToken };
  const api = createApiViews(options);
  const home = createHomeViews({ defaultExpiry, needsToken, links });
  return createRenderer(domain, {
    qr: createQrPage({ links }),
    home: home.show,
    refusedForm: home.refused,
    privacy: createPrivacy({ statsShown, statsKeepDays }),
    myLinks: showMyLinks,
    reference: createReference({
      limitCreate: config.limitCreate,
      limitUnknown: config.limitUnknown,
      limitView: config.limitView,
      limitReport: config.limitReport,
      limitPasswords: config.limitPasswords,
      describe: api.describe,
    }),
    ...api.views,
    ...createQrImages(options),
    preview: createPreview({ links, visits, clock, disabledSince, statsKeepDays }),
    adminApi: createAdminApiViews(inspection),
    adminPage: createAdminPageViews(inspection),
    ...createReportViews({ links }),
    ...createManageViews({ visits, clock, edits, codeHoldMs }),
    interstitial: createInterstitialPage({ links, clock }),
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
performTasks<ViewsCalls>({
  configure(settings) {
    config = settings;
    isListed = createListCheck(settings.lists);
  },
  async render(task) {
    ({ nowMs, rulesVersion } = task);
    render ??= await open();
    return render(task);
  },
});
