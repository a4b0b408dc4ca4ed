import {
  hasEnded,
  hasPassword,
  hasStarted,
  type Link,
  redirectsSinceMs,
  type StoredLink,
  targetSinceMs,
  type Terms,
  type WithTerms,
} from "./link.ts";
import { type Target, targetHost } from "./target.ts";
import { applyTerms, orNone, storedTerms } from "./terms/term-values.ts";
import type { TermChanges } from "./terms/terms.ts";
import { DAY_MS, NEVER_MS } from "./time.ts";

/** A change to an existing link, by its maker or by a visit. */
export type Change =
  | ({ readonly type: "edit"; readonly atMs: number } & IfRevision & Edit)
  | ({ readonly type: "withdraw"; readonly atMs: number } & IfRevision)
  /** Gives the link to another owner, even if it has ended or is disabled. */
  | ({ readonly type: "hand-over"; readonly atMs: number; readonly owner: string } & IfRevision)
  /** A visit of a link with `maxVisits`. */
  | { readonly type: "visit"; readonly atMs: number };

interface IfRevision {
  /** Only to a link with one of these revisions. Undefined: to any. */
  readonly ifRevisions?: readonly string[] | undefined;
  /** Only while the right with which the link was opened still holds. Undefined: always. */
  readonly opened?: Opened | undefined;
}

/** The facts on which a right to change a link relies. They may change, for example while a password is hashed. */
export interface Opened {
  /** The generation of its keys. */
  readonly keys: number | undefined;
  /** Whether an editor opened it, whose right ends once the link has a password. */
  readonly asEditor: boolean;
}

/** The link has another revision than those that its maker or the operator knows. */
export interface OtherRevision {
  readonly kind: "precondition.failed";
  readonly revision: string;
}

/** A start is refused for a link that has started. */
export interface Edit extends TermChanges {
  readonly destination?: { readonly originalUrl: string; readonly target: Target } | undefined;
  /** Whose link it becomes. */
  readonly owner?: string | undefined;
}

/** How long pages show the host of the earlier target. */
export const FORMER_HOST_MS = 30 * DAY_MS;

/**
 * Applies a change to a link. Undefined if it comes too late or changes nothing. Every store calls this in the
 * transaction that writes the link.
 */
export function applyChange(link: StoredLink, change: Change): StoredLink | undefined {
  const { atMs } = change;
  if (link.disabled === "deleted") return undefined;
  if (change.type === "hand-over") {
    const terms = ownedBy(link.terms, change.owner);
    return terms === link.terms || !hasRevision(link, change) ? undefined : { ...link, terms };
  }
  if (hasEnded(link, atMs)) return undefined;
  if (change.type !== "visit" && !hasRevision(link, change)) return undefined;
  if (change.type === "withdraw") return withTerms({ ...link, endsMs: atMs }, { ended: "withdrawn" });
  if (link.disabled !== undefined) return undefined;
  return change.type === "visit" ? countVisit(link, atMs) : applyEdit(link, change, atMs);
}

/** In characters of Base64: 120 bits. */
const REVISION_LENGTH = 20;

/**
 * Identifies what the maker of a link can change. Visits don't change it. A cryptographic hash, because a maker could
 * otherwise find two targets with the same revision, and swap them while the operator decides.
 */
export function revisionOf(link: Pick<Link, "originalUrl" | "endsMs" | "terms">): string {
  const values = JSON.stringify([link.originalUrl, storedTerms(link)]);
  return new Bun.CryptoHasher("sha256").update(values).digest("base64url").slice(0, REVISION_LENGTH);
}

/**
 * Identifies the link that the operator sees: its creation, which differs between links of a code, and its revision. Without the end,
 * because the last visit of a limited link sets it. Each new owner makes another version.
 */
export function versionOf(link: Pick<Link, "createdMs" | "originalUrl" | "terms">): string {
  const { keys } = link.terms ?? {};
  const version = `${link.createdMs.toString(36)}.${revisionOf({ ...link, endsMs: 0 })}`;
  return keys === undefined ? version : `${version}.${keys}`;
}

/** Whether a link has one of the revisions or of the operator's versions, and the keys, that a change is for. */
export function hasRevision(
  link: Pick<Link, "createdMs" | "originalUrl" | "endsMs" | "terms">,
  { ifRevisions, opened }: IfRevision,
): boolean {
  if (opened !== undefined && !isStillOpen(link, opened)) return false;
  return (
    ifRevisions === undefined || [revisionOf(link), versionOf(link)].some((one) => ifRevisions.includes(one))
  );
}

/** Whether the right with which a link was opened still holds. */
export function isStillOpen(link: WithTerms, { keys, asEditor }: Opened): boolean {
  return asEditor ? !hasPassword(link) : keys === link.terms?.keys;
}

/** Whether cached redirects stay correct. They do after a counted visit. */
export function isSilent(change: Change): boolean {
  return change.type === "visit";
}

function countVisit(link: StoredLink, atMs: number): StoredLink | undefined {
  const { maxVisits, visits = 0 } = link.terms ?? {};
  // Its maker has postponed the start, or the clock of another process is ahead.
  if (!hasStarted(link, atMs)) return undefined;
  return maxVisits === undefined ? undefined : endIfUsedUp(withTerms(link, { visits: visits + 1 }), atMs);
}

function applyEdit(
  link: StoredLink,
  { destination, owner, ...changes }: Edit,
  atMs: number,
): StoredLink | undefined {
  const { endsMs, startsMs, maxVisits } = changes;
  if (startsMs !== undefined && hasStarted(link, atMs)) return undefined;
  let after = link;
  if (destination !== undefined && destination.originalUrl !== link.originalUrl)
    after = withTerms(
      { ...after, ...destination },
      {
        // Always later than the previous change, even if another machine's clock is ahead: reports compare it.
        changedMs: Math.max(atMs, targetSinceMs(link) + 1),
        // Before the start, nobody was redirected to the host, and nobody should learn of it.
        ...(hasStarted(link, atMs) && formerOf(link, atMs)),
      },
    );
  if (endsMs !== undefined) after = { ...after, endsMs: endsMs ?? NEVER_MS };
  if (owner !== undefined) after = { ...after, terms: ownedBy(after.terms, owner) };
  if (maxVisits === null) after = withTerms(after, { visits: undefined });
  after = { ...after, terms: applyTerms(after.terms, changes) };
  // Two edits that are right alone may contradict each other.
  if (endsBeforeStart(after) && !endsBeforeStart(link)) return undefined;
  after = endIfUsedUp(after, atMs);
  return Bun.deepEquals(after, link) ? undefined : after;
}

/** The terms of a link that gets an owner, or none. Earlier keys no longer open it. */
export function ownedBy(terms: Terms | undefined, owner: string | undefined): Terms | undefined {
  return owner === terms?.owner ? terms : orNone({ ...terms, owner, keys: (terms?.keys ?? 0) + 1 });
}

function endsBeforeStart({ endsMs, terms }: StoredLink): boolean {
  return endsMs <= (terms?.startsMs ?? 0);
}

/**
 * The former host that a link gets if its target changes now. Of several hosts within 30 days, it is the one that had
 * the longest time: most people know that one, and another that was there for a moment must not hide it.
 */
export function formerOf(
  link: Pick<Link, "target" | "createdMs" | "terms">,
  atMs: number,
): { formerHost: string; formerMs: number } {
  const { changedMs = Number.NEGATIVE_INFINITY, formerHost, formerMs = 0 } = link.terms ?? {};
  const lastMs = Math.max(0, atMs - redirectsSinceMs(link));
  return formerHost !== undefined && atMs < changedMs + FORMER_HOST_MS && formerMs >= lastMs
    ? { formerHost, formerMs }
    : { formerHost: targetHost(link.target), formerMs: lastMs };
}

/** The host of the earlier target, if pages should show it now. */
export function formerHostOf(
  { target, terms }: Pick<Link, "target" | "terms">,
  nowMs: number,
): string | undefined {
  const { changedMs = Number.NEGATIVE_INFINITY, formerHost } = terms ?? {};
  return nowMs < changedMs + FORMER_HOST_MS && formerHost !== targetHost(target) ? formerHost : undefined;
}

function endIfUsedUp(link: StoredLink, atMs: number): StoredLink {
  const { maxVisits = Number.POSITIVE_INFINITY, visits = 0 } = link.terms ?? {};
  return visits < maxVisits ? link : withTerms({ ...link, endsMs: atMs }, { ended: "visits" });
}

function withTerms(link: StoredLink, changes: Partial<Terms>): StoredLink {
  return { ...link, terms: orNone({ ...link.terms, ...changes }) };
}
