// The worker thread that renders pages, images and documents, so that redirects don't wait for them. It has its own reader of
// the store.
import { setPriority } from "node:os";

import { describeApi } from "../api/openapi/openapi.ts";
import { createDomains, type Domain, memoizeByDomain } from "../http/domain.ts";
import { performTasks } from "../lib/thread.ts";
import { VERSION } from "../lib/version.ts";
import type { WallClock } from "../links/clock.ts";
import { StoreUnavailable } from "../links/link-store.ts";
import { createLookUps, createOwnLinks, spellingRules } from "../links/links.ts";
import { createListCheck, type ListCheck } from "../moderation/blocklist/list-table.ts";
import { createHistoryReader } from "../moderation/corrections.ts";
import { createDirectory } from "../moderation/directory.ts";
import { createHostRules, type HostRules } from "../moderation/host-rules.ts";
import { createDisabledSinceReader, createInspection, type Inspection } from "../moderation/inspection.ts";
import { interstitial } from "../pages/interstitial/page.tsx";
import { openReader, type StoreReader } from "../store/open.ts";
import { type Reads, createReads } from "../views/reads.ts";
import { render, type ViewTask } from "../views/task.ts";
import { createNoise } from "../visits/statistics/noise.ts";
import { createVisitLookUps } from "../visits/visits.ts";
import type { ViewParts } from "./app-parts.ts";
import { type DomainReader, readerOf } from "./domain-store.ts";
import { HOME_ELSEWHERE, OPERATOR, PEOPLE, PUBLIC } from "./routes.ts";
import type { ViewsCalls, ViewsSettings } from "./views-thread.ts";

/** All views, at the addresses of their endpoints. */
const VIEWS = [...Object.values({ ...HOME_ELSEWHERE, ...PUBLIC, ...PEOPLE, ...OPERATOR }), interstitial];

/** Redirects come first if all threads share one core. Only Linux has a priority per thread. */
const PRIORITY = 10;

let config: ViewsSettings;
let isListed: ListCheck;
let opened: Awaited<ReturnType<typeof open>> | undefined;
/** The serving thread sends the time with each task, so that both threads always agree on it. */
let nowMs = 0;
/** Changes when the rules about hosts change. */
let rulesVersion = Number.NaN;

async function open() {
  const store = await openStore();
  const clock = { nowMs: () => nowMs };
  const hostRules = createHostRules(store, (target) => isListed(target));
  let readVersion = Number.NaN;
  /** Runs before a look-up and not with each task, because pages without links need no store. */
  async function readRules(): Promise<void> {
    // Another task may bring a newer version meanwhile.
    const version = rulesVersion;
    if (readVersion !== version) await hostRules.read();
    readVersion = version;
  }
  const afterRules =
    <Parameters extends unknown[], Result>(read: (...parameters: Parameters) => Promise<Result>) =>
    async (...parameters: Parameters): Promise<Result> => {
      await readRules();
      return read(...parameters);
    };
  const everyDomain = {
    ...store,
    find: afterRules(store.find),
    findAll: afterRules(store.findAll),
    search: afterRules(store.search),
  };
  const inspection = createInspection({
    store: everyDomain,
    clock,
    blocked: hostRules.blocked,
    codeCase: config.codeCase,
  });
  const { codeCase, codeHoldMs } = config;
  const { blocked } = hostRules;
  const directory = createDirectory({ store: everyDomain, clock, blocked, codeCase, codeHoldMs });
  const sites = new Map(
    createDomains(config, config.identity, config.withHome).map((domain) => {
      const own = readerOf(everyDomain, domain.keyPrefix);
      return [domain.keyPrefix, { domain, views: viewsOf({ store: own, clock, hostRules, inspection }) }];
    }),
  );
  return {
    render(task: ViewTask) {
      const { domain, views } = sites.get(task.keyPrefix) ?? {};
      const view = views?.get(task.at);
      if (domain === undefined || view === undefined)
        throw new Error(`no view at ${task.keyPrefix}${task.at}`);
      return render(task, domain, view);
    },
    reads: createReads(inspection, directory),
    close: store.close,
  };
}

interface SiteParts {
  /** Has only the domain's links. */
  readonly store: DomainReader;
  readonly clock: WallClock;
  readonly hostRules: HostRules;
  /** Has the links of all domains. */
  readonly inspection: Inspection;
}

/** The views of a domain, by the addresses of their endpoints. */
function viewsOf({ store, clock, hostRules, inspection }: SiteParts) {
  const { codeCase, codeHoldMs, needsToken, statsShown, noiseKey } = config;
  const { find } = store;
  const forPeople = config.createUserHeader === null ? {} : PEOPLE;
  const endpoints = Object.values({ ...PUBLIC, ...forPeople });
  const parts: ViewParts = {
    ...config,
    links: createLookUps({
      codeHoldMs,
      store: { find },
      ...spellingRules(codeCase),
      clock,
      blocked: hostRules.blocked,
    }),
    visits: createVisitLookUps({ store, clock, shown: statsShown, noise: createNoise(noiseKey) }),
    ownLinks: createOwnLinks({ store, clock, codeHoldMs, blocked: hostRules.blocked }),
    clock,
    inspection,
    disabledSince: createDisabledSinceReader({ store, hostRules }),
    history: createHistoryReader(store),
    version: VERSION,
    describe: memoizeByDomain((domain: Domain, language: string) =>
      describeApi(domain, language, { endpoints, version: VERSION, needsToken }),
    ),
  };
  return new Map(VIEWS.flatMap(({ at, view }) => (view === undefined ? [] : [[at, view.render(parts)]])));
}

/** The store existed when the service started, so a failure to open it now is temporary. */
async function openStore(): Promise<StoreReader> {
  try {
    return await openReader(config.database, config.storeFiles);
  } catch (cause) {
    throw new StoreUnavailable(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

if (process.platform === "linux") setPriority(0, PRIORITY);
performTasks<ViewsCalls>({
  configure(settings) {
    config = settings;
    isListed = createListCheck(settings.lists);
  },
  async render(task) {
    ({ nowMs, rulesVersion } = task);
    opened ??= await open();
    return opened.render(task);
  },
  async read({ name, input, ...task }) {
    ({ nowMs, rulesVersion } = task);
    opened ??= await open();
    const read = opened.reads[name as keyof Reads] as (input: unknown) => unknown;
    return read(input);
  },
  close: async () => opened?.close(),
});
