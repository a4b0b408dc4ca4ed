import { capitalsOf, type Code, type CodeCase, parseCode } from "./code.ts";
import type { Blocked } from "./link-check.ts";
import type { Link, Terms } from "./link.ts";
import { type Invalid, invalid, isProblem } from "./problem.ts";
import { parseTarget, type Target, targetHost, type TargetPolicy } from "./target.ts";
import { hashPassword } from "./terms/password.ts";
import { endOf, orNone, refuseEnd, refusePath, refuseTerms, termsOf } from "./terms/term-values.ts";
import type { WantedTerms } from "./terms/terms.ts";
import type { Expiry } from "./time.ts";

export interface CreateRequest {
  readonly originalUrl: string;
  readonly customCode?: string | undefined;
  /** The host of another domain of this instance. */
  readonly domain?: string | undefined;
  readonly terms?: WantedTerms | undefined;
  /** The name of who creates it. No body contains it. */
  readonly createdBy?: string | undefined;
  /** The person whose link it becomes. */
  readonly owner?: string | undefined;
  /** Who shares the places of the queue in which passwords are hashed. */
  readonly sharers?: readonly string[] | undefined;
}

/** A valid request's link, without a code if that is to be generated. */
export interface Draft extends Omit<Link, "code" | "terms"> {
  /** The prefix of its domain's keys. */
  readonly keyPrefix: string;
  readonly code: Code | undefined;
  terms: Link["terms"];
}

export interface DraftOptions {
  readonly targetPolicy: TargetPolicy;
  readonly blocked: Blocked;
  readonly codeCase: CodeCase;
  /** See `Config`. */
  readonly pathsNeedName: boolean;
  /** See `Domain`. */
  readonly keyPrefix: string;
  /** The prefix of another domain's keys. Undefined if there is no such domain. */
  readonly keyPrefixOf?: ((domain: string) => string | undefined) | undefined;
  readonly defaultExpiry: Expiry;
}

export const NO_TERMS: WantedTerms = {};

/** Parses a destination, with all rules that apply to new ones. */
export type ParseDestination = (originalUrl: string) => Target | Invalid;

export function createDestinationParser({
  targetPolicy,
  blocked,
}: Pick<DraftOptions, "targetPolicy" | "blocked">): ParseDestination {
  return (originalUrl) => {
    const target = parseTarget(originalUrl, targetPolicy);
    return isProblem(target) || blocked(target) === undefined
      ? target
      : invalid({ rule: "target.blocked", host: targetHost(target) });
  };
}

/** Adds who created a link, whose it is, and how its code was written. */
export function withOrigin(
  terms: Terms | undefined,
  { createdBy, owner }: Pick<CreateRequest, "createdBy" | "owner">,
  capitals: string | undefined,
): Terms | undefined {
  if (createdBy === undefined && owner === undefined && capitals === undefined) return terms;
  return orNone({ ...terms, createdBy, owner, capitals });
}

/** Applies all rules to a request, and reports all mistakes together. */
export function createDraftParser(options: DraftOptions, parseDestination: ParseDestination) {
  return (request: CreateRequest, createdMs: number): Draft | Invalid => {
    const { originalUrl, customCode, domain, terms: wanted = NO_TERMS, createdBy } = request;
    const target = parseDestination(originalUrl);
    const code = customCode === undefined ? undefined : parseCode(customCode, options.codeCase);
    const keyPrefix = domain === undefined ? options.keyPrefix : options.keyPrefixOf?.(domain);
    const endsMs = endOf(wanted, options.defaultExpiry, createdMs);
    const capitals = code === undefined || isProblem(code) ? undefined : capitalsOf(customCode ?? "", code);
    const terms = withOrigin(termsOf(wanted, createdMs), request, capitals);
    const wrongEnd = refuseEnd(endsMs, Math.max(createdMs, terms?.startsMs ?? 0), createdMs);
    const wrongTerms = [
      ...refuseTerms(wanted),
      ...refusePath(wanted, options.pathsNeedName && createdBy === undefined),
    ];
    if (
      !isProblem(target) &&
      !isProblem(code) &&
      keyPrefix !== undefined &&
      wrongEnd.length + wrongTerms.length === 0
    )
      return { keyPrefix, code, originalUrl, target, createdMs, endsMs, terms };
    const refusals = [
      ...(isProblem(target) ? target.refusals : []),
      ...(isProblem(code) ? code.refusals : []),
      ...(keyPrefix === undefined ? [{ rule: "domain.unknown" } as const] : []),
      ...wrongEnd,
      ...wrongTerms,
    ];
    return { kind: "invalid", refusals };
  };
}

/** Adds the hash of its password. Call it for the few requests that have one, because the others need not wait. */
export async function addPassword(draft: Draft, { terms, sharers }: CreateRequest): Promise<void> {
  const passwordHash = await hashPassword(terms?.password ?? "", sharers);
  draft.terms = { ...draft.terms, passwordHash };
}
