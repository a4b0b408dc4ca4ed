// The figures that the documents state, and the values of the code. `npm run reference` writes them into the documents.
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { MAX_LINKS } from "../client/batch.ts";
import clientPackage from "../client/package.json";
import { MAX_ATTEMPTS, TIMEOUT_MS } from "../client/request.ts";
import packageJson from "../package.json";
import { MAX_CHANGED, SEARCH_MS } from "../src/api/admin/search-slices.ts";
import { IDLE_SECONDS as BATCH_SECONDS, MAX_BATCH } from "../src/api/create-batch.ts";
import { MAX_KEY_LENGTH, MIN_KEY_LENGTH } from "../src/api/creation.ts";
import { LIMIT } from "../src/api/list-page.ts";
import { MIN_CONTRAST } from "../src/api/qr-bounds.ts";
import { DEFAULT_URL } from "../src/cli/instance-request.ts";
import { SAME_SIGNAL_MS } from "../src/cli/serve.ts";
import { READER_GONE } from "../src/cli/terminal/print.ts";
import { MAX_ROWS } from "../src/cli/terminal/skipped-rows.ts";
import { PUBLIC_LIMITS } from "../src/config/config.ts";
import { MAX_HOSTS } from "../src/config/database-url.ts";
import { limit, MAX_WINDOWS } from "../src/config/setting-formats.ts";
import { SETTINGS } from "../src/config/settings.ts";
import { MIN_DESCRIPTORS, PROCESS_BYTES } from "../src/config/start-warnings.ts";
import { MAX_BODY } from "../src/events/delivery.ts";
import {
  MAX_REFUSED_WAIT_MS,
  MAX_SENT,
  MAX_WAITING as MAX_EVENTS,
  MIN_REFUSED_WAIT_MS,
} from "../src/events/outbox.ts";
import { BATCH, FIRST_RETRY_MS, MAX_AGE_MS, MAX_RETRY_MS, TAKE_OVER_MS } from "../src/events/sender.ts";
import { REQUEST_ID_LENGTH } from "../src/http/api-headers.ts";
import {
  MAX_IN_LINE,
  MAX_STANDING_WAIT_MS,
  MAX_WAIT_MS,
  STARTS_PER_TURN,
} from "../src/http/limits/overload.ts";
import { RETRY_SOON } from "../src/http/problems.ts";
import { BODIES, MAX_FORWARDED_QUERY, MAX_PAIRS, MAX_PATH } from "../src/lib/bounds.ts";
import { FORMER_HOST_MS } from "../src/links/change.ts";
import { BELIEVED_DAYS, MAX_DRIFT_MS, STEADY_MS } from "../src/links/clock.ts";
import { MAX_SUGGESTIONS, suggestIntendedCodes } from "../src/links/code-suggestions.ts";
import { MAX_CODE_POINTS } from "../src/links/code.ts";
import { MAX_SPACE_USED } from "../src/links/create.ts";
import { EDITABLE_MS } from "../src/links/edit.ts";
import { SYNC_FAILED } from "../src/links/link-store.ts";
import { REPLAY_MS } from "../src/links/links.ts";
import { MAX_NAME_LENGTH } from "../src/links/name.ts";
import { HASH_BYTES } from "../src/links/secret.ts";
import { MAX_DESTINATION_LENGTH, MAX_TARGET_LENGTH } from "../src/links/target.ts";
import { CHECKS_AT_ONCE, COST } from "../src/links/terms/password.ts";
import { TERMS } from "../src/links/terms/terms.ts";
import { DAY_MS, DURATIONS_MS, HOUR_MS, MINUTE_MS } from "../src/links/time.ts";
import { DEFAULT_DAYS } from "../src/mcp/tools.ts";
import { WAIT_MS } from "../src/metrics/system.ts";
import { SESSION_MS } from "../src/moderation/access-tokens.ts";
import { POLL_MS } from "../src/moderation/blocklist/blocklist.ts";
import { MAX_BYTES as MAX_FEED_BYTES } from "../src/moderation/blocklist/download.ts";
import { EVERY_MS as FETCH_EVERY_MS } from "../src/moderation/blocklist/feeds.ts";
import { MAX_FILE_BYTES, MAX_RULES } from "../src/moderation/blocklist/list-file.ts";
import { MAX_NOTE_LENGTH } from "../src/moderation/case.ts";
import type { Window } from "../src/moderation/cell-rate.ts";
import { NEAR } from "../src/moderation/directory.ts";
import { FIGURE_DAYS, MAX_COUNTED_DISABLED } from "../src/moderation/figures.ts";
import { MAX_VISITED, USED_DAYS } from "../src/moderation/most-used.ts";
import { MAX_RULES as MAX_BLOCKED_HOSTS } from "../src/moderation/operator.ts";
import {
  CLIENTS_OF_SITE,
  createRateLimits,
  PASSWORD_CHECKS,
  SCAN_TIMES,
  TRYING_CLIENTS,
  WRONG_TOKENS,
} from "../src/moderation/rate-limits.ts";
import { KEEP_MS as KEEP_NOTES_MS, LATE_MS } from "../src/moderation/reports.ts";
import { FOUND_LIMIT, MAX_TEXT } from "../src/pages/directory/handler.tsx";
import { OPEN_MS, REMEMBERED_MS } from "../src/pages/password/handler.ts";
import { JUST_CREATED_MS } from "../src/pages/preview/just-created.ts";
import { DAY_SECONDS as QR_SECONDS } from "../src/pages/qr/qr-image.ts";
import { MAX_BYTES as CACHE_BYTES } from "../src/redirect/link-cache.ts";
import { FORM_REMEMBERED_MS } from "../src/redirect/sent-forms.ts";
import { BEAT_MS } from "../src/server/child-process.ts";
import { REPEAT_EVERY_MS } from "../src/server/fault-log.ts";
import { DRAIN_LIMIT_MS, IDLE_SECONDS } from "../src/server/listen.ts";
import { MAX_SILENT_BEATS } from "../src/server/process-pool.ts";
import { CHECK_EVERY_MS } from "../src/server/scheduled-backups.ts";
import { OPEN_WAIT_MS, READ_CHANGES_EVERY_MS, REPLACED_MS } from "../src/server/service.ts";
import { KEEP_SEQUENCES_DAYS } from "../src/store/postgres/visit-queries.ts";
import { KEEP_SOURCES_DAYS } from "../src/store/sqlite/add-visits.ts";
import { OPENING_KIB } from "../src/store/sqlite/file/file.ts";
import { MAX_BYTES_PER_S } from "../src/store/sqlite/file/snapshot.ts";
import { MAX_VALUE } from "../src/transfer/redirects/redirect-formats.ts";
import { MAX_WAITING as MAX_VIEWS } from "../src/views/views-queue.ts";
import { CLOSE_AFTER_MS, MAX_DAY_VALUES, VISITORS_SKETCH } from "../src/visits/days/day.ts";
import { DIMENSIONS } from "../src/visits/days/dimensions.ts";
import { MAX_FOLD_PAUSE_MS, TICK_MS } from "../src/visits/journal/journal.ts";
import { segmentBytes } from "../src/visits/journal/segment-layout.ts";
import { CAPACITY, MAX_BYTES as JOURNAL_BYTES } from "../src/visits/journal/segments.ts";
import { EPSILON, MIN_SHOWN_VISITS } from "../src/visits/statistics/noise.ts";
import { DEFAULT_DAYS as DAYS_BY, MAX_DAYS, MAX_VALUES } from "../src/visits/statistics/statistics.ts";
import { FORGET_AFTER_MS } from "../src/visits/visits.ts";

/** A sentence of a document with the code's values. */
export interface Sentence {
  readonly text: string;
  /** Matches it with any values. Its groups are the texts between them. */
  readonly pattern: RegExp;
  readonly values: readonly string[];
}

/** How values look: numbers, times, lists of numbers, numbers in words. */
const SHAPES = [
  /\d(?:[\d.,]*\d)?/,
  /(?:an?|half an?|\d+) [a-z]+/,
  /\d+ (?:m?s|min|%)/,
  /\d+ min(?:, \d+ min)*/,
  /[a-z]+/i,
  /\S+/,
  /[^`]+/,
];

function state(texts: TemplateStringsArray, ...given: readonly (string | number)[]): Sentence {
  const values = given.map(String);
  const shapes = values.map(
    (value) => SHAPES.find((shape) => shape.exec(value)?.[0] === value)?.source ?? ".+",
  );
  const parts = texts.map((text) => `(${RegExp.escape(text).replaceAll("\\x20", "\\s+")})`);
  return {
    text: String.raw({ raw: texts }, ...values),
    pattern: new RegExp(
      parts.map((part, nth) => part + (shapes[nth] === undefined ? "" : `(?:${shapes[nth]})`)).join(""),
      "g",
    ),
    values,
  };
}

const count = (number: number) => number.toLocaleString("en");
/** Numbers in words. */
export const NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split(" ");
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
    new RegExp(`const ${name} = ([\\d_]+);`).exec(readFileSync(join(import.meta.dir, "..", path), "utf8")) ??
    [];
  return Number(digits.replaceAll("_", ""));
}
const SAVED_LINKS = constantOf("src/pages/my-links/script/saved-links.ts", "MAX_LINKS");

const { maxBytes: BATCH_BYTES } = BODIES["POST /api/v1/links/batch"];

/** How soon every process knows of a change, in full seconds. */
const CHANGE_SPAN = span(Math.ceil(READ_CHANGES_EVERY_MS / 1000) * 1000);
const FOLD_SPAN = span(MAX_FOLD_PAUSE_MS);
const [, LAST_MINUTE = ""] = FOLD_SPAN.split(" ");
const CLOSE_SPAN = span(CLOSE_AFTER_MS);

/** Sentences of each page. */
export const STATED: Readonly<Record<string, readonly Sentence[]>> = {
  "README.md": [
    state`with Node ${packageJson.engines.node.slice(2)} or newer`,
    state`After ${days(preset("codeHoldMs"))} days (\`CODE_HOLD\`)`,
    state`a power cut can lose the last ${LAST_MINUTE}`,
    state`its destination for ${span(EDITABLE_MS["24h"])} only`,
  ],
  "SECURITY.md": [
    state`in every process within ${CHANGE_SPAN}`,
    state`Keys are ${HASH_BYTES * 8} bits`,
    state`can be changed for ${span(EDITABLE_MS["24h"])} only`,
    state`end after ${SESSION_MS / HOUR_MS} hours`,
    state`slows one client down to ${UNKNOWN.count} tries ${span(UNKNOWN.ms)} after the first ${UNKNOWN.count * SCAN_TIMES}`,
  ],
  "client/README.md": [
    state`For Node ${clientPackage.engines.node.slice(2)} and later`,
    state`up to ${word(MAX_ATTEMPTS)} attempts within ${TIMEOUT_MS / 1000} seconds`,
    state`they need ${MIN_KEY_LENGTH} characters or more`,
  ],
  "docs/admin.md": [
    state`for each of the last ${FIGURE_DAYS} days`,
    state`\`note\` has up to ${count(MAX_NOTE_LENGTH)} characters`,
    state`at most ${count(MAX_CHANGED)}: `,
    state`the blocked hosts, at most ${count(MAX_BLOCKED_HOSTS)}`,
    state`a \`limit\` of ${LIMIT.min} to ${LIMIT.max}`,
    state`for up to ${span(SEARCH_MS)} per request`,
    state`a session of ${SESSION_MS / HOUR_MS} hours`,
    state`After ${word(WRONG_TOKENS.count)} wrong tokens within ${span(WRONG_TOKENS.ms)}`,
  ],
  "docs/api.md": [
    state`up to ${MAX_BATCH} links in one request`,
    state`within ${CHANGE_SPAN} in all others`,
    state`${MIN_KEY_LENGTH} to ${MAX_KEY_LENGTH} printable ASCII characters`,
    state`For ${REPLAY_MS / HOUR_MS} hours, the same request`,
    state`if it has ${REQUEST_ID_LENGTH.min} to ${REQUEST_ID_LENGTH.max} letters`,
    state`RateLimit-Policy: ${PUBLIC.limitCreate
      .map((window, nth) => `"create${nth > 0 ? `-${nth + 1}` : ""}";q=${window.count};w=${window.ms / 1000}`)
      .join(", ")} `,
  ],
  "docs/openapi.json": [
    state`of ${MIN_KEY_LENGTH} characters or more`,
    state`Valid for ${REPLAY_MS / HOUR_MS} hours`,
    state`an array of up to ${MAX_BATCH} bodies, each as for one link, with at most ${count(BATCH_BYTES)} bytes in total`,
    state`The array has more than ${count(BATCH_BYTES)} bytes`,
    state`covers ${DAYS_BY.day} days, or ${DAYS_BY.hour} days by the hour, or ${DAYS_BY.month} days by the month`,
    state`The range can cover at most ${MAX_DAYS.day} days, or ${MAX_DAYS.hour} by the hour`,
    state`a contrast of at least ${MIN_CONTRAST}:1`,
    state`if it has ${REQUEST_ID_LENGTH.min} to ${REQUEST_ID_LENGTH.max} letters`,
    state`a month is ${days(DURATIONS_MS["1month"])} days`,
    state`\`1month\` (${days(DURATIONS_MS["1month"])} days)`,
    state`within ${word((2 * TICK_MS) / 1000)} seconds, or within ${FOLD_SPAN} under heavy load`,
    state`up to ${word(MAX_SUGGESTIONS)} similar codes`,
    state`fewer than ${MIN_SHOWN_VISITS} visits on a day`,
  ],
  "docs/backup.md": [state`copies at most ${mib(MAX_BYTES_PER_S)} MiB per second`],
  "docs/cli.md": [state`- ${SYNC_FAILED}: the disk failed`, state`- ${READER_GONE}: the reader`],
  "docs/clients.md": [
    state`| \`CURT_URL\` | \`${DEFAULT_URL}\` |`,
    state`in arrays of up to ${MAX_LINKS}`,
    state`\`days\` (default ${DEFAULT_DAYS})`,
  ],
  "docs/colleagues.md": [
    state`the most used of the last ${USED_DAYS} days`,
    state`at most ${count(MAX_VISITED)} links`,
    state`uses the first ${MAX_TEXT} characters of the text. Each page has up to ${FOUND_LIMIT} links`,
    state`lists the ${word(NEAR.shown)} links with`,
  ],
  "docs/events.md": [
    state`up to ${BATCH} CloudEvents 1.0`,
    state`at most ${count(MAX_BODY)} characters unless`,
    state`takes over after ${seconds(TAKE_OVER_MS)}`,
    state`after ${seconds(FIRST_RETRY_MS)}, ${seconds(FIRST_RETRY_MS * 2)} and so on up to ${minutes(MAX_RETRY_MS)} min`,
    state`events older than ${span(MAX_AGE_MS)}, and the oldest beyond ${count(MAX_EVENTS)}`,
    state`after ${[1, 2, 4].map((times) => `${minutes(times * MIN_REFUSED_WAIT_MS)} min`).join(", ")} and so on`,
    state`later every ${span(MAX_REFUSED_WAIT_MS).replace("an ", "")}`,
    state`drops it after ${span(MAX_AGE_MS)}`,
    state`about ${MAX_SENT === 1000 ? "a thousand" : count(MAX_SENT)} sent ones`,
  ],
  "docs/export-format.md": [
    state`\`$argon2id$v=19$m=${COST.memoryCost},t=${COST.timeCost},p=1$…\``,
    state`Requests of the last ${REPLAY_MS / HOUR_MS} hours`,
  ],
  "docs/faq.md": [state`that works for ${span(EDITABLE_MS["24h"])}`],
  "docs/install.md": [
    state`with Node ${packageJson.engines.node.slice(2)} or newer`,
    state`Allow ${mib(PROCESS_BYTES)} MiB of memory`,
    state`of each of the last ${word(days(preset("backupKeep") * preset("backupEveryMs")))} days`,
    state`${span(CHECK_EVERY_MS).replace("a", "A")} after the start, there is a first backup`,
  ],
  "docs/links.md": [
    state`A code has 1 to ${MAX_CODE_POINTS} code points`,
    state`suggests up to ${word(MAX_SUGGESTIONS)} similar ones`,
    state`in one line of up to ${TERMS.title.bounds.max} characters what`,
    state`\`CODE_HOLD\` (${days(preset("codeHoldMs"))} days by default)`,
    state`more than ${count(MAX_TARGET_LENGTH)} characters`,
    state`has more than ${MAX_PAIRS} parameters`,
    state`whose path is longer than ${count(MAX_PATH)} characters`,
    state`resulting address has more than ${count(MAX_DESTINATION_LENGTH)} characters`,
    state`for ${days(FORMER_HOST_MS)} days which host it was before`,
    state`It looks up at most ${word(suggestIntendedCodes("링크를).", "match").length)} codes`,
    state`takes effect within ${CHANGE_SPAN}`,
    state`a new blocklist within ${span(POLL_MS * 3)}`,
    state`A form that is sent twice within ${span(FORM_REMEMBERED_MS)} uses up one`,
    state`for ${minutes(OPEN_MS)} minutes, or until the password changes`,
    state`again for ${minutes(REMEMBERED_MS)} minutes`,
    state`${PASSWORD_CHECKS.count} passwords checked ${span(PASSWORD_CHECKS.ms)}, and a client or a link ${CHECKS_AT_ONCE} at the same time`,
    state`A password beyond these ${CHECKS_AT_ONCE} counts`,
    state`A day keeps ${MAX_DAY_VALUES} values of each breakdown, among them each with more than ${100 / MAX_DAY_VALUES} % of the visits`,
    state`may be cached for ${span(QR_SECONDS * 1000)}`,
    state`after about ${span(TICK_MS)}, or within ${FOLD_SPAN} under heavy load`,
    state`the ${MAX_VALUES} most common values`,
  ],
  "docs/monitoring.md": [
    state`once in ${seconds(REPEAT_EVERY_MS)} with their number`,
    state`answers every process within ${span(WAIT_MS)}`,
    state`Disabled and deleted links, up to ${count(MAX_COUNTED_DISABLED)}`,
    state`Blocked hosts, up to ${count(MAX_BLOCKED_HOSTS)}`,
    state`Above ${MAX_SPACE_USED}, codes get longer`,
    state`aren't in the store yet, for up to ${FOLD_SPAN}`,
    state`Near ${MAX_VIEWS.visitors}: lower`,
    state`\`dropped\` after ${span(MAX_AGE_MS)} or beyond ${count(MAX_EVENTS)}`,
    state`Below ${count(MIN_DESCRIPTORS)}: raise`,
  ],
  "docs/ending.md": [
    state`links of more than ${count(MAX_VALUE)} bytes, where each \`$\` takes ${"${curt_dollar}".length}`,
  ],
  "docs/moving.md": [
    state`Titles are cut to ${TERMS.title.bounds.max} characters`,
    state`in the last ${REPLAY_MS / HOUR_MS} hours`,
    state`the first ${MAX_ROWS} of each reason`,
  ],
  "docs/overload.md": [
    state`Curt starts ${STARTS_PER_TURN}, then`,
    state`waits for ${seconds(MAX_WAIT_MS)}, or for ${span(MAX_STANDING_WAIT_MS)} once its line hasn't been empty for ${seconds(MAX_WAIT_MS)}`,
    state`\`Retry-After: ${RETRY_SOON["Retry-After"]}\``,
    state`Each line holds ${count(MAX_IN_LINE)} requests`,
    state`at least ${mib(PROCESS_BYTES)} MiB per process`,
  ],
  "docs/postgresql.md": [
    state`up to ${MAX_HOSTS} servers of one cluster`,
    state`Curt waits ${seconds(OPEN_WAIT_MS)} and then exits`,
    state`up to \`DATABASE_POOL\` (${preset("databasePool")})`,
    state`takedowns apply within ${CHANGE_SPAN}, statistics within ${FOLD_SPAN}`,
  ],
  "docs/privacy.md": [
    state`\`STATS_KEEP\` (${preset("statsKeepDays")} days)`,
    state`hashes of at most ${VISITORS_SKETCH} visitors per link`,
    state`Until ${CLOSE_SPAN} after the day (UTC)`,
    // Hashes of reporters.
    state`Until ${span(LATE_MS)} after the day (UTC)`,
    state`Up to ${FOLD_SPAN}, or until the database is back: one journal record`,
    state`For ${days(KEEP_NOTES_MS)} days after the last report of a link`,
    state`For ${REPLAY_MS / HOUR_MS} hours: keyed hashes`,
    state`a known password of a link (${minutes(OPEN_MS)} minutes)`,
    state`created with the form (${minutes(JUST_CREATED_MS)} minutes)`,
    state`up to ${count(SAVED_LINKS)}, cleared`,
    state`appear only ${CLOSE_SPAN} after their day`,
    state`0 in ${percent(within(0))} of cases, at most 2 up or down in ${percent(within(2))}, at most 5 in ${percent(within(5))} (two-sided geometric, ε = ${EPSILON})`,
    state`fewer than ${word(MIN_SHOWN_VISITS)} visits, noise included`,
    state`at most ${Math.exp(EPSILON).toFixed(2)} times (e^ε) as likely; a guess is right in ${percent(guessRate(1))} of cases`,
    state`in all ${word(DIMENSIONS.length)} values, guessing which one came succeeds in ${percent(guessRate(2 * DIMENSIONS.length))} of cases`,
    state`shows in ${shows(1)} of cases; with two such visits in ${shows(2)}, with four in ${shows(4)}`,
    state`arrive over ${CLOSE_SPAN} after their day`,
  ],
  "docs/protecting.md": [
    state`have ${word(CLIENTS_OF_SITE)} times each limit`,
    state`| \`LIMIT_CREATE\` | \`${PUBLIC_LIMITS.limitCreate}\` |`,
    state`| \`LIMIT_UNKNOWN\` | \`${PUBLIC_LIMITS.limitUnknown}\` |`,
    state`| \`LIMIT_VIEW\` | \`${PUBLIC_LIMITS.limitView}\` |`,
    state`| \`LIMIT_REPORT\` | \`${SETTINGS.limitReport.default}\` | \`${SETTINGS.limitReport.default}\` |`,
    state`| \`LIMIT_PASSWORDS\` | \`${SETTINGS.limitPasswords.default}\` | \`${SETTINGS.limitPasswords.default}\` |`,
    state`all clients together have ${word(TRYING_CLIENTS)} times as many`,
    state`up to ${word(MAX_WINDOWS)} windows`,
    state`reaches ${word(SCAN_TIMES)} times \`LIMIT_UNKNOWN\``,
    state`They take ${limitsMib()} MiB per process with the public limits, ${limitsMib(undefined, true)} MiB with \`ADMIN_TOKEN\`, and at most ${limitsMib(FOUR_WINDOWS, true)} MiB with ${word(MAX_WINDOWS)} windows each`,
    state`The public default, ${span(EDITABLE_MS["24h"])}, corrects`,
    state`in every process within ${CHANGE_SPAN}`,
    state`once ${span(FETCH_EVERY_MS)} into`,
    state`a list has at most ${mib(MAX_FEED_BYTES)} MiB`,
    state`checks the files every ${seconds(POLL_MS)}`,
    state`A file may have ${MAX_RULES / 1e6} million rules and ${mib(MAX_FILE_BYTES)} MiB`,
  ],
  "docs/proxies.md": [
    state`open for less than ${IDLE_SECONDS} s`,
    state`Curt closes idle connections after ${IDLE_SECONDS} s.`,
    state`bodies of up to ${mib(BATCH_BYTES)} MiB`,
    state`Wait up to ${word(BATCH_SECONDS / 60)} minutes`,
    state`client_max_body_size ${mib(BATCH_BYTES)}m;`,
    state`proxy_read_timeout ${BATCH_SECONDS / 60}m;`,
    state`timeout server ${BATCH_SECONDS / 60}m`,
    // And 2 KiB for the other headers.
    state`response headers of up to ${MAX_FORWARDED_QUERY / 1024 + 2} KiB`,
  ],
  "docs/running.md": [
    state`to send the headers and ${IDLE_SECONDS} s to send the body. Idle connections are closed after ${IDLE_SECONDS} s`,
    state`up to ${mib(CACHE_BYTES)} MiB, and its own counts`,
    state`silent for ${seconds(MAX_SILENT_BEATS * BEAT_MS)}`,
    state`gives requests in progress ${seconds(DRAIN_LIMIT_MS)}`,
    state`Equal signals within ${span(SAME_SIGNAL_MS)} count as one`,
    state`exit code ${SYNC_FAILED}`,
    state`jumps by more than ${span(MAX_DRIFT_MS)}`,
    state`was steady for ${word(minutes(STEADY_MS))} minutes`,
    state`deletes statistics ${span(FORGET_AFTER_MS)} after the first start`,
    state`between ${span(TICK_MS)} and ${FOLD_SPAN} later`,
    state`three files of ${mib(segmentBytes(CAPACITY)).toFixed(1)} MiB per process`,
    state`up to ${mib(JOURNAL_BYTES)} MiB while the database is away`,
    state`power cut: up to the last ${LAST_MINUTE}`,
    state`survives: up to the last ${LAST_MINUTE}, if another machine uses the disk within ${Math.min(KEEP_SEQUENCES_DAYS, KEEP_SOURCES_DAYS)} days`,
  ],
  "docs/settings.md": [
    state`auto is ${PUBLIC_LIMITS.limitCreate} in public posture`,
    state`auto is ${PUBLIC_LIMITS.limitUnknown} in public posture`,
    state`auto is ${PUBLIC_LIMITS.limitView} in public posture`,
    state`${word(TRYING_CLIENTS)} times as many may be tried for one link`,
    state`addresses are fetched every ${span(FETCH_EVERY_MS).replace("an ", "")}`,
  ],
  "docs/single-sign-on.md": [state`A name has 1 to ${MAX_NAME_LENGTH} letters`],
  "docs/troubleshooting.md": [
    state`a start without it needs ${OPENING_KIB} KiB of room`,
    state`keeps idle connections for over ${IDLE_SECONDS} s`,
    state`They appear within ${FOLD_SPAN}`,
    state`steady for ${word(minutes(STEADY_MS))} minutes`,
    state`more than ${span(BELIEVED_DAYS * DAY_MS)} ahead`,
    state`for example after ${span(BELIEVED_DAYS * DAY_MS)} without Curt`,
    state`Curt retries for ${span(MAX_AGE_MS)}`,
    state`failed for ${span(MAX_AGE_MS)}, or over ${count(MAX_EVENTS)} events were waiting`,
  ],
  "docs/upgrading.md": [state`Open requests have ${seconds(REPLACED_MS + DRAIN_LIMIT_MS)}`],
};

/** Returns a document with the values of the code, except in sentences that it doesn't have exactly once. */
export function writeFigures(document: string, sentences: readonly Sentence[]): string {
  let written = document;
  for (const { text, pattern, values } of sentences) {
    const [found, ...others] = [...written.matchAll(pattern)];
    if (found === undefined || others.length > 0 || written.replace(/\s+/g, " ").includes(text)) continue;
    const sentence = found.slice(1).map((part, nth) => part + (values[nth] ?? ""));
    written = written.replace(found[0], () => sentence.join(""));
  }
  return written;
}
