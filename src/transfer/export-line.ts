// The lines of an export, which docs/export-format.md describes. Equal records become equal bytes.
import { type CodeCase, type LinkKey, lookUpCode, splitKey } from "../links/code.ts";
import { WHO } from "../links/link-store.ts";
import { type StoredLink, type Terms } from "../links/link.ts";
import { type EndedBy, REASONS } from "../links/problem.ts";
import { isSendable, type Target } from "../links/target.ts";
import { isOwnHash } from "../links/terms/password.ts";
import { fitText, orNone, readTermText } from "../links/terms/term-values.ts";
import {
  type Kind,
  type Kinds,
  type NameOf,
  OPEN_NAMES,
  type OpenName,
  type StoredTerms,
  TERM_NAMES,
  TERMS,
} from "../links/terms/terms.ts";
import { ANSWERS, type AnswerAction } from "../moderation/case.ts";
import { ACTIONS } from "../moderation/moderation-store.ts";
import { type Counts, KINDS, type RecordOf, type ReplacedRow } from "../store/shared/records.ts";
import { dayLine } from "./day-line.ts";
import {
  anything,
  anyText,
  base64,
  BrokenLine,
  byKey,
  code,
  type Codec,
  type Fields,
  type RecordCodec,
  count,
  day,
  end,
  entryId,
  instant,
  isObject,
  list,
  oneOf,
  optional,
  orNull,
  personName,
  record,
  int32Count,
  restrict,
  text,
  visitCount,
} from "./field-codecs.ts";

const FORMAT = "curt-export";
const VERSION = 1;
const CODE_CASES = ["match", "ignore"] as const satisfies readonly CodeCase[];

/** Names the rule of the store for capitals in codes. */
export function writeHeader(codeCase: CodeCase): string {
  return `${JSON.stringify({ format: FORMAT, version: VERSION, code_case: codeCase })}\n`;
}

/** The content of each kind of line. The last line counts the records, and has the hash of all lines before it. */
interface LineOf extends RecordOf {
  readonly end: { readonly records: Counts; readonly sha256: string };
}

export type ExportLine = {
  readonly [K in keyof LineOf]: { readonly kind: K; readonly record: LineOf[K] };
}[keyof LineOf];

const reason = oneOf(REASONS);

const link = record<Omit<StoredLink, "target" | "terms"> & { readonly target: string | undefined }>({
  code: ["code", code],
  originalUrl: ["target", text],
  target: ["location", optional(text)],
  createdMs: ["created_at", instant],
  endsMs: ["expires_at", end],
  disabled: ["disabled_reason", optional(oneOf([...REASONS, "deleted"] as const))],
});

const TERM_CODECS: { readonly [K in Kind]: (name: NameOf<K>) => Codec<Kinds[K]["stored"]> } = {
  when: () => instant,
  count: () => count,
  secret: () =>
    restrict(text, isOwnHash, "must be an Argon2id hash with at most the memory and rounds of Curt's own"),
  flag: () => restrict<unknown, true>(anything, (json) => json === true, "must be true"),
  text: (name) =>
    restrict(
      text,
      (line) => fitText(name, line) === line,
      `must be a line of 1 to ${TERMS[name].bounds.max} characters`,
    ),
};
/** The end is a field of the link. */
const chosenTerms = TERM_NAMES.filter((name) => name !== "expires_at").map((name) => {
  const { kind, stored } = TERMS[name];
  const codec: Codec<unknown> = optional<never>(TERM_CODECS[kind](name as never) as Codec<never>);
  return [stored, [kind === "secret" ? `${name}_hash` : name, codec]] as const;
});
const terms = record<Terms>({
  ...(Object.fromEntries(chosenTerms) as unknown as Fields<Omit<StoredTerms, "endsMs">>),
  createdBy: ["created_by", optional(personName)],
  owner: ["owner", optional(personName)],
  // Far below 2^53, from which adding one would change nothing.
  keys: ["key_generation", optional(int32Count)],
  capitals: ["code_written", optional(text)],
  visits: ["visits_used", optional(count)],
  ended: ["ended", optional(oneOf<EndedBy>(["withdrawn", "visits"]))],
  changedMs: ["changed_at", optional(instant)],
  formerHost: ["former_host", optional(text)],
  formerMs: ["former_ms", optional(count)],
});

/** Exports of an earlier Curt lack kinds that it didn't know. */
const ofKind: Codec<number> = { ...count, read: (json = 0, name) => count.read(json, name) };
const counts = record(
  Object.fromEntries(KINDS.map((kind) => [kind, [kind, ofKind]])) as unknown as Fields<Counts>,
);

const termText = (name: OpenName) =>
  restrict(text, (value) => readTermText(name, value) !== undefined, `must be a valid ${name}`);
const state = oneOf([...REASONS, ...ANSWERS, "erase"]);
/** The value of each kind of row in `replaced`. */
const VALUES: { readonly [K in ReplacedRow["kind"]]: Codec<string> } = {
  link: state,
  case: state,
  host: state,
  owner: personName,
  // Undoing makes it the destination again, without another check.
  target: restrict(
    text,
    (value) => isSendable(URL.parse(value)?.href ?? ""),
    "must start with http:// or https://",
  ),
  ...(Object.fromEntries(OPEN_NAMES.map((name) => [name, termText(name)])) as Record<
    OpenName,
    Codec<string>
  >),
};
const replaced = record<ReplacedRow>({
  entry: ["entry", entryId],
  kind: ["of", oneOf(Object.keys(VALUES) as ReplacedRow["kind"][])],
  subject: ["name", text],
  created_ms: ["created_at", orNull(instant, 0)],
  value: ["value", orNull(text)],
  at_ms: ["at", orNull(instant)],
  disabled_ms: ["disabled_at", orNull(instant)],
  target_ms: ["target_at", orNull(instant)],
  pending: ["pending", orNull(int32Count)],
  undone_by: ["undone_by", orNull(entryId)],
  became: ["became", orNull(text)],
});

const LINES: { readonly [K in keyof LineOf]: RecordCodec<LineOf[K]> } = {
  link: {
    write: (given) => ({
      ...link.write({
        ...given,
        target: (given.target as string) === given.originalUrl ? undefined : given.target,
      }),
      ...(given.terms && terms.write(given.terms)),
    }),
    read(json, name) {
      const given = link.read(json, name);
      const { originalUrl, target = originalUrl, disabled } = given;
      const chosen = orNone(terms.read(json, name));
      if (chosen?.capitals !== undefined && !isFoldedTo(chosen.capitals, given.code))
        throw new BrokenLine("code_written must be the code in other capitals");
      // A deleted link has only a code.
      if (disabled !== "deleted") requireTarget(originalUrl, target);
      return { ...given, target: target as Target, terms: chosen };
    },
  },
  day: dayLine,
  secret: record({ name: ["name", text], secret: ["base64", base64] }),
  host: record({ host: ["host", text], reason: ["reason", reason], sinceMs: ["since", instant] }),
  entry: record({
    entry: ["id", optional(entryId)],
    atMs: ["at", instant],
    who: ["who", oneOf(WHO)],
    by: ["by", optional(personName)],
    action: ["action", oneOf(ACTIONS)],
    reason: ["reason", optional(reason)],
    note: ["note", optional(anyText)],
    code: ["code", optional(code)],
    createdMs: ["created_at", optional(instant)],
    host: ["host", optional(text)],
    links: ["links", optional(int32Count)],
    undoes: ["undoes", optional(entryId)],
  }),
  replaced: {
    write: replaced.write,
    read(json, name) {
      const row = replaced.read(json, name);
      const codec = orNull(VALUES[row.kind]);
      for (const field of ["value", "became"] as const) codec.read(row[field] ?? undefined, field);
      return row;
    },
  },
  case: record({
    code: ["code", code],
    createdMs: ["created_at", instant],
    firstMs: ["first", instant],
    lastMs: ["last", instant],
    reports: ["reports", int32Count],
    reasons: ["reasons", byKey(REASONS, count, { rejectOthers: true })],
    pending: ["pending", int32Count],
    pendingReasons: ["pending_reasons", optional(byKey(REASONS, count, { rejectOthers: true }))],
    disabledMs: ["disabled_at", optional(instant)],
    answer: [
      "answer",
      optional(
        record({
          action: ["action", oneOf<AnswerAction>([...ANSWERS, "erase"])],
          atMs: ["at", instant],
        }),
      ),
    ],
    targetMs: ["target_at", optional(instant)],
    notes: [
      "notes",
      list(record({ atMs: ["at", instant], reason: ["reason", reason], note: ["note", anyText] })),
    ],
  }),
  counter: record({ day: ["day", day], name: ["name", text], count: ["count", visitCount] }),
  request: record({
    key: ["key", text],
    body: ["body", text],
    sentMs: ["sent", instant],
    made: [
      "made",
      list(
        record({
          nth: ["nth", count],
          code: ["code", code],
          createdMs: ["created_at", instant],
          endsMs: ["expires_at", end],
        }),
      ),
    ],
  }),
  end: record({
    records: ["records", counts],
    sha256: ["sha256", text],
  }),
};

export function writeLine<K extends keyof LineOf>(kind: K, content: LineOf[K]): string {
  return `${JSON.stringify({ kind, ...LINES[kind].write(content) })}\n`;
}

/** Throws {@link BrokenLine}. */
export function parseLine(line: string | undefined): ExportLine {
  const fields = parseObject(line);
  if (fields === undefined) throw new BrokenLine("it is no JSON object");
  const kind = fields["kind"];
  if (typeof kind !== "string" || !Object.hasOwn(LINES, kind))
    throw new BrokenLine(`kind must be ${KINDS.join(", ")} or end`);
  return { kind, record: LINES[kind as keyof LineOf].read(fields, kind) } as ExportLine;
}

/** Returns undefined if this version can read the header; otherwise what is wrong. */
export function checkHeader(line: string | undefined): string | undefined {
  const header = parseObject(line);
  if (header?.["format"] !== FORMAT)
    return `is no file of curt export: its first line must say {"format":"${FORMAT}"}`;
  const { version } = header;
  if (version !== VERSION)
    return `is of ${typeof version === "number" ? `version ${version}` : "an unknown version"}, and this Curt reads version ${VERSION}. Use a newer Curt.`;
  if (readCodeCase(line) === undefined)
    return "has an unknown code_case in its first line. Use a newer Curt.";
  return undefined;
}

/** The rule in a header. Undefined if it is unknown. Exports of an earlier Curt name none. */
export function readCodeCase(header: string | undefined): CodeCase | undefined {
  const { code_case: named = "match" } = parseObject(header) ?? {};
  return CODE_CASES.find((one) => one === named);
}

function parseObject(line: string | undefined): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line ?? "");
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A target is sent as a header, so it must be ASCII without spaces. */
function requireTarget(originalUrl: string, target: string): void {
  if (!/^https?:\/\//i.test(originalUrl)) throw new BrokenLine("target must start with http:// or https://");
  if (!/^https?:\/\/[!-~]+$/.test(target) || !URL.canParse(target))
    throw new BrokenLine(
      "target, or location if there is one, must be an address in ASCII that starts with http:// or https://",
    );
}

function isFoldedTo(written: string, key: LinkKey): boolean {
  return lookUpCode(written, "ignore") === splitKey(key).code;
}
