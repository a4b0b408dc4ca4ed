// One record as a line of an export. docs/export-format.md describes it. Names and their order are fixed, so that equal
// records are equal bytes.
import { TERM_FIELDS } from "../links/fields.ts";
import { REASONS, type Terms } from "../links/link.ts";
import { isoDay, isoInstant } from "../links/time.ts";
import { NEVER_MS } from "../links/time.ts";
import type { Counts, Kind, LinkDay, RecordOf } from "../store/records.ts";
import { type DayDetail, readDetail } from "../visits/detail.ts";
import { DIMENSIONS } from "../visits/dimensions.ts";

export const FORMAT = "curt-export";
export const VERSION = 1;
export const HEADER = `${JSON.stringify({ format: FORMAT, version: VERSION })}\n`;

export function footer(records: Counts, sha256: string): string {
  return `${JSON.stringify({ kind: "end", records, sha256 })}\n`;
}

export function writeLine<K extends Kind>(kind: K, record: RecordOf[K]): string {
  return `${JSON.stringify(WRITERS[kind](record))}\n`;
}

type Writers = { readonly [K in Kind]: (record: RecordOf[K]) => object };

const WRITERS: Writers = {
  link: ({ code, originalUrl, target, createdMs, endsMs, disabled, terms }) => ({
    kind: "link",
    code,
    url: originalUrl,
    target: (target as string) === originalUrl ? undefined : target,
    created: isoInstant(createdMs),
    ends: optionalEnd(endsMs),
    disabled,
    ...(terms && writeTerms(terms)),
  }),
  day: ({ code, createdMs, day, visits, bots, detail }) => ({
    kind: "day",
    code,
    created: isoInstant(createdMs),
    day: day === 0 ? null : isoDay(day),
    visits,
    bots,
    ...(detail && writeDay(detail)),
  }),
  secret: ({ name, secret }) => ({ kind: "secret", name, base64: Buffer.from(secret).toString("base64") }),
  host: ({ host, reason, sinceMs }) => ({ kind: "host", host, reason, since: isoInstant(sinceMs) }),
  entry: ({ atMs, who, action, reason, note, code, createdMs, host }) => ({
    kind: "entry",
    at: isoInstant(atMs),
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
    created: isoInstant(one.createdMs),
    first: isoInstant(one.firstMs),
    last: isoInstant(one.lastMs),
    reports: one.reports,
    reasons: Object.fromEntries(
      REASONS.filter((reason) => reasons[reason] !== undefined).map((reason) => [reason, reasons[reason]]),
    ),
    pending: one.pending,
    disabled: optionalInstant(one.disabledMs),
    answer: answer && { action: answer.action, at: isoInstant(answer.atMs) },
    notes: notes.map(({ atMs, reason, note }) => ({ at: isoInstant(atMs), reason, note })),
  }),
  counter: ({ day, name, count }) => ({ kind: "counter", day: isoDay(day), name, count }),
  request: ({ key, body, sentMs, made }) => ({
    kind: "request",
    key,
    body,
    sent: isoInstant(sentMs),
    made: made.map(({ nth, code, createdMs, endsMs }) => ({
      nth,
      code,
      created: isoInstant(createdMs),
      ends: optionalEnd(endsMs),
    })),
  }),
};

function writeTerms(terms: Terms): object {
  return Object.fromEntries(
    Object.entries(TERM_FIELDS).map(([key, { name, type }]) => {
      const value = terms[key as keyof Terms];
      return [name, type === "instant" ? optionalInstant(value as number | undefined) : value];
    }),
  );
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

function optionalInstant(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : isoInstant(ms);
}

function optionalEnd(ms: number): string | undefined {
  return ms === NEVER_MS ? undefined : isoInstant(ms);
}
