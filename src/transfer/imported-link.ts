import { capitalsOf, type Code, type CodeCase, keyOf, lookUpCode, parseCode } from "../links/code.ts";
import type { StoredLink } from "../links/link.ts";
import { isProblem, type Refusal } from "../links/problem.ts";
import { parseTarget, type Target, type TargetPolicy } from "../links/target.ts";
import { orNone } from "../links/terms/term-values.ts";
import { DAY_MS, NEVER_MS } from "../links/time.ts";
import type { ImportedLink } from "../store/shared/records.ts";
import { writeDetail } from "../visits/days/detail.ts";
import { MAX_VISITS } from "./field-codecs.ts";
import type { StagedLink } from "./staging-file.ts";

export interface ImportRules {
  readonly targetPolicy: TargetPolicy;
  readonly codeCase: CodeCase;
  /** Of DOMAINS. */
  readonly keyPrefixes: readonly string[];
  /** Accepts codes that nobody could choose here if an address can contain them. */
  readonly keepOdd: boolean;
  /** The creation time of links that have neither their own nor a day with visits. */
  readonly nowMs: number;
  /** Earlier days become one sum, as the store would do soon. This bounds the rows of a link. */
  readonly firstDay: number;
  /** Later days are in the future. */
  readonly lastDay: number;
}

/** The rule that a link breaks. */
export type BrokenRule = Refusal | { readonly rule: "code.empty" | "code.unreachable" | "dates" };

/**
 * A slash starts another part of the path. A plus and a dot belong to pages about links, such as /code+ and /code.svg. Stores
 * may not support control characters.
 */
const UNREACHABLE = /[/+.\p{Cc}]/u;

/** A day with sums only. */
const NO_DETAIL = writeDetail({ visitors: 0, values: {}, others: {} });

/** Validates a link and converts it for the store. */
export function parseLink(
  link: StagedLink,
  { targetPolicy, codeCase, keyPrefixes, keepOdd, nowMs, firstDay: firstKept }: ImportRules,
): ImportedLink | BrokenRule {
  const { originalUrl, disabled, terms } = link;
  const keyPrefix = keyPrefixes.find((one) => link.code.startsWith(one)) ?? "";
  const { capitals: written = link.code.slice(keyPrefix.length), ...otherTerms } = terms ?? {};
  const parsed = readCode(written, codeCase, keepOdd);
  if (typeof parsed !== "string") return parsed;
  const code = keyOf(keyPrefix, parsed);
  const target = readTarget(link, targetPolicy);
  if (typeof target !== "string") return target;
  // Statistics start with the day of creation.
  const firstDay = link.days.find(({ day }) => day > 0)?.day;
  const { createdMs = firstDay === undefined ? nowMs : firstDay * DAY_MS } = link;
  const endsMs = Math.min(link.endsMs ?? NEVER_MS, NEVER_MS);
  if (![createdMs, endsMs].every(isDate)) return { rule: "dates" };
  return {
    code,
    originalUrl,
    target,
    createdMs,
    endsMs,
    disabled,
    terms: orNone({ ...otherTerms, capitals: capitalsOf(written, parsed) }),
    days: completeDays(link, firstKept),
  };
}

/** Accepts a code that breaks our grammar on request, if its own address would find it. */
function readCode(text: string, codeCase: CodeCase, keepOdd: boolean): Code | BrokenRule {
  const code = parseCode(text, codeCase);
  if (code === "") return { rule: "code.empty" };
  if (!isProblem(code)) return code;
  const refusal = code.refusals[0] ?? { rule: "code.ill-formed" };
  if (!keepOdd || refusal.rule === "code.reserved") return refusal;
  if (UNREACHABLE.test(text)) return { rule: "code.unreachable" };
  return lookUpCode(text, codeCase) ?? refusal;
}

function readTarget({ originalUrl, target, disabled }: StagedLink, policy: TargetPolicy): Target | Refusal {
  // A deleted link has only a code.
  if (disabled === "deleted") return originalUrl as Target;
  const parsed = parseTarget(target ?? originalUrl, policy);
  if (isProblem(parsed)) return parsed.refusals[0] ?? { rule: "target.unparsable" };
  return target === undefined ? parsed : (target as Target);
}

/** Adds missing details. Day 0 gets the visits before `firstKept` and those without a date. */
function completeDays({ days, visits = 0 }: StagedLink, firstKept: number): ImportedLink["days"] {
  const sum = { day: 0, visits: Math.max(0, visits - total(days, "visits")), bots: 0, detail: null };
  const old = days.filter(({ day }) => day < firstKept);
  sum.visits = Math.min(sum.visits + total(old, "visits"), MAX_VISITS);
  sum.bots += total(old, "bots");
  const kept = days
    .slice(old.length)
    .map((day) => (day.detail === null ? { ...day, detail: NO_DETAIL } : day));
  return sum.visits + sum.bots === 0 ? kept : [sum, ...kept];
}

function total(days: ImportedLink["days"], name: "visits" | "bots"): number {
  return days.reduce((sum, day) => Math.min(sum + day[name], MAX_VISITS), 0);
}

/** Stores and responses can hold dates up to {@link NEVER_MS}. */
function isDate(ms: number): boolean {
  return Number.isSafeInteger(ms) && ms >= 0 && ms <= NEVER_MS;
}

/** Whether the store has the link already. Its maker or the operator may have changed it since. */
export function isSameLink(
  stored: StoredLink,
  imported: StoredLink,
  { createdMs }: Pick<StagedLink, "createdMs">,
): boolean {
  return (
    (createdMs === undefined || stored.createdMs === imported.createdMs) &&
    stored.originalUrl === imported.originalUrl
  );
}
