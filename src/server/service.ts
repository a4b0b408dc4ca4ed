import type { AdminApiOptions } from "../api/admin/endpoint.ts";
import { type Config, ConfigError } from "../config/config.ts";
import { createCalls } from "../http/call.ts";
import { createClientReader } from "../http/client.ts";
import { createDomain } from "../http/domain.ts";
import { createLimiter } from "../http/limiter.ts";
import { createOperatorCheck } from "../http/operator-check.ts";
import { createOverload, type OverloadLimits } from "../http/overload.ts";
import { createKeptAnswers } from "../http/response-cache.ts";
import { createViews, type ViewLimits } from "../http/views/views.ts";
import { reasonOf } from "../lib/error-reason.ts";
import type { Log } from "../lib/log.ts";
import { repeat } from "../lib/repeat.ts";
import type { Thread } from "../lib/thread.ts";
import type { Memory } from "../links/changes.ts";
import { StoreUnavailable, StoreUnusable } from "../links/store.ts";
import { createReading, type ReadMetrics } from "../metrics/reading.ts";
import { createAdminToken } from "../moderation/admin-token.ts";
import { type ListLimits, openLists } from "../moderation/blocklist/lists.ts";
import { createTokenCheck } from "../moderation/create-token.ts";
import { type AdminPagesOptions, createAdminPages } from "../pages/admin/handler.ts";
import { createIdentity } from "../pages/assets/branding.ts";
import { createAssetRoutes } from "../pages/assets/handler.ts";
import { createHome } from "../pages/home/handler.ts";
import { createManagePages } from "../pages/manage/handler.ts";
import { createPasswords } from "../pages/password/handler.ts";
import { createJustCreated } from "../pages/preview/just-created.ts";
import { createReport } from "../pages/report/handler.ts";
import { createSignIn, type SignInOptions } from "../pages/sign-in/handler.ts";
import { createUnknownAnswer } from "../pages/unknown/handler.ts";
import { createGate } from "../redirect/gate.ts";
import { createInterstitial } from "../redirect/interstitial.ts";
import { createLinkMemory } from "../redirect/link-cache.ts";
import { createRedirect, createRedirectFigures } from "../redirect/redirect.ts";
import { identifyStore } from "../store/open.ts";
import { openCountries } from "../visits/country.ts";
import type { JournalLimits } from "../visits/journal/journal.ts";
import { readCertificate } from "./certificate.ts";
import { type Core, type CoreOptions, openCore } from "./core.ts";
import { type ReportFault, reportFaults } from "./fault-log.ts";
import { createHealth } from "./health.ts";
import { createLazyHandlers } from "./lazy-handlers.ts";
import { listen, type ServerLimits } from "./listen.ts";
import { createRequestFigures } from "./request-counts.ts";
import { createApp } from "./routes.ts";
import { startViews, tellViews, type ViewsSettings } from "./views-thread.ts";
import type { ViewsTask } from "./views-worker.ts";
import { createNotices } from "./well-known.ts";

const TIDY_EVERY_MS = 60_000;
/** A database that is only away for a moment, as while another server takes over, does not end a start. */
const OPEN_WAIT_MS = 30_000;
/** How long a replaced process closes each connection after its next answer. A sudden end would cut off requests on their way. */
const REPLACED_MS = 2000;
/** What changes in one process takes effect in all of them within a second. */
const READ_CHANGES_EVERY_MS = 300;

/** What tests lower so as not to wait. Each limit has its usual value where it is used. */
export interface Limits
  extends CoreOptions, ServerLimits, JournalLimits, ViewLimits, ListLimits, OverloadLimits {}

export interface Service {
  readonly port: number;
  /** Undefined if there are no metrics. */
  readonly readMetrics: ReadMetrics | undefined;
  /** Finishes what is under way, within its limits, and closes everything. `isReplaced`: other processes serve on. */
  stop(isReplaced?: boolean): Promise<void>;
}

/** The core with a port and timers. Opens everything, in order; `stop` closes it in the reverse order. */
export async function startService(config: Config, log: Log, limits: Limits = {}): Promise<Service> {
  const faults = { store: 0, other: 0 };
  const { report, settleStore } = reportFaults(log);
  const onFault: ReportFault = (error, request) => {
    faults[error instanceof StoreUnavailable ? "store" : "other"]++;
    report(error, request);
  };
  await using opened = new AsyncDisposableStack();
  const certificate = await readCertificate(config, log);
  const lists = opened.adopt(await openLists(config, log, limits, onFault), (one) => one.close());
  const core = opened.adopt(
    await openCore(config, log, {
      openWaitMs: OPEN_WAIT_MS,
      ...limits,
      isListed: lists.isBlocked,
      settleFaults: settleStore,
    }),
    (one) => one.close(),
  );
  const { clock, links, secret, reports, operator, visits, hostRules, counters } = core;

  const countryOf = countries(config.countryDatabase);
  const recorder = opened.adopt(
    await visits
      .openRecorder({
        ...limits,
        folder: config.journalFolder,
        onFault,
        onDropped: (path) =>
          log.warn(
            { path },
            "visits that a power cut or a damaged file left behind cannot be trusted: not counted",
          ),
        onTrouble(reason) {
          if (reason !== undefined) log.warn(`visits are not counted: ${reason}`);
          else log.info("visits are counted again");
        },
        // Whoever removes the machine now loses them.
        onLeft: () =>
          log.warn(
            { folder: config.journalFolder },
            "the last visits stay in the journal: the next start adds them to the database",
          ),
      })
      .catch(refuseFolder(config.journalFolder)),
    (one) => one.close(),
  );
  const identity = createIdentity(config);
  const clientOf = createClientReader({
    ...config,
    countryOf,
    onNotForwarded: () =>
      log.warn(
        "requests of TRUSTED_PROXIES come without X-Forwarded-For: all visitors count as one client. Let the proxy append to it",
      ),
  });
  const callOf = createCalls({ domain: createDomain(config.baseUrl, identity), clientOf });
  const health = createHealth(links, recorder);
  const storeFiles = identifyStore(config.database);
  const viewsSettings: ViewsSettings = { ...config, identity, noiseKey: secret.hash("noise", []) };
  let viewsThread: Thread<ViewsTask> | undefined;
  const views = opened.adopt(
    createViews({
      ...limits,
      start: () => (viewsThread = startViews(viewsSettings, storeFiles, lists)),
      clock,
      hostRules,
      onFault,
    }),
    (one) => one.close(),
  );
  const overload = opened.adopt(
    createOverload({
      ...limits,
      clock,
      onChange(refused) {
        if (refused.length > 0) log.warn({ refused }, "overloaded: some requests are refused");
        else log.info("no longer overloaded");
      },
    }),
    (one) => one.close(),
  );
  const memory = createLinkMemory(links, clock);
  const caches: Memory = {
    forget(code) {
      memory.forget(code);
      views.forget(code);
    },
    forgetAll() {
      memory.forgetAll();
      views.forgetAll();
    },
  };
  clock.onTakenBack(caches.forgetAll);
  const changes = await links.follow(caches);

  lists.onChange(() => {
    memory.forgetAll();
    if (viewsThread !== undefined) tellViews(viewsThread, viewsSettings, storeFiles, lists);
  });
  lists.startFeeds(clock.nowMs);
  const limiter = createLimiter(core.limits, clock, counters);
  const mayCreate = createTokenCheck(config.createToken);
  const redirects = createRedirectFigures();
  const requests = createRequestFigures();
  const answerKept = createKeptAnswers();
  const shared = {
    ...config,
    limiter,
    mayCreate,
    links,
    secret,
    reports,
    operator,
    visits,
    clock,
    recorder,
    memory,
    views,
    overload,
    answerKept,
    callOf,
    onFault,
  };
  const interstitial = config.interstitial === "all" ? createInterstitial(shared) : undefined;
  const gate = createGate({ ...shared, interstitial, passwords: createPasswords(shared) });
  const justCreated = createJustCreated(shared);
  const answerUnknown = createUnknownAnswer(shared);
  const app = createApp({
    api: createLazyHandlers(async () => (await import("../api/api.ts")).createApi(shared)),
    admin: config.adminToken === null ? undefined : createAdmin(shared, config.adminToken, core.limits),
    // The change is stored already; if it cannot be read now, it will be a moment later.
    onChanged: () => changes.read().catch(onFault),
    home: createHome({ ...shared, justCreated }),
    justCreated,
    report: createReport(shared),
    managePages: createManagePages(shared),
    notices: createNotices(shared),
    answerUnknown,
    redirect: createRedirect({ ...shared, answerUnknown, interstitial, gate, figures: redirects }),
    gate,
    views,
    assets: createAssetRoutes(identity),
    health,
    limiter,
    overload,
    answerKept,
    callOf,
    requests,
    onFault,
  });
  const server = listen(app, config, { ...limits, tls: certificate });
  const repetitions = [
    repeat(READ_CHANGES_EVERY_MS, () => changes.read(), onFault),
    repeat(TIDY_EVERY_MS, tidy, onFault),
  ];
  const inProgress = server.pending;
  const figures = { ...shared, config, core, redirects, requests, lists, faults, inProgress };
  const metrics =
    config.metrics === null ? undefined : opened.adopt(createReading(figures), (one) => one.close());
  const closing = opened.move();

  function tellLost(): void {
    const lost = recorder.takeLost();
    if (lost !== undefined) log.error(lost, "visits could not be counted: the journal had no room for them");
  }

  async function tidy(): Promise<void> {
    tellLost();
    await recorder.prepare();
    const purged = await links.purge();
    if (purged > 0) log.info({ purged }, "purged links whose hold is over");
    await reports.age();
    await visits.age();
    await counters.flush();
  }

  return {
    port: server.port,
    readMetrics: metrics?.read,
    async stop(isReplaced = false) {
      if (!isReplaced) health.stopping();
      await server.drain(isReplaced ? REPLACED_MS : config.drainWaitMs);
      for (const repetition of repetitions) await repetition.stop();
      tellLost();
      await closing.disposeAsync();
    },
  };
}

type AdminOptions = Omit<
  AdminApiOptions & AdminPagesOptions & SignInOptions,
  "refusalOf" | "onWrong" | "token" | "signIn"
>;

/** The operator's API and pages. */
function createAdmin(shared: AdminOptions, adminToken: string, clients: Core["limits"]) {
  const token = createAdminToken(adminToken);
  const check = createOperatorCheck(token, clients);
  const signIn = createSignIn({ ...shared, ...check, token });
  const options = { ...shared, ...check };
  return {
    api: createLazyHandlers(async () => (await import("../api/admin/admin.ts")).createAdminApi(options)),
    pages: createAdminPages({ ...shared, signIn }),
  };
}

function refuseFolder(folder: string): (error: unknown) => never {
  return (cause) => {
    if (cause instanceof StoreUnusable) throw cause;
    const reason = reasonOf(cause);
    throw new StoreUnusable(
      `${folder} cannot keep visits until they are in the store: ${reason}. Set DATA_DIR to a folder that Curt can write to.`,
      { cause },
    );
  };
}

function countries(file: string | null): (address: string) => string {
  try {
    return openCountries(file ?? undefined);
  } catch (error) {
    throw new ConfigError([
      `COUNTRY_DATABASE must be a file in MaxMind's format, not ${file}: ${reasonOf(error)}`,
    ]);
  }
}
