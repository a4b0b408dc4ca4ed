import type { Config } from "./config.ts";
import { type Clock, createClock } from "./links/clock.ts";
import type { Link } from "./links/link.ts";
import { createLinks, type Links } from "./links/links.ts";
import { effectivePort } from "./links/target.ts";
import { type Log, withoutQuery } from "./log.ts";
import { openStore, type StoreLimits } from "./store/open.ts";
import { createVisits, type Visits } from "./visits/visits.ts";

/** What Curt does, without HTTP: a command uses it as it is, and the service gives it a port and timers. */
export interface Core {
  readonly clock: Clock;
  readonly links: Links;
  readonly visits: Visits;
  /** Finishes what was accepted and lets go of the store. */
  close(): Promise<void>;
}

export interface CoreOptions extends StoreLimits {
  /** The system's, unless a test sets the time. */
  readonly clock?: Clock;
}

/** The only place with a clock and a source of randomness. */
export async function openCore(config: Config, log: Log, options: CoreOptions = {}): Promise<Core> {
  const store = await openStore(config.database, options);
  const clock = options.clock ?? createClock(Date.now, () => performance.now());
  const fillRandom = (bytes: Uint8Array) => void crypto.getRandomValues(bytes);
  const onCreated = ({ code, target }: Link) => {
    if (log.isLevelEnabled("debug")) log.debug({ code, target: withoutQuery(target) }, "link made");
  };
  return {
    clock,
    links: createLinks({
      ...config,
      store,
      clock,
      fillRandom,
      targetPolicy: targetPolicy(config),
      onCreated,
    }),
    visits: createVisits({
      store,
      clock,
      fillRandom,
      keepDays: config.statsKeepDays,
      shown: config.statsShown,
    }),
    close: () => store.close(),
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
