import { capitalsOf, type Code, type CodeCase, parseCode } from "./code.ts";
import type { Blocked } from "./link-check.ts";
import type { Link, Terms } from "./link.ts";
import { type Invalid, invalid, isProblem } from "./problem.ts";
import { parseTarget, type Target, targetHost, type TargetPolicy } from "./target.ts";
import { endOf, refuseEnd, refuseTerms, termsOf } from "./term-values.ts";
import type { WantedTerms } from "./terms.ts";
import type { Expiry } from "./time.ts";

export interface CreateRequest {
  readonly originalUrl: string;
  readonly customCode?: string | undefined;
  /** The host of another domain of this instance. */
  readonly domain?: string | undefined;
  readonly terms?: WantedTerms | undefined;
  /** The name of who creates it. No body contains it. */
  readonly createdBy?: string | undefined;
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
  /** The prefix of another domain's codes in the store. Undefined if there is no such domain. */
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

export function withCreator(terms: Terms | undefined, createdBy: string | undefined): Terms | undefined {
  return createdBy === undefined ? terms : { ...terms, createdBy };
}

/** Turns requests into links to insert. */
export function createDrafts(options: DraftOptions) {
  const { clock, defaultExpiry, codeHoldMs } = options;
  const parseDestination = createDestinationParser(options);

  /** Reusing a code deletes its old link, so no code is reused while the clock may be wrong. */
  function freeIfEndedByMs(nowMs: number): number {
    return clock.trustworthy() ? nowMs - codeHoldMs : 0;
  }

  return {
    parseDestination,
    freeIfEndedByMs,

    parse(request: CreateRequest, createdMs: number): Draft | Invalid {
      const { originalUrl, customCode, domain, terms: wanted = NO_TERMS, createdBy } = request;
      const target = parseDestination(originalUrl);
      const code = customCode === undefined ? undefined : parseCode(customCode);
      const keyPrefix = domain === undefined ? undefined : options.keyPrefixOf?.(domain);
      const isUnknownDomain = domain !== undefined && keyPrefix === undefined;
      const endsMs = endOf(wanted, defaultExpiry, createdMs);
      const terms = withCreator(termsOf(wanted, createdMs), createdBy);
      const wrongEnd = refuseEnd(endsMs, Math.max(createdMs, terms?.startsMs ?? 0), createdMs);
      const wrongTerms = refuseTerms(wanted);
      if (
        !isProblem(target) &&
        !isProblem(code) &&
        !isUnknownDomain &&
        wrongEnd.length + wrongTerms.length === 0
      )
        return { keyPrefix, code, originalUrl, target, createdMs, endsMs, terms };
      const refusals = [
        ...(isProblem(target) ? target.refusals : []),
        ...(isProblem(code) ? code.refusals : []),
        ...(isUnknownDomain ? [{ rule: "domain.unknown" } as const] : []),
        ...wrongEnd,
        ...wrongTerms,
      ];
      return { kind: "invalid", refusals };
    },

    /** Copying objects with `...` would take several times as long. */
    toNewLink(draft: Draft, code: Code): NewLink<Code> {
      const { keyPrefix, originalUrl, target, createdMs, endsMs, terms } = draft;
      const free = freeIfEndedByMs(clock.nowMs());
      return { keyPrefix, code, originalUrl, target, createdMs, endsMs, terms, freeIfEndedByMs: free };
    },
  };
}

/** Adds the hash of its password. Call it for the few requests that have one, because the others need not wait. */
export async function addPassword(draft: Draft, { terms, sharers }: CreateRequest): Promise<void> {
  const passwordHash = await hashPassword(terms?.password ?? "", sharers);
  draft.terms = { ...draft.terms, passwordHash };
}
