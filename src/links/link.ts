import { type Code, type LinkKey, splitKey } from "./code.ts";
import type { DisabledReason, EndedBy, Reason } from "./problem.ts";
import type { Target } from "./target.ts";
import {
  type Building,
  isSeenBy,
  type PrivateName,
  type StoredTerms,
  TERM_NAMES,
  TERMS,
} from "./terms/terms.ts";

export interface WithTerms {
  /** Undefined for most links. */
  readonly terms?: Terms | undefined;
}

/** The facts that decide whether a link works. */
export interface WithEnd extends WithTerms {
  /** The link has ended when now >= endsMs. `NEVER_MS` if it never ends. */
  readonly endsMs: number;
}

/**
 * A short link, identified by `code` and `createdMs`, because a code can be reused. Instants are Unix ms. `Id`: only with
 * a code is it a link of one domain.
 */
export interface Link<Id extends Code | LinkKey = Code> extends WithEnd {
  readonly code: Id;
  /** Exactly as it was sent. */
  readonly originalUrl: string;
  /** The redirect's `Location`. It is stored and never recomputed, so that a newer URL parser can't change it. */
  readonly target: Target;
  readonly createdMs: number;
  /** Why the operator disabled the link. A deleted link only keeps its code taken. */
  readonly disabled?: Reason | "deleted" | undefined;
}

/** A link of any domain, as stores and the operator have it. */
export type StoredLink = Link<LinkKey>;

/** The terms that the maker chose, and what became of the link. Few links have any. Stores keep them as JSON. */
export interface Terms extends Omit<StoredTerms, "endsMs"> {
  /** Who created it: the name of a token or of a signed-in person. Colleagues see it. */
  readonly createdBy?: string | undefined;
  /** The person whose link it is: one whom the proxy names, never a token. Colleagues see it. */
  readonly owner?: string | undefined;
  /** The generation of its manage keys. Each new owner starts another one, so that earlier keys no longer open the link. */
  readonly keys?: number | undefined;
  /** The code as its maker wrote it, if the store folded its capitals. */
  readonly capitals?: string | undefined;
  /** How many of its limited visits are used. */
  readonly visits?: number | undefined;
  /** How the link ended, if not by its expiry. */
  readonly ended?: EndedBy | undefined;
  /** When the target was last changed. */
  readonly changedMs?: number | undefined;
  /** The host of an earlier target. */
  readonly formerHost?: string | undefined;
  /** How long the link redirected there. */
  readonly formerMs?: number | undefined;
}

/** About people. */
const PERSONAL = ["createdBy", "owner", "keys"] as const satisfies readonly (keyof Terms)[];
/** The private properties: those of private terms, and those about people. */
type Private = {
  readonly [N in PrivateName as (typeof TERMS)[N]["stored"]]?: undefined;
} & { readonly [P in (typeof PERSONAL)[number]]?: undefined };
const PRIVATE = [
  ...TERM_NAMES.filter((name) => !isSeenBy(name, "everybody")).map((name) => TERMS[name].stored),
  ...PERSONAL,
] as readonly (keyof Private)[];

/** The public part of {@link Terms}. `Terms` themselves don't compile in its place. */
export type PublicTerms = Omit<Terms, keyof Private> & Private;
/** A link as everybody may see it. */
export type Public<L extends WithTerms = Link> = Omit<L, "terms"> & {
  readonly terms?: PublicTerms | undefined;
};

/** Removes what not everybody sees, so no page, tag or cache for visitors can depend on it. */
export function publicLink<L extends WithTerms>(link: L): Public<L> {
  const { terms } = link;
  if (terms === undefined || PRIVATE.every((property) => terms[property] === undefined))
    return link as Public<L>;
  const left: Building<Terms> = { ...terms };
  for (const property of PRIVATE) delete left[property];
  return { ...link, terms: Object.keys(left).length === 0 ? undefined : left } as Public<L>;
}

/** The code or key that people see. Addresses may spell it in any capitals that the store ignores. */
export function shownCode({ code, terms }: Pick<Link<Code | LinkKey>, "code" | "terms">): string {
  return terms?.capitals === undefined ? code : splitKey(code as LinkKey).keyPrefix + terms.capitals;
}

/** Whether no cache may answer a visit: it needs a password, counts against a limit, or brings a query or a path. */
export function isGuarded(link: WithTerms): boolean {
  return (
    link.terms !== undefined &&
    (isLimited(link) || hasPassword(link) || forwardsQuery(link) || forwardsPath(link))
  );
}

/** Whether the link ends after a number of visits. */
export function isLimited({ terms }: WithTerms): boolean {
  return terms?.maxVisits !== undefined;
}

/** Whether the target is secret to everybody without the password or the manage key. */
export function hasPassword({ terms }: WithTerms): boolean {
  return terms?.passwordHash !== undefined;
}

/** Whether the query of each visit is appended to the target. */
export function forwardsQuery({ terms }: WithTerms): boolean {
  return terms?.forwardQuery !== undefined;
}

/** Whether the path after the code of each visit goes to the target. */
export function forwardsPath({ terms }: WithTerms): boolean {
  return terms?.forwardPath !== undefined;
}

/** Also true for a link that was ended by a machine whose clock is ahead. */
export function hasEnded({ endsMs, terms }: WithEnd, nowMs: number): boolean {
  return nowMs >= endsMs || terms?.ended !== undefined;
}

/** Whether the start has passed. Until then, the link does not exist for visitors. */
export function hasStarted({ terms }: WithTerms, nowMs: number): boolean {
  return nowMs >= (terms?.startsMs ?? 0);
}

/** When the link got its present target (Unix ms). */
export function targetSinceMs({ createdMs, terms }: Pick<Link, "createdMs" | "terms">): number {
  return terms?.changedMs ?? createdMs;
}

/** When the link starts redirecting to its present target (Unix ms). */
export function redirectsSinceMs(link: Pick<Link, "createdMs" | "terms">): number {
  return Math.max(targetSinceMs(link), link.terms?.startsMs ?? 0);
}

export const STATES = ["active", "scheduled", "expired", "used_up", "withdrawn", "disabled"] as const;
export type State = (typeof STATES)[number];

/** The state of a link. `disabled` wins over the others. */
export function stateOf(link: LinkFacts, nowMs: number): State {
  const { disabled, terms } = link;
  if (disabled !== undefined) return "disabled";
  if (!hasEnded(link, nowMs)) return hasStarted(link, nowMs) ? "active" : "scheduled";
  if (terms?.ended === undefined) return "expired";
  return terms.ended === "visits" ? "used_up" : "withdrawn";
}

interface LinkFacts extends WithEnd {
  readonly disabled?: DisabledReason | undefined;
}

/** The result of a lookup: `disabled` is the link's own state, or else the rule that applies to its target. */
export interface FoundLink<Id extends Code | LinkKey = Code> extends Omit<Link<Id>, "disabled"> {
  readonly disabled: Exclude<DisabledReason, "deleted"> | undefined;
}
