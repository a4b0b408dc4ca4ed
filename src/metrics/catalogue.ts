import type { Histogram } from "../lib/histogram.ts";

interface Metric {
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  /** How the values of several processes become one. */
  readonly aggregate: "sum" | "max" | "min";
}

const counter = (help: string): Metric => ({ type: "counter", help, aggregate: "sum" });
const histogram = (help: string): Metric => ({ type: "histogram", help, aggregate: "sum" });
const gauge = (help: string, aggregate: Metric["aggregate"] = "sum"): Metric => ({
  type: "gauge",
  help,
  aggregate,
});

/** All metrics. Their labels have few values, none of which a client can add to. `docs/monitoring.md` describes them. */
export const METRICS = {
  curt_build_info: gauge("1, with the version of Curt and of its runtime", "max"),
  curt_processes: gauge("Serving processes that answered this scrape, and that did not"),
  curt_redirects_total: counter("Answers to requests for short addresses"),
  curt_redirect_seconds: histogram("Time of redirects that memory could not answer"),
  curt_memory_links: gauge("Links in memory"),
  curt_memory_lookups_total: counter("Links looked for in memory: hit or miss"),
  curt_request_seconds: histogram(
    "Time of all requests that are not for a short address, until the response starts",
  ),
  curt_requests_in_progress: gauge("Requests that are not answered yet"),
  curt_creates_total: counter("Links asked for: created, refused, or blocked by a rule or a blocklist"),
  curt_reports_total: counter("Reports of links"),
  curt_unknown_total: counter("Addresses that lead nowhere"),
  curt_wrong_tokens_total: counter("Wrong operator tokens"),
  curt_limited_total: counter("Requests refused by a limit"),
  curt_overload_refused_total: counter("Requests refused because too many arrived at once"),
  curt_commit_seconds: histogram("Time of the transactions that share a commit"),
  curt_commit_items: histogram("What shares a commit"),
  curt_commit_waiting: gauge("What waits to be committed, or is being committed"),
  curt_commit_refused_total: counter("What found no place to wait, or waited too long"),
  curt_commit_failures_total: counter("Commits that failed"),
  curt_store_up: gauge("1 if the store answers every process within a second", "min"),
  curt_faults_total: counter(
    "Requests and tasks that failed: the store did not answer, the disk was full, or something unexpected",
  ),
  curt_clock_trusted: gauge("1 if every process trusts the clock", "min"),
  curt_certificate_expiry_timestamp_seconds: gauge("When the certificate in TLS_CERT expires", "min"),
  curt_links: gauge("About how many links there are", "max"),
  curt_links_disabled: gauge("Links that were disabled or deleted, up to 100,000", "max"),
  curt_hosts_blocked: gauge("Hosts that the operator has blocked", "max"),
  curt_codes_used_ratio: gauge("Share of all codes of CODE_LENGTH characters that is in use", "max"),
  curt_journal_up: gauge("1 if the journal has room for visits in every process", "min"),
  curt_visits_waiting: gauge("Visits that are not in the store yet"),
  curt_visits_segments_waiting: gauge("Full segments of the journal that are not in the store yet"),
  curt_visits_lost_total: counter("Visits, or details of them, that found no room in the journal"),
  curt_views_waiting: gauge("Pages, images and documents that wait to be made"),
  curt_views_refused_total: counter(
    "Requests for pages, images and documents that were refused because too many waited",
  ),
  curt_views_crashes_total: counter("Crashes of the thread that makes pages, images and documents"),
  curt_blocklist_rules: gauge("Rules of blocklists that are in effect", "max"),
  curt_blocklist_lists_doubted: gauge("Blocklists that cannot be used as they are now", "max"),
  curt_blocklist_oldest_timestamp_seconds: gauge("When the oldest blocklist was written", "min"),
  curt_blocklist_fetches_total: counter("Requests for feeds: new, unchanged or failed"),
  curt_events_waiting: gauge("Events that wait to be sent to EVENTS_URL", "max"),
  curt_events_total: counter(
    "Events: sent, refused by EVENTS_URL and set aside, or dropped because it did not take them",
  ),
  curt_events_failures_total: counter("Requests to EVENTS_URL that failed"),
  curt_event_loop_delay_seconds: histogram("How late a timer of 100 ms is on the thread that redirects"),
  curt_disk_free_bytes: gauge("Free space where the store, the journal or BACKUP_DIR is", "min"),
  curt_disk_size_bytes: gauge("Size of the disks of curt_disk_free_bytes", "max"),
  curt_backup_timestamp_seconds: gauge("When the newest backup in BACKUP_DIR was started", "max"),
  curt_store_file_bytes: gauge("Size of SQLite's files", "max"),
  process_cpu_seconds_total: counter("User and system time of all threads"),
  process_resident_memory_bytes: gauge("Memory, with mapped files"),
  curt_own_memory_bytes: gauge("Memory without mapped files"),
  process_open_fds: gauge("Open file descriptors of the process that has most", "max"),
  process_max_fds: gauge("How many file descriptors a process may have open", "max"),
  process_start_time_seconds: gauge("When the youngest process was started", "max"),
} as const satisfies Record<string, Metric>;

export type MetricName = keyof typeof METRICS;

export interface Value {
  readonly value: number;
  readonly labels: Readonly<Record<string, string>>;
  /** For a histogram, whose values have several names. */
  readonly metricName?: string;
}

/** A request for the snapshot of one process. `samples`: with figures that are the same in all processes. */
export interface SnapshotRequest {
  readonly samples: boolean;
}

/** The values of one process at one time. */
export type Snapshot = Readonly<Partial<Record<MetricName, readonly Value[]>>>;

type Labels = Value["labels"];

const NO_LABELS: Labels = {};

export function one(value: number, labels = NO_LABELS): Value {
  return { value, labels };
}

/** One value for each key of an object, which becomes the label. */
export function each(label: string, values: Readonly<Record<string, number>>): Value[] {
  return Object.entries(values).map(([name, value]) => one(value, { [label]: name }));
}

/** The buckets of Prometheus are cumulative. */
export function histogramValues(
  name: MetricName,
  { bounds, counts, sum }: Histogram,
  labels = NO_LABELS,
): Value[] {
  let count = 0;
  const buckets = counts.map((counted, nth) => {
    count += counted;
    const le = nth < bounds.length ? String(bounds[nth]) : "+Inf";
    return { value: count, labels: { le, ...labels }, metricName: `${name}_bucket` };
  });
  return [
    ...buckets,
    { value: sum, labels, metricName: `${name}_sum` },
    { value: count, labels, metricName: `${name}_count` },
  ];
}
