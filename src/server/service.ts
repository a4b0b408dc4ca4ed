import { readCertificate } from "../config/certificate.ts";
import type { Config } from "../config/config.ts";
import { openEvents } from "../events/events-thread.ts";
import type { SenderLimits } from "../events/sender.ts";
import { createDomains } from "../http/domain.ts";
import { Overload, type OverloadLimits } from "../http/limits/overload.ts";
import { createRequestFigures } from "../http/request-counts.ts";
import type { Log } from "../lib/log.ts";
import { repeat } from "../lib/repeat.ts";
import { splitKey } from "../links/code.ts";
import { StoreUnusable, SyncFailed } from "../links/link-store.ts";
import { openTokens } from "../moderation/access-tokens.ts";
import { type BlocklistsLimits, openBlocklists } from "../moderation/blocklist/configured-lists.ts";
import { createIdentity } from "../pages/assets/branding.ts";
import { createLinkCache } from "../redirect/link-cache.ts";
import { createRedirectFigures } from "../redirect/redirect.ts";
import type { SharingLimits } from "../views/sharing.ts";
import { journalUnusable } from "../visits/journal/journal-store.ts";
import type { JournalTiming } from "../visits/journal/journal.ts";
import type { OpenRecorder, Visits } from "../visits/visits.ts";
import { type App, createApp, createClients } from "./app.ts";
import { chooseApp } from "./choose-app.ts";
import { type Core, type CoreOptions, openCore } from "./core.ts";
import { createFaultLog, type ReportFault } from "./fault-log.ts";
import { createHealth } from "./instance-endpoints.ts";
import { listen, type ServerLimits } from "./listen.ts";
import { MetricsReader } from "./metrics-snapshot.ts";
import { openViews } from "./views-thread.ts";

const TIDY_EVERY_MS = 60_000;
/** Lets a start survive a short outage of the database, such as a failover. */
export const OPEN_WAIT_MS = 30_000;
/** How long a replaced process closes each connection after its next response. Stopping immediately would cut off requests. */
export const REPLACED_MS = 2000;
/** A change in one process takes effect in all of them within a second. */
export const READ_CHANGES_EVERY_MS = 300;

/** Tests lower these so as not to wait. The usual values are where each limit is used. */
export interface Limits {
  readonly core?: CoreOptions;
  readonly blocklists?: BlocklistsLimits;
  readonly journal?: JournalTiming;
  readonly views?: SharingLimits;
  readonly overload?: OverloadLimits;
  readonly events?: SenderLimits;
  readonly server?: ServerLimits;
  readonly tidyEveryMs?: number;
}

export interface Service {
  readonly port: number;
  /** Undefined if METRICS_PORT is off. */
  readonly readMetrics: MetricsReader["read"] | undefined;
  /** Resolves once the store has another secret than this process. */
  readonly secretReplaced: Promise<void>;
  /** Resolves with the reason once a sync of the store has failed. The process must then end without `stop`. */
  readonly syncFailed: Promise<string>;
  /** Finishes open requests, within its limits, and closes everything. `isReplaced`: other processes keep serving. */
  stop(isReplaced?: boolean): Promise<void>;
}

/** Opens every part in the order of its dependencies. `stop` closes them in reverse. */
export async function startService(config: Config, log: Log, limits: Limits = {}): Promise<Service> {
  await using opened = new AsyncDisposableStack();
  const open = <Part extends { close(): void | Promise<void> }>(part: Part): Part =>
    opened.adopt(part, (one) => one.close());

  const faults = createFaultLog(log);
  const { promise: syncFailed, resolve: endWith } = Promise.withResolvers<string>();
  const onFault: ReportFault = (error, request) => {
    if (error instanceof SyncFailed) endWith(error.message);
    else faults.report(error, request);
  };
  const tokens = open(openTokens(config, log));
  const certificate = await readCertificate(config, log);
  const blocklists = open(await openBlocklists(config, log, limits.blocklists, onFault));
  const core = open(
    await openCore(config, log, {
      openWaitMs: OPEN_WAIT_MS,
      ...limits.core,
      isListed: blocklists.isBlocked,
      settleFaults: faults.settleStore,
      onFault,
    }),
  );
  const recorder = open(await openRecorder(config, log, core.visits, limits.journal, onFault));
  const [identity, withHome] = [createIdentity(config), createIdentity(config, "/+new")];
  const views = open(
    openViews(config, core, { identity, withHome, blocklists, limits: limits.views, onFault }),
  );
  const overload = open(openOverload(log, core, limits.overload));

  const domains = createDomains(config, identity, withHome);
  const sites = domains.map((domain) => {
    const own = core.forDomain(domain);
    return { domain, own, linkCache: createLinkCache(own.links, core.clock, domain.keyPrefix) };
  });
  const forgetLinks = () => sites.forEach(({ linkCache }) => linkCache.forgetAll());
  const forgetAll = () => {
    forgetLinks();
    views.forgetAll();
  };
  core.clock.onSetBack(forgetAll);
  const changes = await core.links.follow({
    // Forgetting other domains' links with this code does no harm.
    forget(key) {
      const { code } = splitKey(key);
      for (const { linkCache } of sites) linkCache.forget(code);
      views.forget(code);
    },
    forgetAll,
  });
  blocklists.onChange(forgetLinks);
  blocklists.startFeeds(core.clock.nowMs);

  const events =
    config.eventsUrl === null
      ? undefined
      : open(await openEvents(config, log, core.clock, limits.events, onFault));

  const health = createHealth(core.links, recorder);
  const redirects = createRedirectFigures();
  const requests = createRequestFigures();
  const clientOf = createClients(config, log);
  const apps = sites.map((site) =>
    createApp(config, core, {
      ...site,
      clientOf,
      recorder,
      views,
      overload,
      changes,
      tokens,
      health,
      redirects,
      requests,
      elsewhere: (request, server) => app.fetch(request, server),
      onFault,
    }),
  );
  const app: App = chooseApp(domains, apps);
  const server = listen(app, config, { ...limits.server, tls: certificate });
  const repetitions = [
    repeat(READ_CHANGES_EVERY_MS, changes.read, onFault),
    repeat(limits.tidyEveryMs ?? TIDY_EVERY_MS, tidy, onFault),
  ];
  const metrics =
    config.metrics === null
      ? undefined
      : open(
          new MetricsReader(config, core, {
            redirects,
            requests,
            linkCache: { size: () => sites.reduce((sum, { linkCache }) => sum + linkCache.size(), 0) },
            views,
            overload,
            blocklists,
            recorder,
            faults: faults.counts,
            certificate,
            events,
            inProgress: server.pending,
          }),
        );
  const parts = opened.move();

  function reportLostVisits(): void {
    const lost = recorder.takeLost();
    if (lost !== undefined) log.error(lost, "visits could not be counted: the journal was full");
  }

  let wrongTokens = 0;
  /** One line for all of a minute, so that nobody can fill the log. */
  function reportWrongTokens(): void {
    const total = core.counters.totals["wrong-token"];
    if (total > wrongTokens) log.warn({ times: total - wrongTokens }, "wrong operator tokens");
    wrongTokens = total;
  }

  const { promise: secretReplaced, resolve: onSecretReplaced } = Promise.withResolvers<void>();

  /** A step that fails stops none of the others. */
  async function tidy(): Promise<void> {
    reportLostVisits();
    reportWrongTokens();
    for (const step of [
      compareSecret,
      recorder.prepare,
      purge,
      core.cases.age,
      core.visits.age,
      core.counters.flush,
    ])
      await step().catch(onFault);
  }

  async function compareSecret(): Promise<void> {
    if (!(await core.hasSharedSecret())) onSecretReplaced();
  }

  async function purge(): Promise<void> {
    const purged = await core.links.purge();
    if (purged > 0) log.info({ purged }, "purged links whose hold is over");
  }

  return {
    port: server.port,
    readMetrics: metrics && ((request) => metrics.read(request)),
    secretReplaced,
    syncFailed,
    async stop(isReplaced = false) {
      if (!isReplaced) health.stopping();
      await server.drain(isReplaced ? REPLACED_MS : config.drainWaitMs);
      for (const repetition of repetitions) await repetition.stop();
      reportLostVisits();
      reportWrongTokens();
      await parts.disposeAsync();
    },
  };
}

function openOverload(log: Log, { clock }: Pick<Core, "clock">, limits: OverloadLimits = {}) {
  return new Overload({
    ...limits,
    clock,
    onChange(refused) {
      if (refused.length > 0) log.warn({ refused }, "overloaded: some requests are refused");
      else log.info("no longer overloaded");
    },
  });
}

/** Opens the journal of visits, and logs its troubles. Throws {@link StoreUnusable}. */
async function openRecorder(
  { journalFolder }: Config,
  log: Log,
  visits: Visits,
  limits: JournalTiming | undefined,
  onFault: (error: unknown) => void,
): Promise<OpenRecorder> {
  try {
    return await visits.openRecorder({
      ...limits,
      folder: journalFolder,
      onFault,
      onDropped: (path) =>
        log.warn({ path }, "a file of visits is damaged, perhaps by a power cut: its visits are not counted"),
      onTrouble(reason) {
        if (reason !== undefined) log.warn(`visits are not counted: ${reason}`);
        else log.info("visits are counted again");
      },
      // Removing the machine now would lose them.
      onLeft: () =>
        log.warn(
          { folder: journalFolder },
          "the last visits stay in the journal: the next start adds them to the database",
        ),
    });
  } catch (cause) {
    if (cause instanceof StoreUnusable) throw cause;
    throw journalUnusable(journalFolder, cause);
  }
}
