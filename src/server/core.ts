import { type Config, ConfigError, hostOf } from "../config/config.ts";
import type { Domain } from "../http/domain.ts";
import { type Log, type WarningLog, withoutQuery } from "../lib/log.ts";
import { fillRandom } from "../lib/random.ts";
import { BELIEVED_DAYS, type Clock, createClock, type Trust } from "../links/clock.ts";
import { keyOf, type LinkKey } from "../links/code.ts";
import { createDestinationParser } from "../links/drafts.ts";
import type { LinkStore } from "../links/link-store.ts";
import type { Link } from "../links/link.ts";
import { createLinks, createStoredLinks, type Links, type StoredLinks } from "../links/links.ts";
import type { Problem } from "../links/problem.ts";
import { createSecret, type Secret } from "../links/secret.ts";
import { effectivePort, keyPrefixOf } from "../links/target.ts";
import { DAY_MS, HOUR_MS } from "../links/time.ts";
import { isShortener } from "../moderation/blocklist/domain-name.ts";
import type { ListCheck } from "../moderation/blocklist/list-table.ts";
import { type BringBack, createBringBack } from "../moderation/corrections.ts";
import { type Counters, createCounters } from "../moderation/counters.ts";
import { createHostRules, type HostRules } from "../moderation/host-rules.ts";
import { createInspection, type Inspection } from "../moderation/inspection.ts";
import type { KnownHosts, ModerationStore } from "../moderation/moderation-store.ts";
import { createOperator, createRuleCheck, type Operator } from "../moderation/operator.ts";
import { createRateLimits, type RateLimits } from "../moderation/rate-limits.ts";
import { type Cases, createCases, createReports, type Reports } from "../moderation/reports.ts";
import { openStore, type StoreOptions } from "../store/open.ts";
import { createStoreFigures, type StoreFigures } from "../store/shared/commits.ts";
import { fixingCodeCase, otherCodeCase } from "../store/shared/first-links.ts";
import { createVisits, sumsOf, type VisitLookUps, type Visits } from "../visits/visits.ts";
import { readerOf, secretOf, storeOf } from "./domain-store.ts";

/** The clock is more than a month after the day of the last salt, or after the last trusted reading. */
export const CLOCK_TOO_FAR =
  "the clock is more than a month ahead of the last time that Curt trusted: no link is deleted and no code reused until it " +
  "comes back. If it is right, run curt trust-clock and restart Curt";
const SECRET_BYTES = 32;

/** The use cases on an open store, without HTTP and timers. They serve all domains, by the keys of their links. */
export interface Core {
  readonly clock: Clock;
  readonly hostRules: HostRules;
  readonly counters: Counters;
  readonly storeFigures: StoreFigures;
  /** Approximate number of links. */
  size(): Promise<number>;
  readonly operator: Operator;
  /** The operator's sessions that were signed out. */
  readonly sessions: Pick<ModerationStore, "endSession" | "isSessionEnded">;
  readonly inspection: Inspection;
  readonly links: StoredLinks;
  readonly cases: Cases;
  readonly visits: Visits;
  readonly secret: Secret<LinkKey>;
  readonly limits: RateLimits;
  /** Resolves to false if the store has another secret by now. Manage keys of this process then work nowhere else. */
  hasSharedSecret(): Promise<boolean>;
  /** The use cases of one domain, by the codes that people see. */
  forDomain(domain: Pick<Domain, "keyPrefix" | "find">): DomainCore;
  /** Finishes accepted work, then closes the store. */
  close(): Promise<void>;
}

/** The use cases of one domain. */
export interface DomainCore {
  readonly links: Links;
  readonly reports: Reports;
  readonly visits: Pick<VisitLookUps, "sums">;
  readonly secret: Secret;
  readonly bringBack: BringBack;
}

export interface CoreOptions extends Omit<
  StoreOptions,
  "openElsewhere" | "connections" | "readFrom" | "storeFigures"
> {
  /** Tests set the time. Default: the system's clock. */
  readonly clock?: Clock;
  /** Whether a blocklist contains a target. */
  readonly isListed?: ListCheck;
  /** Logs faults of the store that were only counted so far. */
  readonly settleFaults?: () => void;
}

/** For code that opens no store. */
export function systemNowMs(): number {
  return Date.now();
}

/** Opens the store. Nothing else creates a clock, so tests can replace it here. */
export async function openCore(config: Config, log: Log, options: CoreOptions = {}): Promise<Core> {
  const storeFigures = createStoreFigures();
  const opened = await openStore(config.database, {
    onWait: (reason) => log.warn({ reason }, "the database does not answer: waiting for it"),
    // The failed query logs that the database doesn't answer, as a fault.
    onPrimary: (primary, trouble) => {
      options.settleFaults?.();
      log.info({ primary, trouble }, "the database answers again");
    },
    onReplica: (replica, trouble) => {
      if (trouble === undefined) log.info({ replica }, "the replica answers again");
      else log.warn({ replica, trouble }, "a replica does not answer in time: the primary does its work");
    },
    ...options,
    readFrom: config.readDatabase ?? undefined,
    openElsewhere: config.openElsewhere,
    connections: config.databasePool,
    storeFigures,
  });
  const store = fixingCodeCase(opened, config.codeCase);
  const clock =
    options.clock ??
    createClock(Date.now, () => performance.now(), {
      believedUntilMs: believedUntilMs(await store.newestSaltDay()),
      onChange: logClock(log),
    });
  try {
    await compareCodeCase(config, store);
    const hosts = config.domains.map(hostOf);
    const known = await store.rememberHosts(hostOf(config.baseUrl), hosts, clock.nowMs());
    checkHosts(known, log);
  } catch (error) {
    await store.close();
    throw error;
  }
  const counters = createCounters({ store, clock });
  const onCreated = ({ code, target }: Link) => {
    counters.count("created");
    if (log.isLevelEnabled("debug")) log.debug({ code, target: withoutQuery(target) }, "link created");
  };
  const onRefused = (problem: Problem) => counters.count(isBlocked(problem) ? "blocked" : "refused");
  const hostRules = createHostRules(store, options.isListed);
  await hostRules.read();
  const policy = targetPolicy(config);
  const sharedKey = config.secret === null ? await storedSecret(store) : undefined;
  const secret = createSecret(sharedKey ?? Buffer.from(config.secret ?? ""));
  const seed = fillRandom(new BigUint64Array(1))[0] ?? 0n;
  const refuseRule = createRuleCheck({ hostRules, ...policy });
  const { codeCase, codeLength, codeHoldMs, defaultExpiry, edits, pathsNeedName, reportThreshold } = config;
  const linkOptions = {
    codeCase,
    codeLength,
    codeHoldMs,
    defaultExpiry,
    edits,
    pathsNeedName,
    clock,
    fillRandom,
    targetPolicy: policy,
    blocked: hostRules.blocked,
    onCreated,
    onRefused,
  };

  function forDomain({ keyPrefix, find }: Pick<Domain, "keyPrefix" | "find">): DomainCore {
    const own = storeOf(store, keyPrefix);
    const links = createLinks({
      ...linkOptions,
      store: own,
      keyPrefix,
      keyPrefixOf: (host) => find(host)?.keyPrefix,
    });
    return {
      links,
      reports: createReports({
        reportThreshold,
        store: own,
        links,
        clock,
        onReported: () => counters.count("reports"),
        onDisabled: ({ code }) =>
          log.warn({ code: keyOf(keyPrefix, code) }, "a link was disabled because of its reports"),
      }),
      visits: { sums: sumsOf(own) },
      bringBack: createBringBack({
        ...linkOptions,
        store: own,
        history: readerOf(store, keyPrefix).history,
        parseDestination: createDestinationParser(linkOptions),
      }),
      secret: secretOf(secret, keyPrefix),
    };
  }
  const links = createStoredLinks({ ...linkOptions, store, readRules: hostRules.read });
  return {
    clock,
    hostRules,
    counters,
    storeFigures,
    size: async () => store.size(),
    operator: createOperator({ store, links, clock, codeCase, refuseRule }),
    sessions: { endSession: store.endSession, isSessionEnded: store.isSessionEnded },
    inspection: createInspection({ store, clock, blocked: hostRules.blocked, codeCase }),
    links,
    cases: createCases({ store, clock, refuseRule }),
    visits: createVisits({
      store,
      clock,
      keepDays: config.statsKeepDays,
      onShortened: (formerDays, forgetsFromMs) =>
        log.warn(
          { days: config.statsKeepDays, formerDays, from: new Date(forgetsFromMs).toISOString() },
          "STATS_KEEP is shorter than before: the statistics of older days are deleted a day later. Set it back to keep them",
        ),
    }),
    secret,
    hasSharedSecret: async () => sharedKey === undefined || store.isSecret(sharedKey),
    forDomain,
    limits: createRateLimits({ ...config, clock, seed }),
    async close() {
      // Losing counts is no reason to fail.
      await counters.flush().catch(() => {});
      await store.close();
    },
  };
}

/** Throws {@link ConfigError} if the store has links by another CODE_CASE. */
async function compareCodeCase(
  { codeCase }: Config,
  store: Pick<ModerationStore, "rememberCodeCase">,
): Promise<void> {
  const kept = await store.rememberCodeCase(codeCase);
  if (kept !== codeCase) throw new ConfigError([otherCodeCase(kept)]);
}

/** Throws {@link ConfigError} if a host of DOMAINS has links that belong to BASE_URL. */
export function checkHosts({ moved, removed }: KnownHosts, log: WarningLog): void {
  if (moved.length > 0)
    throw new ConfigError(
      moved.map(
        (host) =>
          `DOMAINS must not have ${host}: links were created there while it was BASE_URL, and belong to BASE_URL. Set ALIASES=${host} instead`,
      ),
    );
  if (removed.length > 0)
    log.warn(
      { hosts: removed },
      "links of a host that is no longer in DOMAINS: their addresses get other links, or none. Add it again",
    );
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

/** The latest time that a start believes. */
export function believedUntilMs(newestSaltDay: number): number {
  return (newestSaltDay + BELIEVED_DAYS) * DAY_MS;
}

function logClock(log: Log) {
  return (trust: Trust, aheadMs: number) => {
    const hours = Math.round(aheadMs / HOUR_MS);
    if (trust === "trusted") log.warn({ hours }, "the clock is trusted again: links and codes age as usual");
    else if (trust === "too far ahead") log.warn({ hours }, CLOCK_TOO_FAR);
    else
      log.warn(
        { hours },
        "the clock has jumped: no link is deleted and no code reused until it comes back or was steady for ten minutes",
      );
  };
}

/** The rules for imported links. */
export function importRules(config: Config) {
  const keyPrefixes = config.domains.map(keyPrefixOf);
  const nowMs = Date.now();
  const today = Math.floor(nowMs / DAY_MS);
  return {
    targetPolicy: targetPolicy(config),
    codeCase: config.codeCase,
    keyPrefixes,
    nowMs,
    firstDay: Math.max(1, today - config.statsKeepDays),
    // The clock of another machine may be ahead at midnight.
    lastDay: today + 1,
  };
}

function targetPolicy({ posture, onlyExamples, baseUrl, domains, aliases, port }: Config) {
  const origins = [baseUrl, ...domains].map((origin) => new URL(origin));
  return {
    posture,
    onlyExamples,
    ownHosts: [...origins.map(({ hostname }) => hostname), ...aliases],
    ownPorts: [...origins.map(effectivePort), String(port)],
    isShortener,
  };
}
