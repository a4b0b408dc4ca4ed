import { orNone } from "../links/change.ts";
import { TERM_FIELDS } from "../links/fields.ts";
import { type EndedBy, type Reason, REASONS, type Terms } from "../links/link.ts";
import { isOwnHash } from "../links/password.ts";
import type { Who } from "../links/store.ts";
import type { Target } from "../links/target.ts";
import { NEVER_MS } from "../links/time.ts";
import { ANSWERS, type AnswerAction } from "../moderation/reports/case.ts";
// The other direction of `export-line.ts`. What a line must not have makes it a broken line.
import type { Action } from "../moderation/store.ts";
import { type Counts, type Kind, KINDS, type RecordOf } from "../store/records.ts";
import {
  closeOneVisit,
  type Detail,
  type DayDetail,
  type Value,
  writeDetail,
  writeOneVisit,
} from "../visits/detail.ts";
import { type Dimension, DIMENSIONS } from "../visits/dimensions.ts";
import { FORMAT, VERSION } from "./export-line.ts";
import {
  anyText,
  BrokenLine,
  bytes,
  code,
  count,
  dayNumber,
  type Fields,
  instant,
  isCount,
  isText,
  list,
  object,
  oneOf,
  optional,
  parseObject,
  reportCount,
  text,
} from "./record-fields.ts";

export type ParsedLine =
  | { readonly [K in Kind]: { readonly kind: K; readonly record: RecordOf[K] } }[Kind]
  | { readonly kind: "end"; readonly records: Counts; readonly sha256: string };

/** Undefined if it is a header that this version can read; otherwise what is wrong. */
export function wrongHeader(line: string | undefined): string | undefined {
  const header = parseObject(line);
  if (header?.["format"] !== FORMAT)
    return `is no file of curt export: its first line must say {"format":"${FORMAT}"}`;
  const { version } = header;
  if (version !== VERSION)
    return `is of ${typeof version === "number" ? `version ${version}` : "an unknown version"}, and this Curt reads version ${VERSION}. Use a newer Curt.`;
  return undefined;
}

/** Throws {@link BrokenLine}. */
export function parseLine(line: string | undefined): ParsedLine {
  const fields = parseObject(line);
  if (fields === undefined) throw new BrokenLine("it is no JSON object");
  const kind = fields["kind"];
  if (kind === "end") return { kind, records: readCounts(fields), sha256: text(fields, "sha256") };
  if (!isKind(kind)) throw new BrokenLine(`kind must be ${KINDS.join(", ")} or end`);
  return { kind, record: READERS[kind](fields) } as ParsedLine;
}

const reason = oneOf(REASONS);

type Readers = { readonly [K in Kind]: (fields: Fields) => RecordOf[K] };

const READERS: Readers = {
  link(fields) {
    const originalUrl = text(fields, "url");
    const target = optional(text, fields, "target") ?? originalUrl;
    const disabled = optional(disabledReason, fields, "disabled");
    // Only the code of a deleted link is left.
    if (disabled !== "deleted") requireTarget(originalUrl, target);
    return {
      code: code(fields, "code"),
      originalUrl,
      target: target as Target,
      createdMs: instant(fields, "created"),
      endsMs: optional(instant, fields, "ends") ?? NEVER_MS,
      disabled,
      terms: readTerms(fields),
    };
  },
  day(fields) {
    const day = fields["day"] === null ? 0 : dayNumber(fields, "day");
    const [visits, bots] = [count(fields, "visits"), count(fields, "bots")];
    return {
      code: code(fields, "code"),
      createdMs: instant(fields, "created"),
      day,
      visits,
      bots,
      detail: day === 0 ? null : readDay(fields),
    };
  },
  secret: (fields) => ({
    name: text(fields, "name"),
    secret: bytes(fields, "base64"),
  }),
  host: (fields) => ({
    host: text(fields, "host"),
    reason: reason(fields, "reason"),
    sinceMs: instant(fields, "since"),
  }),
  entry: (fields) => ({
    atMs: instant(fields, "at"),
    who: oneOf<Who>(["api", "page", "reports"])(fields, "who"),
    action: oneOf(ACTIONS)(fields, "action"),
    reason: optional(reason, fields, "reason"),
    note: optional(anyText, fields, "note"),
    code: optional(code, fields, "code"),
    createdMs: optional(instant, fields, "created"),
    host: optional(text, fields, "host"),
  }),
  case: (fields) => ({
    code: code(fields, "code"),
    createdMs: instant(fields, "created"),
    firstMs: instant(fields, "first"),
    lastMs: instant(fields, "last"),
    reports: reportCount(fields, "reports"),
    reasons: readReasons(object(fields, "reasons")),
    pending: reportCount(fields, "pending"),
    disabledMs: optional(instant, fields, "disabled"),
    answer: optional(readAnswer, fields, "answer"),
    notes: list(fields, "notes").map((note) => ({
      atMs: instant(note, "at"),
      reason: reason(note, "reason"),
      note: anyText(note, "note"),
    })),
  }),
  counter: (fields) => ({
    day: dayNumber(fields, "day"),
    name: text(fields, "name"),
    count: count(fields, "count"),
  }),
  request: (fields) => ({
    key: text(fields, "key"),
    body: text(fields, "body"),
    sentMs: instant(fields, "sent"),
    made: list(fields, "made").map((made) => ({
      nth: count(made, "nth"),
      code: code(made, "code"),
      createdMs: instant(made, "created"),
      endsMs: optional(instant, made, "ends") ?? NEVER_MS,
    })),
  }),
};

/** A target is the value of a header, so it is ASCII without spaces. */
function requireTarget(originalUrl: string, target: string): void {
  if (!/^https?:\/\//i.test(originalUrl)) throw new BrokenLine("url must start with http:// or https://");
  if (!/^https?:\/\/[!-~]+$/.test(target) || !URL.canParse(target))
    throw new BrokenLine(
      "url, or target if there is one, must be an address in ASCII that starts with http:// or https://",
    );
}

const disabledReason = oneOf([...REASONS, "deleted"] as const);
const ACTIONS: readonly Action[] = [
  "disable",
  "enable",
  "erase",
  "block-host",
  "unblock-host",
  "nothing-wrong",
];

const TERM_READERS = { instant, count, text, passwordHash, ended: oneOf<EndedBy>(["withdrawn", "visits"]) };

function readTerms(fields: Fields): Terms | undefined {
  const terms = Object.entries(TERM_FIELDS).map(([key, { name, type }]) => [
    key,
    optional<unknown>(TERM_READERS[type], fields, name),
  ]);
  return orNone(Object.fromEntries(terms) as Terms);
}

function passwordHash(fields: Fields, name: string): string {
  const hash = text(fields, name);
  if (!isOwnHash(hash))
    throw new BrokenLine(`${name} must be an Argon2id hash with at most the memory and rounds of Curt's own`);
  return hash;
}

function readDay(fields: Fields): Detail {
  const hours = optional(object, fields, "hours");
  const detail: DayDetail = {
    ...(hours && { hours: readHours(hours) }),
    visitors: count(fields, "visitors"),
    values: {},
    others: {},
  };
  const values = optional(object, fields, "values") ?? {};
  const others = optional(object, fields, "others") ?? {};
  for (const dimension of DIMENSIONS) {
    if (dimension in values) detail.values[dimension] = readValues(values, dimension);
    if (dimension in others) detail.others[dimension] = count(others, dimension);
  }
  return shortForm(detail) ?? writeDetail(detail);
}

/** Most days have one visit, which has a form of its own that takes less room. */
function shortForm({ hours = {}, visitors, values, others }: DayDetail): Detail | undefined {
  const [hour, ...more] = Object.entries(hours);
  if (hour === undefined || more.length > 0 || hour[1][0] !== 1 || hour[1][1] !== 0) return undefined;
  if (visitors !== 1 || Object.keys(others).length > 0) return undefined;
  const texts = DIMENSIONS.map((dimension) => {
    const [value, ...rest] = values[dimension] ?? [];
    return value !== undefined && rest.length === 0 && value[1] === 1 ? value[0] : undefined;
  });
  if (!texts.every((one) => one !== undefined)) return undefined;
  return closeOneVisit(writeOneVisit({ hour: Number(hour[0]), visitor: 0, texts }));
}

function readHours(fields: Fields): NonNullable<DayDetail["hours"]> {
  return Object.fromEntries(
    Object.entries(fields).map(([hour, sums]) => {
      if (
        !/^(?:1?\d|2[0-3])$/.test(hour) ||
        !Array.isArray(sums) ||
        sums.length !== 2 ||
        !sums.every(isCount)
      )
        throw new BrokenLine("hours must be 0 to 23, each with two numbers");
      return [hour, sums as [number, number]];
    }),
  );
}

function readValues(fields: Fields, dimension: Dimension): Value[] {
  const values = fields[dimension];
  const isValue = (value: unknown) =>
    Array.isArray(value) &&
    isText(value[0]) &&
    !value[0].includes("\0") &&
    isCount(value[1]) &&
    value.length === 2;
  if (!Array.isArray(values) || !values.every(isValue))
    throw new BrokenLine(`values.${dimension} must be a list of [text, visits]`);
  return values as Value[];
}

function readReasons(fields: Fields): Partial<Record<Reason, number>> {
  return Object.fromEntries(
    Object.keys(fields).map((name) => [oneOf(REASONS)({ name }, "name"), count(fields, name)]),
  );
}

function readAnswer(fields: Fields, name: string) {
  const answer = object(fields, name);
  return {
    action: oneOf<AnswerAction>([...ANSWERS, "erase"])(answer, "action"),
    atMs: instant(answer, "at"),
  };
}

function readCounts(fields: Fields): Counts {
  const records = object(fields, "records");
  return Object.fromEntries(KINDS.map((kind) => [kind, count(records, kind)])) as Counts;
}

function isKind(kind: unknown): kind is Kind {
  return KINDS.some((one) => one === kind);
}
