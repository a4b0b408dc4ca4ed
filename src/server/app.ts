import { type Config, ConfigError } from "../config/config.ts";
import { type Call, createCalls, type Handler } from "../http/call.ts";
import { type ClientOf, createClientReader } from "../http/client.ts";
import { createUserReader } from "../http/credentials.ts";
import { createLimiter } from "../http/limits/limiter.ts";
import { createPasswordTries } from "../http/limits/password-tries.ts";
import { createLimitHeaders } from "../http/limits/rate-limit-headers.ts";
import { createRefusals } from "../http/limits/refusals.ts";
import { createOriginCheck } from "../http/origins.ts";
import { reasonOf } from "../lib/error-reason.ts";
import type { Log } from "../lib/log.ts";
import { createAssetRoutes } from "../pages/assets/handler.ts";
import { createPasswords } from "../pages/password/handler.ts";
import { answerProblem } from "../pages/problem/answer.ts";
import { createProblemCache } from "../pages/problem/problem-cache.ts";
import { createUnknownAnswer } from "../pages/unknown/handler.ts";
import { Gate } from "../redirect/gate.ts";
import { createInterstitial } from "../redirect/interstitial.ts";
import { createPathVisits } from "../redirect/path-visits.ts";
import { createRedirect, type Redirect } from "../redirect/redirect.ts";
import { openCountries } from "../visits/country.ts";
import type { AppParts } from "./app-parts.ts";
import type { Core } from "./core.ts";
import { createRouter, type Fetch } from "./router.ts";
import type { OPERATOR, PUBLIC } from "./routes.ts";

/** Loads other endpoints at the latest this long after the start, before an update replaces the files of this version. */
const LOAD_AFTER_MS = 1000;

/** Paths of one segment, which could be codes. All of them are reserved. */
type Segment<Address> = Address extends `GET /${infer Name}`
  ? Name extends `${string}${"/" | "{" | "+" | "."}${string}` | ""
    ? never
    : Name
  : never;
const PAGES = {
  public: { api: true, docs: true, livez: true, readyz: true },
  operator: { admin: true },
} as const satisfies {
  readonly public: Readonly<Record<Segment<keyof typeof PUBLIC> | "livez" | "readyz", true>>;
  readonly operator: Readonly<Record<Segment<keyof typeof OPERATOR>, true>>;
};

/** Answers all requests of a domain. */
export interface App {
  /** Short addresses, which Bun matches itself. */
  readonly redirect: Redirect;
  /** All other paths and methods. */
  readonly fetch: Fetch;
}

/** Reads the client of a request. */
export function createClients(config: Config, log: Log): ClientOf {
  return createClientReader({
    host: config.host,
    trustedProxies: config.trustedProxies,
    countryOf: openCountryDatabase(config.countryDatabase),
    onNotForwarded: () =>
      log.warn(
        "requests from TRUSTED_PROXIES lack X-Forwarded-For: all visitors count as one client. Let the proxy append to it",
      ),
  });
}

/**
 * Opens redirects and what they can lead to. A start loads nothing else, because schemas take longer than the rest of it.
 * The other endpoints follow with `endpoints.ts`.
 */
export function createApp(config: Config, core: Core, parts: AppParts): App {
  const { clock, limits, counters } = core;
  const { domain, own, recorder, overload, linkCache, health, onFault } = parts;
  const { links, secret } = own;

  const callOf = createCalls({ domain, clientOf: parts.clientOf });
  const refusals = createRefusals(limits, clock, counters);
  const limiter = createLimiter(limits, refusals, counters, answerProblem);
  const cachedProblem = createProblemCache();
  const readPerson = createUserReader(config.createUserHeader);
  const showNearest = async (call: Call, person: string) => (await loaded()).showNearest(call, person);
  const answerUnknown = createUnknownAnswer({
    exists: linkCache.exists,
    limiter,
    overload,
    cachedProblem,
    showNearest(call) {
      const person = readPerson(call);
      return typeof person === "string" ? showNearest(call, person) : undefined;
    },
    onFault,
  });
  const notFound: Handler = async (call) => answerUnknown(call, { kind: "not-found" });
  const loaded = onceOrAgain(async () => {
    const { createEndpoints } = await import("./endpoints.ts");
    return createEndpoints(config, core, { ...parts, limiter, cachedProblem, notFound });
  });
  const interstitial =
    config.interstitial === "all"
      ? createInterstitial({
          recorder,
          show: async (call, details) => (await loaded()).showInterstitial(call, details),
          onFault,
        })
      : undefined;
  const passwords = createPasswords({ secret, clock, tryPassword: createPasswordTries(limits, refusals) });
  const gate = new Gate({
    links,
    linkCache,
    clock,
    recorder,
    limiter,
    passwords,
    blocked: core.hostRules.blocked,
    interstitial,
    onFault,
  });
  const pages = new Set<string>(Object.keys({ ...PAGES.public, ...(config.hasOperators && PAGES.operator) }));
  setTimeout(() => void loaded().catch(() => {}), LOAD_AFTER_MS).unref();

  const fetch = createRouter({
    first: [
      { at: "GET /livez", handle: health.live },
      { at: "GET /readyz", handle: health.ready },
    ],
    load: async () => [
      ...(await loaded()).routes,
      ...Object.entries(createAssetRoutes(domain.identity)).map(([path, handle]) => ({
        at: `GET ${path}`,
        handle,
      })),
      {
        at: "POST /{code}",
        handle: (call) => gate.receive(call),
        accepts: (call) => gate.takesPost(call),
      },
    ],
    admitOrigin: createOriginCheck(config),
    closed: config.hasOperators ? "/api/v1/admin/" : undefined,
    notFound: createPathVisits({ links, linkCache, clock, limiter, gate, pages, notFound }),
    addLimitHeaders: createLimitHeaders(limits, refusals),
    callOf,
    requests: parts.requests,
    onFault,
  });
  const redirect = createRedirect({
    linkCache,
    codeCase: config.codeCase,
    clock,
    recorder,
    callOf,
    limiter,
    answerUnknown,
    cacheSeconds: config.cacheSeconds,
    interstitial,
    gate,
    pages,
    elsewhere: parts.elsewhere,
    figures: parts.redirects,
    onFault,
  });
  return { redirect, fetch };
}

/** Loads only once. If that fails, the next call tries again. */
function onceOrAgain<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () =>
    (loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    }));
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
