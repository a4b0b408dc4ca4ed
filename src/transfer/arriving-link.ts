// What becomes of a link that arrives from elsewhere.
import { type Code, lookUpCode, parseCode } from "../links/code.ts";
import { type Link } from "../links/link.ts";
import { isProblem, type Refusal } from "../links/problem.ts";
import { parseTarget, type Target, type TargetPolicy } from "../links/target.ts";
import { DAY_MS, NEVER_MS } from "../links/time.ts";
import type { ArrivingLink } from "../store/intake.ts";
import { writeDetail } from "../visits/detail.ts";
import type { StagedDay, StagedLink } from "./stage.ts";

export interface ArrivalRules {
  readonly targetPolicy: TargetPolicy;
  /** Takes codes that nobody could choose here, if an address can have them. */
  readonly keepOdd: boolean;
  /** When a link was created if its source knows neither that nor a day of its visits. */
  readonly nowMs: number;
}

/** Why a link is not taken in: a rule about its code or its URL. */
export type Refused =
  | Refusal
  | { readonly rule: "code.empty" | "code.unreachable" }
  | { readonly rule: "dates" };

/**
 * A slash begins another part of the path. A plus and a dot belong to pages about links, such as /code+ and /code.svg. A
 * store need not keep control characters.
 */
const UNREACHABLE = /[/+.\p{Cc}]/u;
/** Dates that stores and answers can hold: up to the year 9999. A link that ends later never ends. */
const MAX_MS = NEVER_MS;

/** Sums without anything else: who came is unknown. */
const NOTHING_TOLD = writeDetail({ visitors: 0, values: {}, others: {} });

export function arrive(
  staged: StagedLink,
  { targetPolicy, keepOdd, nowMs }: ArrivalRules,
): ArrivingLink | Refused {
  const code = readCode(staged.code, keepOdd);
  if (typeof code !== "string") return code;
  const target = readTarget(staged, targetPolicy);
  if (typeof target !== "string") return target;
  // Statistics begin with the day of its creation.
  const firstDay = staged.days.find(({ day }) => day > 0)?.day;
  const { createdMs = firstDay === undefined ? nowMs : firstDay * DAY_MS, disabled, terms } = staged;
  const endsMs = Math.min(staged.endsMs ?? NEVER_MS, NEVER_MS);
  if (![createdMs, endsMs].every(isDate)) return { rule: "dates" };
  return {
    code,
    originalUrl: staged.url,
    target,
    createdMs,
    endsMs,
    disabled,
    terms,
    days: daysOf(staged),
  };
}

/** A code that our grammar refuses is taken on request, if its own address leads to it. */
function readCode(written: string, keepOdd: boolean): Code | Refused {
  const code = parseCode(written);
  if (code === "") return { rule: "code.empty" };
  if (!isProblem(code)) return code;
  const refusal = code.refusals[0] ?? { rule: "code.ill-formed" };
  if (!keepOdd || refusal.rule === "code.reserved") return refusal;
  if (UNREACHABLE.test(written)) return { rule: "code.unreachable" };
  return lookUpCode(written) ?? refusal;
}

/** Only the code of a deleted link is left. */
function readTarget({ url, target, disabled }: StagedLink, policy: TargetPolicy): Target | Refused {
  if (disabled === "deleted") return url as Target;
  const parsed = parseTarget(target ?? url, policy);
  if (isProblem(parsed)) return parsed.refusals[0] ?? { rule: "target.unparsable" };
  return target === undefined ? parsed : (target as Target);
}

function daysOf({ days, visits = 0 }: StagedLink): readonly StagedDay[] {
  const dated = days.map((day) =>
    day.day > 0 && day.detail === null ? { ...day, detail: NOTHING_TOLD } : day,
  );
  const rest = visits - days.reduce((sum, day) => sum + day.visits, 0);
  if (rest <= 0) return dated;
  const [first] = dated;
  if (first?.day === 0) return [{ ...first, visits: first.visits + rest }, ...dated.slice(1)];
  return [{ day: 0, visits: rest, bots: 0, detail: null }, ...dated];
}

function isDate(ms: number): boolean {
  return Number.isSafeInteger(ms) && ms >= 0 && ms <= MAX_MS;
}

/** Whether a link that is there is the one that arrives. Its maker or the operator may have changed it since. */
export function isSameLink(known: Link, arriving: Link, staged: Pick<StagedLink, "createdMs">): boolean {
  return (
    (staged.createdMs === undefined || known.createdMs === arriving.createdMs) &&
    known.originalUrl === arriving.originalUrl
  );
}
