// One record as a line of an export. docs/export-format.md describes it. Names and their order are fixed, so that equal
// records are equal bytes.
import { REASONS, type Terms } from "../links/link.ts";
import { DAY_MS, NEVER_MS } from "../links/time.ts";
import type { Kind, LinkDay, RecordOf } from "../store/records.ts";
import { closeDetail } from "../visits/day.ts";
import { type DayDetail, readDetail } from "../visits/detail.ts";
import { DIMENSIONS } from "../visits/dimensions.ts";

export const FORMAT = "curt-export";
export const VERSION = 1;
export const HEADER = `${JSON.stringify({ format: FORMAT, version: VERSION })}\n`;

/**
 * In the order of the file. Salts and today's reporters are left out: hashes of visitors must not outlive their day, and an
 * export may be kept for years. So a day's visitors become a number, as if the day were over.
 */
export const EXPORTED = [
  "link",
  "day",
  "secret",
  "host",
  "entry",
  "case",
  "counter",
] as const satisfies readonly Kind[];
export type Exported = (typeof EXPORTED)[number];

export type Counts = Readonly<Record<Exported, number>>;

export function footer(records: Counts, sha256: string): string {
  return `${JSON.stringify({ kind: "end", records, sha256 })}\n`;
}

export function writeLine<K extends Exported>(kind: K, record: RecordOf[K]): string {
  return `${JSON.stringify(WRITERS[kind](record))}\n`;
}

type Writers = { readonly [K in Exported]: (record: RecordOf[K]) => object };

const WRITERS: Writers = {
  link: ({ code, originalUrl, target, createdMs, endsMs, disabled, terms }) => ({
    kind: "link",
    code,
    url: originalUrl,
    target: (target as string) === originalUrl ? undefined : target,
    created: instant(createdMs),
    ends: endsMs === NEVER_MS ? undefined : instant(endsMs),
    disabled,
    ...(terms && writeTerms(terms)),
  }),
  day: ({ code, createdMs, day, visits, bots, detail, isOpen }) => ({
    kind: "day",
    code,
    created: instant(createdMs),
    day: day === 0 ? null : dayName(day),
    visits,
    bots,
    ...(detail && writeDay(isOpen ? closeDetail(detail) : detail)),
  }),
  secret: ({ name, secret }) => ({ kind: "secret", name, base64: Buffer.from(secret).toString("base64") }),
  host: ({ host, reason, sinceMs }) => ({ kind: "host", host, reason, since: instant(sinceMs) }),
  entry: ({ atMs, who, action, reason, note, code, createdMs, host }) => ({
    kind: "entry",
    at: instant(atMs),
    who,
    action,
    reason,
    note,
    code,
    created: optionalInstant(createdMs),
    host,
  }),
  case: ({ notes, reasons, answer, ...one }) => ({
    kind: "case",
    code: one.code,
    created: instant(one.createdMs),
    first: instant(one.firstMs),
    last: instant(one.lastMs),
    reports: one.reports,
    reasons: Object.fromEntries(
      REASONS.filter((reason) => reasons[reason] !== undefined).map((reason) => [reason, reasons[reason]]),
    ),
    pending: one.pending,
    disabled: optionalInstant(one.disabledMs),
    answer: answer && { action: answer.action, at: instant(answer.atMs) },
    notes: notes.map(({ atMs, reason, note }) => ({ at: instant(atMs), reason, note })),
  }),
  counter: ({ day, name, count }) => ({ kind: "counter", day: dayName(day), name, count }),
};

function writeTerms(terms: Terms): object {
  const { startsMs, maxVisits, visits, passwordHash, ended, changedMs, formerHost, formerMs } = terms;
  return {
    starts: optionalInstant(startsMs),
    max_visits: maxVisits,
    counted_visits: visits,
    password_hash: passwordHash,
    ended,
    changed: optionalInstant(changedMs),
    former_host: formerHost,
    former_ms: formerMs,
  };
}

/** Only of closed days: numbers, no hashes. */
function writeDay(detail: NonNullable<LinkDay["detail"]>): object {
  const { hours, visitors, values, others }: DayDetail = readDetail(detail);
  return {
    hours,
    visitors,
    values: inOrder(values),
    others: inOrder(others),
  };
}

/** By dimension. Undefined if there are none. */
function inOrder(of: DayDetail["values"] | DayDetail["others"]): object | undefined {
  const given = DIMENSIONS.filter((dimension) => of[dimension] !== undefined);
  return given.length === 0
    ? undefined
    : Object.fromEntries(given.map((dimension) => [dimension, of[dimension]]));
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}

function optionalInstant(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : instant(ms);
}

export function dayName(day: number): string {
  return instant(day * DAY_MS).slice(0, -"T00:00:00.000Z".length);
}
