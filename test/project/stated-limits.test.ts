import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { MAX_LINKS } from "../../client/batch.ts";
import clientPackage from "../../client/package.json";
import { MAX_ATTEMPTS, TIMEOUT_MS } from "../../client/request.ts";
import packageJson from "../../package.json";
import { LIMIT } from "../../src/api/admin/endpoint.ts";
import { MAX_CHANGED, SEARCH_MS } from "../../src/api/admin/search.ts";
import { IDLE_SECONDS as BATCH_SECONDS, MAX_BATCH } from "../../src/api/create-batch.ts";
import { MAX_KEY_LENGTH } from "../../src/api/creation.ts";
import { MIN_CONTRAST } from "../../src/api/qr-bounds.ts";
import { DEFAULT_URL } from "../../src/cli/instance-request.ts";
import { SAME_SIGNAL_MS } from "../../src/cli/serve.ts";
import { MAX_ROWS } from "../../src/cli/skipped-rows.ts";
import { READER_GONE } from "../../src/cli/terminal/print.ts";
import { PUBLIC_LIMITS } from "../../src/config/config.ts";
import { MAX_HOSTS } from "../../src/config/database-url.ts";
import { limit, MAX_WINDOWS } from "../../src/config/formats.ts";
import { SETTINGS } from "../../src/config/settings.ts";
import { MIN_DESCRIPTORS, PROCESS_BYTES } from "../../src/config/start-warnings.ts";
import { MAX_BODY } from "../../src/events/delivery.ts";
import { MAX_REFUSED, MAX_SENT, MAX_WAITING as MAX_EVENTS, REFUSED_MS } from "../../src/events/outbox.ts";
import {
  BATCH,
  FIRST_RETRY_MS,
  MAX_AGE_MS,
  MAX_REFUSALS,
  MAX_REFUSED_RETRY_MS,
  MAX_RETRY_MS,
  TAKE_OVER_MS,
} from "../../src/events/sender.ts";
import { REQUEST_ID_LENGTH } from "../../src/http/api-headers.ts";
import { MAX_IN_LINE, MAX_STANDING_WAIT_MS, MAX_WAIT_MS, STARTS_PER_TURN } from "../../src/http/overload.ts";
import { RETRY_SOON } from "../../src/http/problems.ts";
import { MAX_FORWARDED_QUERY, BODIES } from "../../src/lib/bounds.ts";
import { FORMER_HOST_MS } from "../../src/links/change.ts";
import { MAX_DRIFT_MS } from "../../src/links/clock.ts";
import { MAX_SUGGESTIONS, suggestIntendedCodes } from "../../src/links/code-suggestions.ts";
import { MAX_CODE_POINTS } from "../../src/links/code.ts";
import { MAX_SPACE_USED } from "../../src/links/create.ts";
import { EDITABLE_MS } from "../../src/links/edit.ts";
import { MAX_DESTINATION_LENGTH } from "../../src/links/forwarded-query.ts";
import { REPLAY_MS } from "../../src/links/links.ts";
import { MAX_NAME_LENGTH } from "../../src/links/name.ts";
import { CHECKS_AT_ONCE, COST } from "../../src/links/password.ts";
import { HASH_BYTES } from "../../src/links/secret.ts";
import { SYNC_FAILED } from "../../src/links/store.ts";
import { MAX_TARGET_LENGTH } from "../../src/links/target.ts";
import { DAY_MS, DURATIONS_MS, HOUR_MS, MINUTE_MS } from "../../src/links/time.ts";
import { DEFAULT_DAYS } from "../../src/mcp/tools.ts";
import { WAIT_MS } from "../../src/metrics/system.ts";
import { SESSION_MS } from "../../src/moderation/access-tokens.ts";
import { POLL_MS } from "../../src/moderation/blocklist/blocklist.ts";
import { MAX_BYTES as MAX_FEED_BYTES } from "../../src/moderation/blocklist/download.ts";
import { EVERY_MS as FETCH_EVERY_MS } from "../../src/moderation/blocklist/feeds.ts";
import { MAX_FILE_BYTES, MAX_RULES } from "../../src/moderation/blocklist/list-file.ts";
import { MAX_NOTE_LENGTH } from "../../src/moderation/case.ts";
import { FIGURE_DAYS, MAX_COUNTED_DISABLED } from "../../src/moderation/figures.ts";
import { MAX_RULES as MAX_BLOCKED_HOSTS } from "../../src/moderation/operator.ts";
import {
  CLIENTS_OF_SITE,
  createRateLimits,
  PASSWORD_CHECKS,
  SCAN_TIMES,
  TRYING_CLIENTS,
  type Window,
  WRONG_TOKENS,
} from "../../src/moderation/rate-limits.ts";
import { KEEP_MS as KEEP_NOTES_MS, LATE_MS } from "../../src/moderation/reports/reports.ts";
import { OPEN_MS, REMEMBERED_MS } from "../../src/pages/password/handler.ts";
import { JUST_CREATED_MS } from "../../src/pages/preview/just-created.ts";
import { DAY_SECONDS as QR_SECONDS } from "../../src/pages/qr/qr-image.ts";
import { MAX_BYTES as CACHE_BYTES } from "../../src/redirect/link-cache.ts";
import { BEAT_MS } from "../../src/server/child-process.ts";
import { BELIEVED_DAYS } from "../../src/server/core.ts";
import { REPEAT_EVERY_MS } from "../../src/server/fault-log.ts";
import { DRAIN_LIMIT_MS, IDLE_SECONDS } from "../../src/server/listen.ts";
import { MAX_SILENT_BEATS } from "../../src/server/process-pool.ts";
import { CHECK_EVERY_MS } from "../../src/server/scheduled-backups.ts";
import { OPEN_WAIT_MS, READ_CHANGES_EVERY_MS, REPLACED_MS } from "../../src/server/service.ts";
import { KEEP_SEQUENCES_DAYS } from "../../src/store/postgres/visits.ts";
import { KEEP_SOURCES_DAYS } from "../../src/store/sqlite/add-visits.ts";
import { OPENING_KIB } from "../../src/store/sqlite/file/file.ts";
import { MAX_BYTES_PER_S } from "../../src/store/sqlite/file/snapshot.ts";
import { MAX_VALUE } from "../../src/transfer/redirects/formats.ts";
import { MAX_WAITING as MAX_VIEWS } from "../../src/views/queue.ts";
import { CLOSE_AFTER_MS, MAX_DAY_VALUES, VISITORS_SKETCH } from "../../src/visits/days/day.ts";
import { DIMENSIONS } from "../../src/visits/days/dimensions.ts";
import { MAX_FOLD_PAUSE_MS, TICK_MS } from "../../src/visits/journal/journal.ts";
import { MAX_BYTES as JOURNAL_BYTES } from "../../src/visits/journal/segments.ts";
import { EPSILON, MIN_SHOWN_VISITS } from "../../src/visits/statistics/noise.ts";
import { DEFAULT_DAYS as DAYS_BY, MAX_DAYS, MAX_VALUES } from "../../src/visits/statistics/statistics.ts";
import { ROOT } from "../support/service.ts";

const GENERATED = ["docs/bounds.md"];
const PAGES = [
  "README.md",
  "SECURITY.md",
  "client/README.md",
  "docs/openapi.json",
  ...readdirSync(join(ROOT, "docs"))
    .filter((file) => file.endsWith(".md"))
    .map((file) => `docs/${file}`),
].filter((page) => !GENERATED.includes(page));

const count = (number: number) => number.toLocaleString("en");
const NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split(" ");
NUMBERS[16] = "sixteen";
const word = (number: number) => NUMBERS[number] ?? String(number);
const SPANS: Readonly<Record<number, string>> = {
  500: "half a second",
  1000: "a second",
  30_000: "half a minute",
  [MINUTE_MS]: "a minute",
  [HOUR_MS]: "an hour",
  [DAY_MS]: "a day",
  [7 * DAY_MS]: "a week",
  [31 * DAY_MS]: "a month",
};
const span = (ms: number) => SPANS[ms] ?? `${ms} ms`;
const seconds = (ms: number) => `${ms / 1000} s`;
const minutes = (ms: number) => ms / MINUTE_MS;
const days = (ms: number) => ms / DAY_MS;
const mib = (bytes: number) => bytes / 1024 / 1024;
const percent = (share: number) => `${Math.round(share * 100)} %`;

/** A default as a number. */
function preset(
  name: "codeHoldMs" | "statsKeepDays" | "databasePool" | "backupKeep" | "backupEveryMs",
): number {
  const setting = SETTINGS[name];
  return setting.takes.parse(setting.default) ?? Number.NaN;
}

const windowsOf = (text: string): readonly Window[] => limit.parse(text) ?? [];
const PUBLIC = {
  limitCreate: windowsOf(PUBLIC_LIMITS.limitCreate),
  limitUnknown: windowsOf(PUBLIC_LIMITS.limitUnknown),
  limitView: windowsOf(PUBLIC_LIMITS.limitView),
  limitReport: windowsOf(SETTINGS.limitReport.default),
  limitPasswords: windowsOf(SETTINGS.limitPasswords.default),
};
const UNKNOWN = PUBLIC.limitUnknown[0] ?? { count: Number.NaN, ms: Number.NaN };

/** The memory of all limits of a process. */
function limitsMib(windows?: readonly Window[], hasOperators = false): number {
  const lists = Object.entries(PUBLIC).map(([name, own]) => [name, windows ?? own] as const);
  const limits = createRateLimits({
    ...(Object.fromEntries(lists) as unknown as typeof PUBLIC),
    hasOperators,
    clock: { monotonicMs: () => 0 },
    seed: 0n,
  });
  const bytes = Object.values(limits).reduce((sum, one) => sum + (one?.bytes ?? 0), 0);
  return Math.ceil(mib(bytes));
}
const FOUR_WINDOWS = Array.from({ length: MAX_WINDOWS }, () => ({ count: 1, ms: MINUTE_MS }));

/** The share of offsets that are at least `offset`, and of those that are at most `offset` away from 0. */
const ratio = Math.exp(-EPSILON);
const atLeast = (offset: number) => ratio ** offset / (1 + ratio);
const within = (offset: number) => 1 - 2 * atLeast(offset + 1);
/** The share of cases in which a value with too few visits appears. */
const shows = (visits: number) => percent(atLeast(MIN_SHOWN_VISITS - visits));
/** The share of right guesses from this many numbers, each with one visit more or less. A draw counts half. */
function guessRate(numbers: number): number {
  const right = Math.exp(EPSILON) / (1 + Math.exp(EPSILON));
  let sum = 0;
  let choose = 1;
  for (let hits = 0; hits <= numbers; hits++) {
    const chance = choose * right ** hits * (1 - right) ** (numbers - hits);
    sum += chance * (hits * 2 > numbers ? 1 : hits * 2 === numbers ? 1 / 2 : 0);
    choose = (choose * (numbers - hits)) / (hits + 1);
  }
  return sum;
}

/** Reads a constant of a script for browsers, which this program can't import. */
function constantOf(path: string, name: string): number {
  const [, digits = ""] =
    new RegExp(`const ${name} = ([\\d_]+);`).exec(readFileSync(join(ROOT, path), "utf8")) ?? [];
  return Number(digits.replaceAll("_", ""));
}
const SAVED_LINKS = constantOf("src/pages/my-links/script/saved-links.ts", "MAX_LINKS");

const { maxBytes: BATCH_BYTES } = BODIES["POST /api/v1/links/batch"];

/** How soon every process knows of a change, in full seconds. */
const CHANGE_SPAN = span(Math.ceil(READ_CHANGES_EVERY_MS / 1000) * 1000);
const FOLD_SPAN = span(MAX_FOLD_PAUSE_MS);
const [, LAST_MINUTE = ""] = FOLD_SPAN.split(" ");
const CLOSE_SPAN = span(CLOSE_AFTER_MS);

/** Sentences of each page, with the code's value in place. */
const STATED: Readonly<Record<string, readonly string[]>> = {
  "README.md": [
    `You need Node ${packageJson.engines.node.slice(2)} or newer`,
    `After ${days(preset("codeHoldMs"))} days (\`CODE_HOLD\`)`,
    `a power cut can lose the last ${LAST_MINUTE}`,
    `the destination for ${span(EDITABLE_MS["24h"])} only`,
  ],
  "SECURITY.md": [
    `in every process within ${CHANGE_SPAN}`,
    `Keys are ${HASH_BYTES * 8} bits`,
    `can be changed for ${span(EDITABLE_MS["24h"])} only`,
    `end after ${SESSION_MS / HOUR_MS} hours`,
    `slows one client down to ${UNKNOWN.count} tries ${span(UNKNOWN.ms)}, after ${UNKNOWN.count * SCAN_TIMES} at once`,
  ],
  "client/README.md": [
    `For Node ${clientPackage.engines.node.slice(2)} and later`,
    `up to ${word(MAX_ATTEMPTS)} attempts within ${TIMEOUT_MS / 1000} seconds`,
  ],
  "docs/admin.md": [
    `figures of ${FIGURE_DAYS} days`,
    `for each of the last ${FIGURE_DAYS} days`,
    `\`note\` has up to ${count(MAX_NOTE_LENGTH)} characters`,
    `at most ${count(MAX_CHANGED)}: `,
    `the blocked hosts, at most ${count(MAX_BLOCKED_HOSTS)}`,
    `a \`limit\` of ${LIMIT.min} to ${LIMIT.max}`,
    `for up to ${span(SEARCH_MS)} per request`,
    `a session of ${SESSION_MS / HOUR_MS} hours`,
    `After ${word(WRONG_TOKENS.count)} wrong tokens within ${span(WRONG_TOKENS.ms)}`,
  ],
  "docs/api.md": [
    `up to ${MAX_BATCH} links in one request`,
    `within ${CHANGE_SPAN} in all others`,
    `1 to ${MAX_KEY_LENGTH} printable ASCII characters`,
    `For ${REPLAY_MS / HOUR_MS} hours, the same request`,
    `if it has ${REQUEST_ID_LENGTH.min} to ${REQUEST_ID_LENGTH.max} letters`,
    `RateLimit-Policy: ${PUBLIC.limitCreate
      .map((window, nth) => `"create${nth > 0 ? `-${nth + 1}` : ""}";q=${window.count};w=${window.ms / 1000}`)
      .join(", ")} `,
  ],
  "docs/openapi.json": [
    `Valid for ${REPLAY_MS / HOUR_MS} hours`,
    `an array of up to ${MAX_BATCH} bodies, each as for one link, with at most ${count(BATCH_BYTES)} bytes in total`,
    `The array has more than ${count(BATCH_BYTES)} bytes`,
    `covers ${DAYS_BY.day} days, or ${DAYS_BY.hour} days by the hour, or ${DAYS_BY.month} days by the month`,
    `The range can cover at most ${MAX_DAYS.day} days, or ${MAX_DAYS.hour} by the hour`,
    `a contrast of at least ${MIN_CONTRAST}:1`,
    `if it has ${REQUEST_ID_LENGTH.min} to ${REQUEST_ID_LENGTH.max} letters`,
    `a month is ${days(DURATIONS_MS["1month"])} days`,
    `\`1month\` (${days(DURATIONS_MS["1month"])} days)`,
    `within ${word((2 * TICK_MS) / 1000)} seconds, or within ${FOLD_SPAN} under heavy load`,
    `up to ${word(MAX_SUGGESTIONS)} similar codes`,
    `fewer than ${MIN_SHOWN_VISITS} visits on a day`,
  ],
  "docs/backup.md": [`copies at most ${mib(MAX_BYTES_PER_S)} MiB per second`],
  "docs/cli.md": [`- ${SYNC_FAILED}: the disk failed`, `- ${READER_GONE}: the reader`],
  "docs/clients.md": [
    `| \`CURT_URL\` | \`${DEFAULT_URL}\` |`,
    `in arrays of up to ${MAX_LINKS}`,
    `\`days\` (default ${DEFAULT_DAYS})`,
  ],
  "docs/events.md": [
    `up to ${BATCH} CloudEvents 1.0`,
    `at most ${count(MAX_BODY)} characters unless`,
    `takes over after ${seconds(TAKE_OVER_MS)}`,
    `after ${seconds(FIRST_RETRY_MS)}, ${seconds(FIRST_RETRY_MS * 2)} and so on up to ${minutes(MAX_RETRY_MS)} min`,
    `events older than ${span(MAX_AGE_MS)}, and the oldest beyond ${count(MAX_EVENTS)}`,
    `after ${word(MAX_REFUSALS)} attempts within ${word(minutes(MAX_REFUSALS * MAX_REFUSED_RETRY_MS))} minutes`,
    `about every ${word(minutes(MAX_REFUSALS * MAX_REFUSED_RETRY_MS))} minutes`,
    `Events keep waiting, up to ${span(MAX_AGE_MS)}`,
    ...(MAX_SENT === 1000 ? ["about a thousand sent ones"] : [`about ${count(MAX_SENT)} sent ones`]),
    `the newest ${count(MAX_REFUSED)}, for ${span(REFUSED_MS)}`,
  ],
  "docs/export-format.md": [
    `\`$argon2id$v=19$m=${COST.memoryCost},t=${COST.timeCost},p=1$…\``,
    `Requests of the last ${REPLAY_MS / HOUR_MS} hours`,
  ],
  "docs/faq.md": [
    `Allow ${mib(PROCESS_BYTES)} MiB per process`,
    `that works for ${span(EDITABLE_MS["24h"])}`,
  ],
  "docs/install.md": [
    `with Node ${packageJson.engines.node.slice(2)} or newer`,
    `Allow ${mib(PROCESS_BYTES)} MiB of memory`,
    `of each of the last ${word(days(preset("backupKeep") * preset("backupEveryMs")))} days`,
    `${span(CHECK_EVERY_MS).replace("a", "A")} after the start, there is a first backup`,
  ],
  "docs/links.md": [
    `A code has 1 to ${MAX_CODE_POINTS} code points`,
    `suggests up to ${word(MAX_SUGGESTIONS)} similar ones`,
    `\`CODE_HOLD\` (${days(preset("codeHoldMs"))} days by default)`,
    `more than ${count(MAX_TARGET_LENGTH)} characters`,
    `resulting address has more than ${count(MAX_DESTINATION_LENGTH)} characters`,
    `for ${days(FORMER_HOST_MS)} days which host it was before`,
    `It looks up at most ${word(suggestIntendedCodes("링크를).").length)} codes`,
    `takes effect within ${CHANGE_SPAN}`,
    `a new blocklist within ${span(POLL_MS * 3)}`,
    `for ${minutes(OPEN_MS)} minutes, or until the password changes`,
    `may send ${word(TRYING_CLIENTS)} times as many`,
    `again for ${minutes(REMEMBERED_MS)} minutes`,
    `${PASSWORD_CHECKS.count} passwords checked ${span(PASSWORD_CHECKS.ms)}, and a client or a link ${CHECKS_AT_ONCE} at the same time`,
    `A password beyond the ${CHECKS_AT_ONCE} counts`,
    `A day keeps ${MAX_DAY_VALUES} values of each breakdown, among them each with more than ${100 / MAX_DAY_VALUES} % of the visits`,
    `may be cached for ${span(QR_SECONDS * 1000)}`,
    `after about ${span(TICK_MS)}, or within ${FOLD_SPAN} under heavy load`,
    `the ${MAX_VALUES} most common values`,
  ],
  "docs/monitoring.md": [
    `once in ${seconds(REPEAT_EVERY_MS)} with their number`,
    `answers every process within ${span(WAIT_MS)}`,
    `Disabled and deleted links, up to ${count(MAX_COUNTED_DISABLED)}`,
    `Blocked hosts, up to ${count(MAX_BLOCKED_HOSTS)}`,
    `Above ${MAX_SPACE_USED}, codes get longer`,
    `aren't in the store yet, for up to ${FOLD_SPAN}`,
    `Near ${MAX_VIEWS.visitors}: lower`,
    `\`dropped\` after ${span(MAX_AGE_MS)} or beyond ${count(MAX_EVENTS)}`,
    `Below ${count(MIN_DESCRIPTORS)}: raise`,
  ],
  "docs/ending.md": [
    `links of more than ${count(MAX_VALUE)} bytes, where each \`$\` takes ${"${curt_dollar}".length}`,
  ],
  "docs/moving.md": [`in the last ${REPLAY_MS / HOUR_MS} hours`, `the first ${MAX_ROWS} of each reason`],
  "docs/overload.md": [
    `Curt starts ${STARTS_PER_TURN}, then`,
    `waits for ${seconds(MAX_WAIT_MS)}, or for ${span(MAX_STANDING_WAIT_MS)} once its line hasn't been empty for ${seconds(MAX_WAIT_MS)}`,
    `\`Retry-After: ${RETRY_SOON["Retry-After"]}\``,
    `Each line holds ${count(MAX_IN_LINE)} requests`,
    `at least ${mib(PROCESS_BYTES)} MiB per process`,
  ],
  "docs/postgresql.md": [
    `up to ${MAX_HOSTS} servers of one cluster`,
    `Curt waits ${seconds(OPEN_WAIT_MS)} and then exits`,
    `up to \`DATABASE_POOL\` (${preset("databasePool")})`,
    `takedowns apply within ${CHANGE_SPAN}, statistics within ${FOLD_SPAN}`,
  ],
  "docs/privacy.md": [
    `\`STATS_KEEP\` (${preset("statsKeepDays")} days)`,
    `hashes of at most ${VISITORS_SKETCH} visitors per link`,
    `Until ${CLOSE_SPAN} after the day (UTC)`,
    // Hashes of reporters.
    `Until ${span(LATE_MS)} after the day (UTC)`,
    `Up to ${FOLD_SPAN}, or until the database is back: one journal record`,
    `For ${days(KEEP_NOTES_MS)} days after the last report of a link`,
    `For ${REPLAY_MS / HOUR_MS} hours: keyed hashes`,
    `a known password of a link (${minutes(OPEN_MS)} minutes)`,
    `created with the form (${minutes(JUST_CREATED_MS)} minutes)`,
    `up to ${count(SAVED_LINKS)}, cleared`,
    `appear only ${CLOSE_SPAN} after their day`,
    `0 in ${percent(within(0))} of cases, at most 2 up or down in ${percent(within(2))}, at most 5 in ${percent(within(5))} (two-sided geometric, ε = ${EPSILON})`,
    `fewer than ${word(MIN_SHOWN_VISITS)} visits, noise included`,
    `at most ${Math.exp(EPSILON).toFixed(2)} times (e^ε) as likely; a guess is right in ${percent(guessRate(1))} of cases`,
    `in all ${word(DIMENSIONS.length)} values, guessing which one came succeeds in ${percent(guessRate(2 * DIMENSIONS.length))} of cases`,
    `shows in ${shows(1)} of cases; with two such visits in ${shows(2)}, with four in ${shows(4)}`,
    `arrive over ${CLOSE_SPAN} after their day`,
  ],
  "docs/protecting.md": [
    `have ${word(CLIENTS_OF_SITE)} times each limit`,
    `| \`LIMIT_CREATE\` | \`${PUBLIC_LIMITS.limitCreate}\` |`,
    `| \`LIMIT_UNKNOWN\` | \`${PUBLIC_LIMITS.limitUnknown}\` |`,
    `| \`LIMIT_VIEW\` | \`${PUBLIC_LIMITS.limitView}\` |`,
    `| \`LIMIT_REPORT\` | \`${SETTINGS.limitReport.default}\` | \`${SETTINGS.limitReport.default}\` |`,
    `| \`LIMIT_PASSWORDS\` | \`${SETTINGS.limitPasswords.default}\` | \`${SETTINGS.limitPasswords.default}\` |`,
    `all clients together have ${word(TRYING_CLIENTS)} times as many`,
    `up to ${word(MAX_WINDOWS)} windows`,
    `reaches ${word(SCAN_TIMES)} times \`LIMIT_UNKNOWN\``,
    `They take ${limitsMib()} MiB per process with the public limits, ${limitsMib(undefined, true)} MiB with \`ADMIN_TOKEN\`, and at most ${limitsMib(FOUR_WINDOWS, true)} MiB with ${word(MAX_WINDOWS)} windows each`,
    `The public default, ${span(EDITABLE_MS["24h"])}, corrects`,
    `in every process within ${CHANGE_SPAN}`,
    `once ${span(FETCH_EVERY_MS)} into`,
    `a list has at most ${mib(MAX_FEED_BYTES)} MiB`,
    `checks the files every ${seconds(POLL_MS)}`,
    `A file may have ${MAX_RULES / 1e6} million rules and ${mib(MAX_FILE_BYTES)} MiB`,
  ],
  "docs/proxies.md": [
    `open for less than ${IDLE_SECONDS} s`,
    `Curt closes idle connections after ${IDLE_SECONDS} s.`,
    `bodies of up to ${mib(BATCH_BYTES)} MiB`,
    `Wait up to ${word(BATCH_SECONDS / 60)} minutes`,
    `client_max_body_size ${mib(BATCH_BYTES)}m;`,
    `proxy_read_timeout ${BATCH_SECONDS / 60}m;`,
    `timeout server ${BATCH_SECONDS / 60}m`,
    // And 2 KiB for the other headers.
    `response headers of up to ${MAX_FORWARDED_QUERY / 1024 + 2} KiB`,
  ],
  "docs/running.md": [
    `to send the headers and ${IDLE_SECONDS} s to send the body. Idle connections are closed after ${IDLE_SECONDS} s`,
    `up to ${mib(CACHE_BYTES)} MiB, and its own counts`,
    `silent for ${seconds(MAX_SILENT_BEATS * BEAT_MS)}`,
    `gives requests in progress ${seconds(DRAIN_LIMIT_MS)}`,
    `Equal signals within ${span(SAME_SIGNAL_MS)} count as one`,
    `exit code ${SYNC_FAILED}`,
    `jumps by more than ${span(MAX_DRIFT_MS)}`,
    `between ${span(TICK_MS)} and ${FOLD_SPAN} later`,
    `up to ${mib(JOURNAL_BYTES)} MiB while the database is away`,
    `power cut: up to the last ${LAST_MINUTE}`,
    `survives: up to the last ${LAST_MINUTE}, if another machine uses the disk within ${Math.min(KEEP_SEQUENCES_DAYS, KEEP_SOURCES_DAYS)} days`,
  ],
  "docs/settings.md": [
    `auto is ${PUBLIC_LIMITS.limitCreate} in public posture`,
    `auto is ${PUBLIC_LIMITS.limitUnknown} in public posture`,
    `auto is ${PUBLIC_LIMITS.limitView} in public posture`,
    `${word(TRYING_CLIENTS)} times as many may be tried for one link`,
    `addresses are fetched every ${span(FETCH_EVERY_MS).split(" ")[1]}`,
  ],
  "docs/single-sign-on.md": [`A name has 1 to ${MAX_NAME_LENGTH} letters`],
  "docs/troubleshooting.md": [
    `a start without it needs ${OPENING_KIB} KiB of room`,
    `keeps idle connections for over ${IDLE_SECONDS} s`,
    `They appear within ${FOLD_SPAN}`,
    `for example after ${span(BELIEVED_DAYS * DAY_MS)} without Curt`,
    `Curt retries for ${span(MAX_AGE_MS)}`,
    `failed for ${span(MAX_AGE_MS)}, or over ${count(MAX_EVENTS)} events were waiting`,
  ],
  "docs/upgrading.md": [`Open requests have ${seconds(REPLACED_MS + DRAIN_LIMIT_MS)}`],
};

/** Figures that state no limit of the code: facts about others, examples, promises, and results of measurements. */
const OTHERS: Readonly<Record<string, readonly (string | RegExp)[]>> = {
  "README.md": [
    "10 a day",
    "According to the others' sources in 2026",
    /takes 2.1 times the CPU .*? \(`\w+`/,
  ],
  "SECURITY.md": ["within three days"],
  // test/client/package.test.ts measures it.
  "client/README.md": ["and 5.5 kB"],
  "docs/admin.md": ["here 60", "Among 10 million links, a whole search takes about ten seconds"],
  "docs/api.md": ["at least 12 months later", "Until Curt 1.0", "From 1.0 on"],
  "docs/openapi.json": [
    "Each client counts once a day",
    "ISO/IEC 18004 requires 4",
    "about 7% (`l`), 15% (`m`), 25% (`q`) or 30% (`h`)",
    "9999-12-31T00:00:00.000Z",
    "A person who visits on two days",
    "A timestamp, a date or a month",
  ],
  "docs/backup.md": [
    "lose seconds | Litestream, beside one of these | the last seconds",
    "on port 3001",
    "elsewhere about once a second",
    "A lost disk costs the last seconds",
    "Litestream copies a mistake a second later",
  ],
  "docs/cli.md": ["- 137: killed", "- 143, 130: SIGTERM or SIGINT"],
  // A migration's view says so, and never changes.
  "docs/events.md": ["recording ends within a day"],
  "docs/export-format.md": ["each hour (0 to 23, UTC)", "A figure of a day"],
  // test/project/install.test.ts compares the user.
  "docs/install.md": [
    "ports 80 and 443",
    "steps 1 to 3",
    "as user 65532",
    "10 million links took 1.45 GB of disk",
  ],
  "docs/links.md": ["visits on two days", "off by half an hour, such an hour"],
  // That of docs/alerts.yml.
  "docs/monitoring.md": ["Above 0.1 s for minutes"],
  "docs/faq.md": ["hashes for a day only"],
  "docs/ending.md": [
    "one million needs 600 MB",
    "up to about 100,000 links, at 4 KB of memory per link",
    "Cloudflare Pages reads 2,000 rules, two or more per link",
  ],
  "docs/moving.md": ["Visits of the last second are then missing"],
  "docs/overload.md": [
    /A process starts with .*? Peak observed: \d+ MB/,
    "for up to a tenth of a second at a time",
  ],
  "docs/postgresql.md": [
    "With PostgreSQL 15 or newer",
    "over 10,000 creates per second",
    "above 10 × 4 × (8 + 2) = 400",
    "kill 30 s after that at the earliest",
    "creates paused for 23 to 26 s",
    "usually takes half a minute to two",
    /## Sizes .*/,
  ],
  "docs/privacy.md": ["Each number of a day", "instead of 50 %", "thirty visits on a day stand out"],
  "docs/protecting.md": [
    "`30/1m` allows 30 immediately, then one every two seconds",
    "each client counts once a day",
    /In each process, a million hosts take .*? \(at \w+\)/,
    "with mode 0600 and folders with 0700",
  ],
  "docs/proxies.md": ["For a year, browsers then refuse", "may serve the same redirect for a minute"],
  // Bun's limits.
  "docs/running.md": ["accepts 16 KB of headers", "A client has 12 s to send the headers"],
  // docs.test.ts compares its tables with the code.
  "docs/settings.md": [/\| Name .*/],
  "docs/troubleshooting.md": ["ports below 1024"],
  "docs/upgrading.md": ["Under thousands of new connections per second", "From 1.0 on"],
};

/** Of JSON, only what people read. */
function proseOf(page: string, source: string): string {
  if (!page.endsWith(".json")) return source;
  const texts: string[] = [];
  JSON.parse(source, (name, value: unknown) => {
    if ((name === "description" || name === "summary") && typeof value === "string") texts.push(value);
    return value;
  });
  return texts.join("\n");
}

/** The text without addresses of links, and where `prose` has spaces instead of code and of numbers of standards. */
function readPage(page: string): { text: string; prose: string } {
  const text = proseOf(page, readFileSync(join(ROOT, page), "utf8"))
    .replace(/<!--[^]*?-->/g, "")
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll("**", "")
    .replace(/\s+/g, " ");
  const blank = (part: string) => " ".repeat(part.length);
  const prose = text
    .replace(/```.*?```/g, blank)
    .replace(/`[^`]*`/g, blank)
    .replace(/<code>.*?<\/code>/g, blank)
    .replace(
      /\b(?:RFC|section|ISO|HTTP|OpenAPI|draft-[\w-]+|[Vv]ersion|SQLite|Linux|Decision|PDF|OSC) \d[\d.]*/g,
      blank,
    );
  return { text, prose };
}

const UNIT = "seconds?|minutes?|hours?|days?|weeks?|months?|years?";
const NUMBER = `half an?|${NUMBERS.slice(2).filter(Boolean).join("|")}|thirty|hundreds?|thousands?`;
/** Numbers of two digits or with a unit, times in words, and other numbers in words that limit something. No status codes. */
const FIGURE = new RegExp(
  [
    `\\b(?:an?|${NUMBER}) (?:${UNIT})\\b(?! link)`,
    `\\blast (?:seconds?|minute)\\b`,
    `\\b(?:${NUMBER}) (?:times|as many|attempts|windows|similar|codes|wrong|visits|million)\\b`,
    `\\b(?:at most|up to|at least|fewer than|more than) (?:${NUMBER})\\b`,
    `(?<![\\w./:+-])\\d[\\d.,]* ?(?:%|(?:[mµ]?s|min|[kKMGT]i?B|bytes|bits|characters|${UNIT})\\b)`,
    `\\b(?:at most|up to|at least|over|under|below|above|beyond|default|to) \\d`,
    `(?<![\\w./:+-])(?![2-5]\\d\\d\\b)\\d[\\d,.]*\\d(?![\\w/])`,
  ].join("|"),
  "g",
);

describe("a figure in the documents", () => {
  for (const [page, sentences] of Object.entries(STATED)) {
    test(`matches the code in ${page}`, () => {
      const { text } = readPage(page);
      expect(sentences.filter((sentence) => !text.includes(sentence))).toEqual([]);
    });
  }

  test("of a setting matches the setting's format", () => {
    for (const { name, meaning, takes } of Object.values(SETTINGS)) {
      for (const [range, from, to] of meaning.matchAll(/(\d+d?) to (\d+d?)/g))
        expect([range, takes.right], name).toEqual([range, expect.stringContaining(`from ${from} to ${to}`)]);
      for (const [, part = ""] of meaning.matchAll(/(secret of \d+|at most \d+ KiB)/g))
        expect([name, takes.right]).toEqual([name, expect.stringContaining(part)]);
    }
  });

  test("is compared with the code, or listed as none of its limits", () => {
    const unknown = PAGES.flatMap((page) => {
      const { text, prose } = readPage(page);
      const isKnown = new Uint8Array(text.length);
      for (const part of [...(STATED[page] ?? []), ...(OTHERS[page] ?? [])]) {
        const places = [
          ...text.matchAll(new RegExp(part instanceof RegExp ? part : RegExp.escape(part), "g")),
        ];
        expect([page, part, places.length]).not.toEqual([page, part, 0]);
        for (const { index, 0: found } of places) isKnown.fill(1, index, index + found.length);
      }
      return [...prose.matchAll(FIGURE)]
        .filter(({ index }) => isKnown[index] === 0)
        .map(
          ({ index, 0: figure }) =>
            `${page}: …${text.slice(Math.max(0, index - 40), index + figure.length + 30)}…`,
        );
    });
    expect(unknown).toEqual([]);
  });
});

test("@curt/client sends as many links per batch as the service accepts", () => {
  expect(MAX_LINKS).toBe(MAX_BATCH);
});
