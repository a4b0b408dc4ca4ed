import { type Config, ConfigError } from "../config/config.ts";
import { createCalls, type Handler } from "../http/call.ts";
import { type ClientOf, createClientReader } from "../http/client.ts";
import { createOperatorCheck } from "../http/credentials.ts";
import type { Domain } from "../http/domain.ts";
import { createLimiter } from "../http/limiter.ts";
import type { Overload } from "../http/overload.ts";
import type { RequestFigures } from "../http/request-counts.ts";
import type { Views } from "../http/views.ts";
import { reasonOf } from "../lib/error-reason.ts";
import type { Log } from "../lib/log.ts";
import type { ChangeReader } from "../links/change-feed.ts";
import { createAdminToken, createTokenCheck } from "../moderation/access-tokens.ts";
import { createAdminPages } from "../pages/admin/handler.ts";
import { createAssetRoutes } from "../pages/assets/handler.ts";
import { createHome } from "../pages/home/handler.ts";
import { createManagePages } from "../pages/manage/handler.ts";
import { createPasswords } from "../pages/password/handler.ts";
import { createJustCreated } from "../pages/preview/just-created.ts";
import { answerProblem } from "../pages/problem/answer.ts";
import { createProblemCache } from "../pages/problem/problem-cache.ts";
import { createReport } from "../pages/report/handler.ts";
import { createSignIn } from "../pages/sign-in/handler.ts";
import { createUnknownAnswer } from "../pages/unknown/handler.ts";
import { createGate } from "../redirect/gate.ts";
import { createInterstitial } from "../redirect/interstitial.ts";
import type { LinkCache } from "../redirect/link-cache.ts";
import { createRedirect, type RedirectFigures } from "../redirect/redirect.ts";
import { openCountries } from "../visits/country.ts";
import type { OpenRecorder } from "../visits/visits.ts";
import type { Core } from "./core.ts";
import { secretOf } from "./domain-store.ts";
import type { ReportFault } from "./fault-log.ts";
import { type Health, createNotices } from "./instance-endpoints.ts";

interface HandlerParts {
  readonly domain: Domain;
  /** The use cases of the domain. */
  readonly own: ReturnType<Core["forDomain"]>;
  readonly clientOf: ClientOf;
  readonly recorder: OpenRecorder;
  readonly views: Views;
  readonly overload: Overload;
  readonly linkCache: LinkCache;
  readonly changes: ChangeReader;
  readonly health: Health;
  readonly redirects: RedirectFigures;
  readonly requests: RequestFigures;
  readonly onFault: ReportFault;
}

export type Handlers = ReturnType<typeof createHandlers>;

/** Reads the client of a request. */
export function createClients(config: Config, log: Log): ClientOf {
  return createClientReader({
    host: config.host,
    trustedProxies: config.trustedProxies,
    countryOf: openCountryDatabase(config.countryDatabase),
    onNotForwarded: () =>
      log.warn(
        "requests of TRUSTED_PROXIES come without X-Forwarded-For: all visitors count as one client. Let the proxy append to it",
      ),
  });
}

/** Everything that answers a route of a domain, each with the parts and settings that it needs. */
export function createHandlers(config: Config, core: Core, parts: HandlerParts) {
  const { clock, operator, hostRules } = core;
  const { domain, own, recorder, views, overload, linkCache, changes, health, onFault } = parts;
  const { links, secret, reports, visits } = own;
  const { createToken, adminToken } = config;

  const callOf = createCalls({ domain, clientOf: parts.clientOf });
  const limiter = createLimiter(core.limits, clock, core.counters, answerProblem);
  const mayCreate = createTokenCheck(createToken);
  const cachedProblem = createProblemCache();
  const justCreated = createJustCreated({ links, secret, clock, views });
  const answerUnknown = createUnknownAnswer({
    exists: linkCache.exists,
    limiter,
    overload,
    cachedProblem,
    onFault,
  });
  const interstitial =
    config.interstitial === "all" ? createInterstitial({ recorder, views, onFault }) : undefined;
  const passwords = createPasswords({ secret, clock, limiter });
  const gate = createGate({ links, linkCache, clock, recorder, limiter, passwords, interstitial, onFault });

  function createAdmin(rightToken: string) {
    const token = createAdminToken(rightToken);
    const { refusalOf, onWrong } = createOperatorCheck(token, core.limits);
    const signIn = createSignIn({ token, clock, store: core.sessions, onWrong });
    // The operator sees the links of all domains.
    const { cases, secret: baseSecret } = core;
    const options = { operator, cases, views, refusalOf };
    return {
      api: createLazyHandlers(async () => (await import("../api/admin/admin.ts")).createAdminApi(options)),
      pages: createAdminPages({
        signIn,
        operator,
        secret: baseSecret,
        cases,
        hostRules,
        views,
      }),
    };
  }

  const apiOptions = {
    links,
    reports,
    clock,
    limiter,
    mayCreate,
    secret,
    visits,
    views,
    createToken,
    secretOf: ({ keyPrefix }: Domain) => secretOf(core.secret, keyPrefix),
  };
  return {
    api: createLazyHandlers(async () => (await import("../api/api.ts")).createApi(apiOptions)),
    admin: adminToken === null ? undefined : createAdmin(adminToken),
    // The store has the change already. If reading it fails now, the next read applies it.
    onChanged: () => changes.read().catch(onFault),
    home: createHome({ links, clock, mayCreate, limiter, views, justCreated, onFault }),
    justCreated,
    report: createReport({ reports, views, onFault }),
    managePages: createManagePages({ links, secret, limiter, views, onFault }),
    notices: createNotices(config.contact, clock),
    answerUnknown,
    redirect: createRedirect({
      linkCache,
      clock,
      recorder,
      callOf,
      limiter,
      answerUnknown,
      cacheSeconds: config.cacheSeconds,
      interstitial,
      gate,
      figures: parts.redirects,
      onFault,
    }),
    gate,
    views,
    assets: createAssetRoutes(domain.identity),
    health,
    limiter,
    overload,
    cachedProblem,
    callOf,
    requests: parts.requests,
    onFault,
  };
}

function openCountryDatabase(file: string | null): (address: string) => string {
  try {
    return openCountries(file ?? undefined);
  } catch (error) {
    throw new ConfigError([
      `COUNTRY_DATABASE must be a file in MaxMind's format, not ${file}: ${reasonOf(error)}`,
    ]);
  }
}

/** How long after the start handlers are loaded, at the latest: before an update replaces the files of this version. */
const LOAD_AFTER_MS = 1000;

/** Gives a handler by its name. */
export type LazyHandlers<T> = (name: keyof T) => Handler;

/**
 * Loads handlers after the start or with their first request, because loading schemas takes longer than the rest of a start and
 * redirects do without. If it fails, the next request tries again.
 */
function createLazyHandlers<T extends Readonly<Record<keyof T, Handler>>>(
  load: () => Promise<T>,
): LazyHandlers<T> {
  let handlers: T | undefined;

  async function loadOnce(): Promise<T> {
    const loaded = await load();
    return (handlers ??= loaded);
  }
  setTimeout(() => void loadOnce().catch(() => {}), LOAD_AFTER_MS).unref();

  return (name) => async (call) => {
    if (handlers !== undefined) return handlers[name](call);
    // The address is lost if the client hangs up while the handlers load.
    call.client();
    return (await loadOnce())[name](call);
  };
}
