import type { Config } from "../config/config.ts";
import { type Log, withoutQuery } from "../lib/log.ts";
import { fillRandom } from "../lib/random.ts";
import { type Clock, createClock } from "../links/clock.ts";
import type { Link } from "../links/link.ts";
import { createLinks, type Links } from "../links/links.ts";
import type { Problem } from "../links/problem.ts";
import { createSecret, type Secret } from "../links/secret.ts";
import type { LinkStore } from "../links/store.ts";
import { effectivePort } from "../links/target.ts";
import { DAY_MS, HOUR_MS } from "../links/time.ts";
import type { ListCheck } from "../moderation/blocklist/list-table.ts";
import { type Counters, createCounters } from "../moderation/counters.ts";
import { createHostRules, type HostRules } from "../moderation/host-rules.ts";
import { createInspection, type Inspection } from "../moderation/inspection.ts";
import { createOperator, createRuleCheck, type Operator } from "../moderation/operator.ts";
import { createRateLimits, type RateLimits } from "../moderation/rate-limits.ts";
import { createReports, type Reports } from "../moderation/reports/reports.ts";
import { isShortener } from "../moderation/shorteners.ts";
import { createStoreFigures, type StoreFigures } from "../store/commits.ts";
import { openStore, type StoreOptions } from "../store/open.ts";
import { createVisits, type Visits } from "../visits/visits.ts";

/** A clock is believed at a start until so many days after Curt last ran with one that was. */
const BELIEVED_DAYS = 31;
const SECRET_BYTES = 32;

/** What Curt does, without HTTP; the service gives it a port and timers. */
export interface Core {
  readonly clock: Clock;
  readonly links: Links;
  readonly secret: Secret;
  readonly visits: Visits;
  readonly hostRules: HostRules;
  readonly operator: Operator;
  readonly inspection: Inspection;
  readonly counters: Counters;
  readonly storeFigures: StoreFigures;
  /** About how many links there are. */
  size(): Promise<number>;
  readonly reports: Reports;
  readonly limits: RateLimits;
  /** Finishes accepted work, then closes the store. */
  close(): Promise<void>;
}

export interface CoreOptions extends Omit<
  StoreOptions,
  "openElsewhere" | "connections" | "readFrom" | "storeFigures"
> {
  /** The system's, unless a test sets the time. */
  readonly clock?: Clock;
  /** Whether a blocklist has a target. */
  readonly isListed?: ListCheck;
  /** Logs the store's faults that were only counted so far. */
  readonly settleFaults?: () => void;
}

/** For what opens no store. */
export function systemNowMs(): number {
  return Date.now();
}

/** Opens the store. Nothing else creates a clock, so tests can replace it here. */
export async function openCore(config: Config, log: Log, options: CoreOptions = {}): Promise<Core> {
  const storeFigures = createStoreFigures();
  const store = await openStore(config.database, {
    onWait: (reason) => log.warn({ reason }, "the database does not answer: waiting for it"),
    // That it does not answer is logged as a fault by whoever asks it.
    onPrimary: (primary, trouble) => {
      options.settleFaults?.();
      log.info({ primary, trouble }, "the database answers again");
    },
    onReplica: (replica, trouble) => {
      if (trouble === undefined) log.info({ replica }, "the replica answers again");
      else
        log.warn(
          { replica, trouble },
          "a replica does not answer in time: the primary is asked instead of it",
        );
    },
    ...options,
    readFrom: config.readDatabase ?? undefined,
    openElsewhere: config.openElsewhere,
    connections: config.databasePool,
    storeFigures,
  });
  const clock =
    options.clock ??
    createClock(Date.now, () => performance.now(), {
      believedUntilMs: ((await store.newestSaltDay()) + BELIEVED_DAYS) * DAY_MS,
      onChange: tellClock(log),
    });
  const counters = createCounters({ store, clock });
  const onCreated = ({ code, target }: Link) => {
    counters.count("created");
    if (log.isLevelEnabled("debug")) log.debug({ code, target: withoutQuery(target) }, "link made");
  };
  const onRefused = (problem: Problem) => counters.count(isBlocked(problem) ? "blocked" : "refused");
  const hostRules = createHostRules(store, options.isListed);
  await hostRules.read();
  const policy = targetPolicy(config);
  const links = createLinks({
    ...config,
    store,
    clock,
    fillRandom,
    targetPolicy: policy,
    blocked: hostRules.blocked,
    readRules: hostRules.read,
    onCreated,
    onRefused,
  });
  const secret = createSecret(
    config.secret === null ? await storedSecret(store) : Buffer.from(config.secret),
  );
  const seed = fillRandom(new BigUint64Array(1))[0] ?? 0n;
  const refuseRule = createRuleCheck({ hostRules, ...policy });
  return {
    clock,
    hostRules,
    counters,
    storeFigures,
    size: () => store.size(),
    operator: createOperator({ store, clock, refuseRule }),
    inspection: createInspection({ store, clock, blocked: hostRules.blocked }),
    links,
    secret,
    reports: createReports({
      ...config,
      store,
      links,
      clock,
      refuseRule,
      onReported: () => counters.count("reports"),
      onDisabled: ({ code }) => log.warn({ code }, "a link was disabled because of its reports"),
    }),
    visits: createVisits({ store, clock, keepDays: config.statsKeepDays }),
    limits: createRateLimits({ ...config, clock, seed }),
    async close() {
      // Figures are no reason to fail.
      await counters.flush().catch(() => {});
      await store.close();
    },
  };
}

/** The store keeps the secret that the first process proposed. */
async function storedSecret(store: Pick<LinkStore, "secret">): Promise<Uint8Array> {
  const proposed = new Uint8Array(SECRET_BYTES);
  fillRandom(proposed);
  return store.secret(proposed);
}

/** Whether a link was refused because of a rule or a blocklist. */
function isBlocked(problem: Problem): boolean {
  return problem.kind === "invalid" && problem.refusals.some(({ rule }) => rule === "target.blocked");
}

/** Makes later starts believe the clock as it is, by a salt of today; resolves with its reading. */
export async function trustClock({ database }: Config): Promise<string> {
  const store = await openStore(database);
  const now = new Date(Date.now());
  const today = Math.floor(now.getTime() / DAY_MS);
  try {
    await store.salt(today, 0);
  } finally {
    await store.close();
  }
  return now.toISOString();
}

function tellClock(log: Log) {
  return (isBelieved: boolean, aheadMs: number) => {
    const hours = Math.round(aheadMs / HOUR_MS);
    if (isBelieved) log.warn({ hours }, "the clock is right again: links and codes age as usual");
    else
      log.warn(
        { hours },
        "the clock is wrong by more than an hour, or Curt did not run for a month: no link is deleted and no code given " +
          "anew until it is right again. If it is right now, run curt trust-clock and restart Curt",
      );
  };
}

/** For links that are taken in from elsewhere. */
export function arrivalRules(config: Config) {
  return { targetPolicy: targetPolicy(config), nowMs: Date.now() };
}

function targetPolicy({ posture, baseUrl, aliases, port }: Config) {
  const base = new URL(baseUrl);
  return {
    posture,
    ownHosts: [base.hostname, ...aliases],
    ownPorts: [effectivePort(base), String(port)],
    isShortener,
  };
}
