import type { Certificate } from "../config/certificate.ts";
import type { Config } from "../config/config.ts";
import type { Events } from "../events/events-thread.ts";
import type { Overload } from "../http/limits/overload.ts";
import type { RequestFigures } from "../http/request-counts.ts";
import { VERSION } from "../lib/version.ts";
import { codeSpace } from "../links/code.ts";
import { each, histogramValues, one, type Snapshot, type SnapshotRequest } from "../metrics/catalogue.ts";
import { inTime, watchProcess } from "../metrics/system.ts";
import type { Blocklists } from "../moderation/blocklist/configured-lists.ts";
import type { LinkCache } from "../redirect/link-cache.ts";
import type { RedirectFigures } from "../redirect/redirect.ts";
import type { Views } from "../views/views.ts";
import type { OpenRecorder } from "../visits/visits.ts";
import type { Core } from "./core.ts";

/** How long a sample of all links stays valid. It takes up to a tenth of a second on the views thread. */
const SAMPLED_MS = 60_000;
/** A reserved code, so it never exists. Looking it up shows that the store answers. */
const PROBE = "metrics";

export interface SnapshotParts {
  readonly redirects: RedirectFigures;
  readonly requests: RequestFigures;
  readonly linkCache: Pick<LinkCache, "size">;
  readonly views: Pick<Views, "read" | "load">;
  readonly overload: Pick<Overload, "refusals">;
  readonly blocklists: Pick<Blocklists, "figures" | "fetches">;
  readonly recorder: Pick<OpenRecorder, "lost" | "figures">;
  readonly faults: Readonly<Record<"store" | "disk" | "other", number>>;
  /** Undefined if Curt serves plain HTTP. */
  readonly certificate: Pick<Certificate, "endsMs"> | undefined;
  readonly events: Pick<Events, "figures"> | undefined;
  /** Requests without a response yet. */
  readonly inProgress: () => number;
}

/**
 * Reads the metrics of this process. All counters are plain numbers, so that counting costs no more than an addition. `read`
 * never rejects.
 */
export class MetricsReader {
  private readonly own: ReturnType<typeof watchProcess>;
  private sample: Snapshot = {};
  private sampledMs = Number.NEGATIVE_INFINITY;
  private isClosed = false;

  constructor(
    private readonly config: Config,
    private readonly core: Pick<Core, "links" | "counters" | "storeFigures" | "size" | "clock">,
    private readonly parts: SnapshotParts,
  ) {
    const { backupFolder, database, journalFolder } = config;
    const file = database.engine === "sqlite" ? database.path : undefined;
    this.own = watchProcess({ file, journalFolder, backupFolder, clock: core.clock });
  }

  async read({ samples }: SnapshotRequest): Promise<Snapshot> {
    const { core, parts } = this;
    if (samples) this.sampleLinks();
    const [isUp, links, ofProcess] = await Promise.all([
      this.storeAnswers(),
      samples ? this.countLinks() : {},
      this.own.read(samples),
    ]);
    return {
      curt_build_info: [one(1, { version: VERSION, bun: Bun.version })],
      curt_clock_trusted: [one(core.clock.trustworthy() ? 1 : 0)],
      curt_certificate_expiry_timestamp_seconds:
        parts.certificate === undefined ? [] : [one(parts.certificate.endsMs / 1000)],
      curt_store_up: [one(isUp ? 1 : 0)],
      ...serving(parts),
      ...commits(core),
      ...moderation(core.counters, parts.blocklists),
      ...events(parts.events?.figures()),
      ...links,
      ...(samples && this.sample),
      ...ofProcess,
    };
  }

  close(): void {
    this.isClosed = true;
    this.own.close();
  }

  /** The next snapshot has the sample: this one doesn't wait. */
  private sampleLinks(): void {
    const nowMs = this.core.clock.monotonicMs();
    if (this.isClosed || nowMs - this.sampledMs < SAMPLED_MS) return;
    this.sampledMs = nowMs;
    readLinks(this.parts.views).then(
      (links) => (this.sample = links),
      // `curt_store_up` reports this failure.
      () => (this.sample = {}),
    );
  }

  private async storeAnswers(): Promise<boolean> {
    return (await inTime(this.core.links.find(PROBE).then(() => true))) ?? false;
  }

  private async countLinks(): Promise<Snapshot> {
    const links = await inTime(this.core.size());
    if (links === undefined) return {};
    const used = links / codeSpace(this.config.codeLength, this.config.codeCase);
    return { curt_links: [one(links)], curt_codes_used_ratio: [one(used)] };
  }
}

async function readLinks(views: SnapshotParts["views"]): Promise<Snapshot> {
  const figures = await views.read("figures");
  if ("kind" in figures) return {};
  return {
    curt_links_disabled: [one(figures.disabled)],
    curt_hosts_blocked: [one(figures.blockedHosts)],
  };
}

function serving(parts: SnapshotParts): Snapshot {
  const { redirects, requests, linkCache, views, overload, recorder } = parts;
  const { fromMemory, others, seconds } = redirects;
  const misses = Object.values(others).reduce((sum, count) => sum + count, 0);
  const journal = recorder.figures();
  return {
    curt_redirects_total: each("outcome", { memory: fromMemory, ...others }),
    curt_redirect_seconds: histogramValues("curt_redirect_seconds", seconds),
    curt_memory_links: [one(linkCache.size())],
    curt_memory_lookups_total: each("result", { hit: fromMemory, miss: misses }),
    curt_request_seconds: [...requests.series.values()].flatMap(({ seconds: took, ...labels }) =>
      histogramValues("curt_request_seconds", took, labels),
    ),
    curt_requests_in_progress: [one(parts.inProgress())],
    curt_overload_refused_total: each("what", overload.refusals),
    curt_journal_up: [one(journal.isCounting ? 1 : 0)],
    curt_visits_waiting: [one(journal.visits)],
    curt_visits_segments_waiting: [one(journal.segments)],
    curt_visits_lost_total: each("what", recorder.lost),
    curt_views_waiting: each("for", views.load.waiting),
    curt_views_refused_total: [one(views.load.refused)],
    curt_views_crashes_total: [one(views.load.crashes)],
    curt_faults_total: each("what", parts.faults),
  };
}

function commits({ storeFigures }: Pick<Core, "storeFigures">): Snapshot {
  const kinds = Object.entries(storeFigures);
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

function moderation({ totals }: Core["counters"], blocklists: SnapshotParts["blocklists"]): Snapshot {
  const { created, refused, blocked } = totals;
  const limited = Object.entries(totals).flatMap(([name, count]) =>
    name.startsWith("limited.") ? one(count, { limit: name.slice("limited.".length) }) : [],
  );
  const { rules, doubted, oldestMs } = blocklists.figures();
  return {
    curt_creates_total: each("outcome", { created, refused, blocked }),
    curt_reports_total: [one(totals.reports)],
    curt_unknown_total: [one(totals.unknown)],
    curt_wrong_tokens_total: [one(totals["wrong-token"])],
    curt_limited_total: limited,
    curt_blocklist_rules: [one(rules)],
    curt_blocklist_lists_doubted: [one(doubted)],
    curt_blocklist_oldest_timestamp_seconds: oldestMs === undefined ? [] : [one(Math.round(oldestMs / 1000))],
    curt_blocklist_fetches_total: each("outcome", blocklists.fetches()),
  };
}

function events(figures: ReturnType<Events["figures"]> | undefined): Snapshot {
  if (figures === undefined) return {};
  const { waiting, sent, dropped, refused, failures } = figures;
  return {
    curt_events_waiting: [one(waiting)],
    curt_events_total: each("outcome", { sent, dropped, refused }),
    curt_events_failures_total: [one(failures)],
  };
}
