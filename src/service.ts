import type { Config } from "./config.ts";
import { createApi } from "./http/api.ts";
import { createApp } from "./http/app.ts";
import { createHealth } from "./http/health.ts";
import { createRedirect } from "./http/redirect.ts";
import { listen, type Server } from "./http/server.ts";
import { createClock } from "./links/clock.ts";
import type { Link } from "./links/link.ts";
import { createLinks, type Links } from "./links/links.ts";
import { StoreUnavailable } from "./links/store.ts";
import { effectivePort } from "./links/target.ts";
import { type Log, withoutQuery } from "./log.ts";
import { openStore } from "./store/open.ts";
import { VERSION } from "./version.ts";

const PURGE_EVERY_MS = 60_000;
/** While the store is away, one line in this time tells it. */
const UNAVAILABLE_LOG_EVERY_MS = 5000;

export interface Service {
  readonly port: number;
  /** Finishes what is under way, within its limits, and closes everything. */
  stop(): Promise<void>;
}

/** Opens everything, in order; what it opened, `stop` closes in the reverse order. */
export async function startService(config: Config, log: Log): Promise<Service> {
  const { baseUrl, defaultExpiry, cacheSeconds } = config;
  const store = await openStore(config.database);
  const clock = createClock(Date.now, () => performance.now());
  const links = createLinks({
    store,
    clock,
    fillRandom: (bytes) => crypto.getRandomValues(bytes),
    targetPolicy: targetPolicy(config),
    defaultExpiry,
    codeLength: config.codeLength,
    codeHoldMs: config.codeHoldMs,
  });
  const health = createHealth(store);
  const onFault = reportFaults(log);
  const onCreated = ({ code, target }: Link) => {
    if (log.isLevelEnabled("debug")) log.debug({ code, target: withoutQuery(target) }, "link made");
  };
  const api = createApi({ links, baseUrl, defaultExpiry, version: VERSION, onCreated });
  const redirect = createRedirect({ links, clock, cacheSeconds, onFault });
  const app = createApp({ api, redirect, health, baseUrl, onFault });
  let server: Server;
  try {
    server = listen(app, config.host, config.port, config.processes > 1);
  } catch (error) {
    await store.close();
    throw error;
  }
  const purging = setInterval(() => void purge(links, log).catch(onFault), PURGE_EVERY_MS);

  return {
    port: server.port,
    async stop() {
      health.stopping();
      await server.drain(config.drainWaitMs);
      clearInterval(purging);
      await store.close();
    },
  };
}

async function purge(links: Links, log: Log): Promise<void> {
  const purged = await links.purge();
  if (purged > 0) log.info({ purged }, "purged links whose hold is over");
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
