import type { Config } from "./config.ts";
import { type Clock, createClock } from "./links/clock.ts";
import type { Link } from "./links/link.ts";
import { createLinks, type Links } from "./links/links.ts";
import { effectivePort } from "./links/target.ts";
import { type Log, withoutQuery } from "./log.ts";
import { openStore, type StoreLimits } from "./store/open.ts";
import { createVisits, type Visits } from "./visits/visits.ts";

/** Links and visits without HTTP. Commands use it directly; the service adds a port and timers. */
export interface Core {
  readonly clock: Clock;
  readonly links: Links;
  readonly visits: Visits;
  /** Finishes accepted work, then closes the store. */
  close(): Promise<void>;
}

export interface CoreOptions extends StoreLimits {
  /** The system clock by default. Tests set their own. */
  readonly clock?: Clock;
}

/** Opens the store. Nothing else creates a clock or a source of randomness, so tests can replace the clock here. */
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
    visits: createVisits({ store, clock, fillRandom, keepDays: config.statsKeepDays }),
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
