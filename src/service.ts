import { type Config, ConfigError } from "./config.ts";
import { createApi } from "./http/api/api.ts";
import { createApp } from "./http/app.ts";
import { createClientReader } from "./http/client.ts";
import { createHealth } from "./http/health.ts";
import { createQr } from "./http/pages/images.ts";
import { createNotices } from "./http/pages/notices.ts";
import { createPages } from "./http/pages/pages.ts";
import { createRedirect } from "./http/redirect/redirect.ts";
import { listen, peerReader, type ServerLimits } from "./http/server.ts";
import { createClock } from "./links/clock.ts";
import type { Link } from "./links/link.ts";
import { createLinks } from "./links/links.ts";
import { StoreUnavailable } from "./links/store.ts";
import { effectivePort } from "./links/target.ts";
import { type Log, withoutQuery } from "./log.ts";
import { openStore, type StoreLimits, StoreUnusable } from "./store/open.ts";
import { VERSION } from "./version.ts";
import { ageVisits } from "./visits/ageing.ts";
import { openCountries } from "./visits/country.ts";
import { type JournalLimits, openJournal } from "./visits/journal.ts";
import { createRecorder } from "./visits/recorder.ts";
import { createVisitors } from "./visits/visitor.ts";

const TIDY_EVERY_MS = 60_000;
const HOUR_MS = 3_600_000;
/** While the store is away, one line in this time tells it. */
const UNAVAILABLE_LOG_EVERY_MS = 5000;

/** What tests lower so as not to wait; each limit has its usual value where it is used. */
export interface Limits extends ServerLimits, StoreLimits, JournalLimits {}

export interface Service {
  readonly port: number;
  /** Finishes what is under way, within its limits, and closes everything. */
  stop(): Promise<void>;
}

/** Opens everything, in order; what it opened, `stop` closes in the reverse order. */
export async function startService(config: Config, log: Log, limits: Limits = {}): Promise<Service> {
  const { baseUrl, defaultExpiry, cacheSeconds, trustedProxies, countryHeader } = config;
  await using opened = new AsyncDisposableStack();
  const store = opened.adopt(await openStore(config.database, limits), (one) => one.close());
  const monotonicMs = () => performance.now();
  const clock = createClock(Date.now, monotonicMs);
  const fillRandom = (bytes: Uint8Array) => void crypto.getRandomValues(bytes);
  const onFault = reportFaults(log);
  const links = createLinks({
    store,
    clock,
    fillRandom,
    targetPolicy: targetPolicy(config),
    defaultExpiry,
    codeLength: config.codeLength,
    codeHoldMs: config.codeHoldMs,
  });
  const visitors = createVisitors({ store, fillRandom });
  await visitors.prepare(clock.nowMs()).catch(onFault);
  const journal = opened.adopt(
    await openJournal({
      ...limits,
      folder: config.journalFolder,
      store,
      fillRandom,
      nowMs: monotonicMs,
      hour: () => Math.floor(clock.nowMs() / HOUR_MS),
      onFault,
      onDropped: (path) =>
        log.warn(
          { path },
          "visits that a power cut or a damaged file left behind cannot be trusted: not counted",
        ),
    }).catch(refuseFolder(config.journalFolder)),
    (one) => one.close(),
  );
  const countryOf = countries(config.countryDatabase);
  const recorder = createRecorder({
    journal,
    visitors,
    clientOf: createClientReader({ trustedProxies, countryHeader, countryOf }),
  });
  const health = createHealth(store);
  const onCreated = ({ code, target }: Link) => {
    if (log.isLevelEnabled("debug")) log.debug({ code, target: withoutQuery(target) }, "link made");
  };
  const shared = { links, visits: store, clock, baseUrl, defaultExpiry, onCreated };
  const api = createApi({ ...shared, version: VERSION });
  const pages = createPages({ ...shared, onFault });
  const notices = createNotices({ baseUrl, contact: config.contact, clock });
  const peerOf = peerReader(config.host);
  const redirect = createRedirect({ links, clock, recorder, peerOf, cacheSeconds, onFault });
  const qr = createQr({ links, baseUrl });
  const app = createApp({ api, pages, notices, redirect, qr, health, onFault });
  const server = listen(app, config.host, config.port, config.processes > 1, limits);
  const tidying = setInterval(() => void tidy().catch(onFault), TIDY_EVERY_MS);
  const closing = opened.move();

  function tellLost(): void {
    const lost = recorder.takeLost();
    if (lost !== undefined)
      log.error(lost, "visits could not be counted: the store has been away for too long");
  }

  async function tidy(): Promise<void> {
    tellLost();
    await visitors.prepare(clock.nowMs());
    const purged = await links.purge();
    if (purged > 0) log.info({ purged }, "purged links whose hold is over");
    await ageVisits(store, clock, config.statsKeepDays);
  }

  return {
    port: server.port,
    async stop() {
      health.stopping();
      await server.drain(config.drainWaitMs);
      clearInterval(tidying);
      tellLost();
      await closing.disposeAsync();
    },
  };
}

function refuseFolder(folder: string): (error: unknown) => never {
  return (cause) => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new StoreUnusable(`${folder} cannot keep visits until they are in the store: ${reason}`, { cause });
  };
}

function countries(file: string | undefined): (address: string) => string {
  try {
    return openCountries(file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError([`COUNTRY_DATABASE must be a file in MaxMind's format, not ${file}: ${reason}`]);
  }
}

/** Unexpected faults are logged one by one; a store that is away, now and then. */
function reportFaults(log: Log): (error: unknown) => void {
  let quietUntilMs = 0;
  return (err) => {
    if (!(err instanceof StoreUnavailable)) {
      log.error({ err }, "unexpected fault");
    } else if (performance.now() >= quietUntilMs) {
      quietUntilMs = performance.now() + UNAVAILABLE_LOG_EVERY_MS;
      log.warn({ err }, "the store cannot answer");
    }
  };
}

function targetPolicy({ posture, baseUrl, aliases, port }: Config) {
  const base = new URL(baseUrl);
  return {
    posture,
    ownHosts: [base.hostname, ...aliases],
    ownPorts: [effectivePort(base), String(port)],
  };
}
