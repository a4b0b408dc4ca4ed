import type { Config } from "../config/config.ts";
import type { Overload } from "../http/overload.ts";
import type { Views } from "../http/views/views.ts";
import { VERSION } from "../lib/version.ts";
import { codeSpace } from "../links/code.ts";
import type { Lists } from "../moderation/blocklist/lists.ts";
import type { LinkMemory } from "../redirect/link-cache.ts";
import type { RedirectFigures } from "../redirect/redirect.ts";
import type { Core } from "../server/core.ts";
import type { RequestFigures } from "../server/request-counts.ts";
import type { OpenRecorder } from "../visits/visits.ts";
import type { Reading } from "./catalogue.ts";
import { watchProcess } from "./process.ts";
import { inTime } from "./timeout.ts";
import { each, histogramValues, one } from "./values.ts";

/** How long the figures of all links are taken as known. They cost another thread up to a tenth of a second. */
const SAMPLED_MS = 60_000;
/** Reserved, so it is never there; looking it up shows that the store answers. */
const PROBE = "metrics";

export interface ReadingOptions {
  readonly config: Pick<Config, "backupFolder" | "codeLength" | "database" | "journalFolder">;
  readonly core: Pick<Core, "links" | "counters" | "storeFigures" | "size" | "clock">;
  readonly redirects: RedirectFigures;
  readonly requests: RequestFigures;
  readonly memory: Pick<LinkMemory, "size">;
  readonly views: Pick<Views, "figures" | "load">;
  readonly overload: Pick<Overload, "refusals">;
  readonly lists: Pick<Lists, "figures" | "fetches">;
  readonly recorder: Pick<OpenRecorder, "lost" | "figures">;
  readonly faults: Readonly<Record<"store" | "other", number>>;
  /** Requests that are not answered yet. */
  readonly inProgress: () => number;
}

/** What is asked of one process. Only one process has to sample the figures of all links. */
export interface ReadingRequest {
  readonly samples: boolean;
}

export type ReadMetrics = (request: ReadingRequest) => Promise<Reading>;

/**
 * Reads what this process has to tell. Whatever is counted is a plain number, which costs whoever counts no more than an
 * addition. Never rejects.
 */
export function createReading(options: ReadingOptions): { read: ReadMetrics; close(): void } {
  const { config, core, redirects, requests, memory, views, overload } = options;
  const { lists, recorder, faults, inProgress } = options;
  const { backupFolder, database, journalFolder } = config;
  const own = watchProcess({
    file: database.engine === "sqlite" ? database.path : undefined,
    journalFolder,
    backupFolder,
    clock: core.clock,
  });
  let sample: Reading = {};
  let isClosed = false;
  let sampledMs = Number.NEGATIVE_INFINITY;

  /** The next reading has it: this one does not wait. */
  function sampleLinks(): void {
    const nowMs = core.clock.monotonicMs();
    if (isClosed || nowMs - sampledMs < SAMPLED_MS) return;
    sampledMs = nowMs;
    readLinks().then(
      (found) => (sample = found),
      // `curt_store_up` tells it.
      () => (sample = {}),
    );
  }

  async function readLinks(): Promise<Reading> {
    const json = await views.figures();
    if (json === undefined) return {};
    const { data } = JSON.parse(json) as {
      data: { disabled: number; blocked_hosts: number };
    };
    return {
      curt_links_disabled: [one(data.disabled)],
      curt_hosts_blocked: [one(data.blocked_hosts)],
    };
  }

  async function storeAnswers(): Promise<boolean> {
    return (await inTime(core.links.find(PROBE).then(() => true))) ?? false;
  }

  async function countLinks(): Promise<Reading> {
    const links = await inTime(core.size());
    if (links === undefined) return {};
    return { curt_links: [one(links)], curt_codes_used_ratio: [one(links / codeSpace(config.codeLength))] };
  }

  function commits(): Reading {
    const kinds = Object.entries(core.storeFigures);
    return {
      curt_commit_seconds: kinds.flatMap(([what, { seconds }]) =>
        histogramValues("curt_commit_seconds", seconds, { what }),
      ),
      curt_commit_items: kinds.flatMap(([what, { items }]) =>
        histogramValues("curt_commit_items", items, { what }),
      ),
      curt_commit_waiting: kinds.map(([what, { waiting }]) => one(waiting, { what })),
      curt_commit_refused_total: kinds.map(([what, { refused }]) => one(refused, { what })),
      curt_commit_failures_total: kinds.map(([what, { failed }]) => one(failed, { what })),
    };
  }

  function guard(): Reading {
    const { totals } = core.counters;
    const { created, refused, blocked } = totals;
    const limited = Object.entries(totals).flatMap(([name, count]) =>
      name.startsWith("limited.") ? one(count, { limit: name.slice("limited.".length) }) : [],
    );
    const { rules, doubted, oldestMs } = lists.figures();
    return {
      curt_creates_total: each("outcome", { created, refused, blocked }),
      curt_reports_total: [one(totals.reports)],
      curt_unknown_total: [one(totals.unknown)],
      curt_limited_total: limited,
      curt_blocklist_rules: [one(rules)],
      curt_blocklist_lists_doubted: [one(doubted)],
      curt_blocklist_oldest_timestamp_seconds:
        oldestMs === undefined ? [] : [one(Math.round(oldestMs / 1000))],
      curt_blocklist_fetches_total: each("outcome", lists.fetches()),
    };
  }

  function serving(): Reading {
    const { fromMemory, others, seconds } = redirects;
    const misses = Object.values(others).reduce((sum, count) => sum + count, 0);
    const waiting = recorder.figures();
    return {
      curt_redirects_total: each("outcome", { memory: fromMemory, ...others }),
      curt_redirect_seconds: histogramValues("curt_redirect_seconds", seconds),
      curt_memory_links: [one(memory.size())],
      curt_memory_lookups_total: each("result", { hit: fromMemory, miss: misses }),
      curt_request_seconds: [...requests.series.values()].flatMap(({ seconds: took, ...labels }) =>
        histogramValues("curt_request_seconds", took, labels),
      ),
      curt_requests_in_progress: [one(inProgress())],
      curt_overload_refused_total: each("what", overload.refusals),
      curt_journal_up: [one(waiting.isCounting ? 1 : 0)],
      curt_visits_waiting: [one(waiting.visits)],
      curt_visits_segments_waiting: [one(waiting.segments)],
      curt_visits_lost_total: each("what", recorder.lost),
      curt_views_waiting: each("for", views.load.waiting),
      curt_views_refused_total: [one(views.load.refused)],
      curt_views_crashes_total: [one(views.load.crashes)],
      curt_faults_total: each("what", faults),
    };
  }

  return {
    async read({ samples }) {
      if (samples) sampleLinks();
      const [isUp, counted, ofProcess] = await Promise.all([
        storeAnswers(),
        samples ? countLinks() : {},
        own.read(samples),
      ]);
      return {
        curt_build_info: [one(1, { version: VERSION, bun: Bun.version })],
        curt_store_up: [one(isUp ? 1 : 0)],
        ...serving(),
        ...commits(),
        ...guard(),
        ...counted,
        ...(samples && sample),
        ...ofProcess,
      };
    },
    close() {
      isClosed = true;
      own.close();
    },
  };
}
