import type { Code, LinkKey } from "./code.ts";
import type { DisabledReason, EndedBy, Reason } from "./reasons.ts";
import type { Target } from "./target.ts";
import type { StoredTerms } from "./terms.ts";

/**
 * A short link, identified by `code` and `createdMs`, because a code can be reused. Instants are Unix ms. `Id`: only with
 * a code is it a link of one domain.
 */
export interface Link<Id extends Code | LinkKey = Code> {
  readonly code: Id;
  /** Exactly as it was sent. */
  readonly originalUrl: string;
  /** The redirect's `Location`. It is stored and never recomputed, so that a newer URL parser can't change it. */
  readonly target: Target;
  readonly createdMs: number;
  /** The link has ended when now >= endsMs. `NEVER_MS` if it never ends. */
  readonly endsMs: number;
  /** Why the operator disabled the link. A deleted link only keeps its code taken. */
  readonly disabled?: Reason | "deleted" | undefined;
  /** Undefined for most links. */
  readonly terms?: Terms | undefined;
}

/** A link of any domain, as stores and the operator have it. */
export type StoredLink = Link<LinkKey>;

/** What few links have: the terms that their makers chose, and what became of them. Stores keep them as JSON. */
export interface Terms extends Omit<StoredTerms, "endsMs"> {
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

/**
 * Whether no cache may answer a visit, because it needs a password, counts against a limit, or brings a query for the
 * destination.
 */
export function isGuarded(link: Pick<Link, "terms">): boolean {
  return link.terms !== undefined && (isLimited(link) || hasPassword(link) || forwardsQuery(link));
}

/** Whether the link ends after a number of visits. */
export function isLimited({ terms }: Pick<Link, "terms">): boolean {
  return terms?.maxVisits !== undefined;
}

/** Whether the target is secret to everybody without the password or the manage key. */
export function hasPassword({ terms }: Pick<Link, "terms">): boolean {
  return terms?.passwordHash !== undefined;
}

/** Whether the query of each visit is appended to the target. */
export function forwardsQuery({ terms }: Pick<Link, "terms">): boolean {
  return terms?.forwardQuery !== undefined;
}

/** In characters, of a target with a visitor's query. */
export const MAX_DESTINATION_LENGTH = 16_384;
/** Parameters that our own pages add to a short address. */
const OWN_PARAMETERS = ["language"];

/**
 * Where a visit goes. `query` is the visitor's, with its question mark, or "". It stays as sent, but without our own parameters
 * and those that the target has. It is left out if the result would be too long.
 */
export function destinationOf(link: Pick<Link, "target" | "terms">, query: string): string {
  const { target } = link;
  if (!forwardsQuery(link) || query === "") return target;
  const [, address = "", own = "", fragment = ""] = /^([^?#]*)\??([^#]*)(.*)$/s.exec(target) ?? [];
  const taken = new Set(OWN_PARAMETERS);
  const ownPairs = own.split("&");
  for (const [nth, name] of namesOf(own).entries()) if (ownPairs[nth] !== "") taken.add(name);
  const sent = encode(query);
  const names = namesOf(sent);
  const isForwarded = (pair: string, nth: number) => pair === "" || !taken.has(names[nth] ?? "");
  const forwarded = sent.split("&").filter(isForwarded).join("&");
  if (!/[^&]/.test(forwarded)) return target;
  const destination = `${address}?${own === "" ? "" : `${own}&`}${forwarded}${fragment}`;
  return destination.length > MAX_DESTINATION_LENGTH ? target : destination;
}

/** A character that no name has, because names consist of bytes. */
const AMPERSAND = "\u{100}";

/**
 * The decoded name of each parameter (WHATWG URL, section 5.1), each byte as a character. All at once, because there may be
 * thousands.
 */
function namesOf(query: string): string[] {
  return query
    .replaceAll(/=[^&]*/g, "")
    .replaceAll("+", " ")
    .replaceAll(/%([\dA-F]{2})/gi, (_, hex: string) =>
      hex === "26" ? AMPERSAND : String.fromCharCode(Number.parseInt(hex, 16)),
    )
    .split("&");
}

/** Without its question mark, encoded like the query of a URL. Bun does that already, except in a request without `Host`. */
function encode(query: string): string {
  return URL.parse(query, "http://host")?.search.slice(1) ?? "";
}

/** Also true for a link that was ended by a machine whose clock is ahead. */
export function hasEnded({ endsMs, terms }: Pick<Link, "endsMs" | "terms">, nowMs: number): boolean {
  return nowMs >= endsMs || terms?.ended !== undefined;
}

/** Whether the start has passed. Until then, the link does not exist for visitors. */
export function hasStarted({ terms }: Pick<Link, "terms">, nowMs: number): boolean {
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

interface LinkFacts extends Pick<Link, "endsMs" | "terms"> {
  readonly disabled?: DisabledReason | undefined;
}

/** The result of a lookup: `disabled` is the link's own state, or else the rule that applies to its target. */
export interface FoundLink<Id extends Code | LinkKey = Code> extends Omit<Link<Id>, "disabled"> {
  readonly disabled: Exclude<DisabledReason, "deleted"> | undefined;
}
