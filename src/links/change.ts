import { hasStarted, hasEnded, redirectsSinceMs, type Link, type Terms } from "./link.ts";
import { type Target, targetHost } from "./target.ts";
import { DAY_MS } from "./time.ts";

/** A change to an existing link, by its maker or by a visit. `atMs` is when. */
export type Change =
  | ({ readonly type: "edit"; readonly atMs: number } & Edit)
  | { readonly type: "withdraw"; readonly atMs: number }
  /** One of a limited number of visits. */
  | { readonly type: "visit"; readonly atMs: number };

/** Undefined leaves a value as it is, and null removes it. */
export interface Edit {
  readonly destination?: { readonly originalUrl: string; readonly target: Target } | undefined;
  /** `NEVER_MS` if the link shall never end. */
  readonly endsMs?: number | undefined;
  /** A link that has begun cannot begin at another time: then nothing is changed. */
  readonly startsMs?: number | undefined;
  readonly maxVisits?: number | null | undefined;
  readonly passwordHash?: string | null | undefined;
}

/** For so long, whoever knew the link is told to which host it led before. */
export const FORMER_HOST_MS = 30 * DAY_MS;

/**
 * What becomes of a link. Undefined if the change is too late, or is none. Every store asks this, in the transaction that
 * writes the link.
 */
export function applyChange(link: Link, change: Change): Link | undefined {
  const { atMs } = change;
  if (link.disabled === "deleted" || hasEnded(link, atMs)) return undefined;
  if (change.type === "withdraw") return withTerms({ ...link, endsMs: atMs }, { ended: "withdrawn" });
  if (link.disabled !== undefined) return undefined;
  return change.type === "visit" ? visited(link, atMs) : edited(link, change, atMs);
}

/** Whether a redirect could go on answering as before, from a cache. A counted visit is no change to it. */
export function isSilent(change: Change): boolean {
  return change.type === "visit";
}

function visited(link: Link, atMs: number): Link | undefined {
  const { maxVisits, visits = 0 } = link.terms ?? {};
  // By the clock of another process it had not begun, and its maker has put the beginning off.
  if (!hasStarted(link, atMs)) return undefined;
  return maxVisits === undefined ? undefined : endIfUsedUp(withTerms(link, { visits: visits + 1 }), atMs);
}

function edited(
  link: Link,
  { destination, endsMs, startsMs, maxVisits, passwordHash }: Edit,
  atMs: number,
): Link | undefined {
  if (startsMs !== undefined && hasStarted(link, atMs)) return undefined;
  let after = link;
  if (destination !== undefined && destination.originalUrl !== link.originalUrl)
    after = withTerms(
      { ...after, ...destination },
      {
        changedMs: atMs,
        // Nobody was led to a host before the link began, and nobody shall learn of it.
        ...(hasStarted(link, atMs) && formerOf(link, atMs)),
      },
    );
  if (endsMs !== undefined) after = { ...after, endsMs };
  if (startsMs !== undefined) after = withTerms(after, { startsMs });
  if (maxVisits !== undefined)
    after = withTerms(
      after,
      maxVisits === null ? { maxVisits: undefined, visits: undefined } : { maxVisits },
    );
  if (passwordHash !== undefined) after = withTerms(after, { passwordHash: passwordHash ?? undefined });
  after = endIfUsedUp(after, atMs);
  return Bun.deepEquals(after, link) ? undefined : after;
}

/**
 * The host that a link will be said to have led to before, if its target changes now, and for how long it did. Of several
 * hosts within 30 days it is the one of the longest time, because most people knew that one: a host that was there for a
 * moment cannot hide it.
 */
export function formerOf(link: Pick<Link, "target" | "createdMs" | "terms">, atMs: number): Former {
  const { changedMs = Number.NEGATIVE_INFINITY, formerHost, formerMs = 0 } = link.terms ?? {};
  const lastMs = Math.max(0, atMs - redirectsSinceMs(link));
  return formerHost !== undefined && atMs < changedMs + FORMER_HOST_MS && formerMs >= lastMs
    ? { formerHost, formerMs }
    : { formerHost: targetHost(link.target), formerMs: lastMs };
}

interface Former {
  readonly formerHost: string;
  readonly formerMs: number;
}

/** The host to which a link led before, if whoever looks at it now should be told. */
export function formerHostOf(
  { target, terms }: Pick<Link, "target" | "terms">,
  nowMs: number,
): string | undefined {
  const { changedMs = Number.NEGATIVE_INFINITY, formerHost } = terms ?? {};
  return nowMs < changedMs + FORMER_HOST_MS && formerHost !== targetHost(target) ? formerHost : undefined;
}

function endIfUsedUp(link: Link, atMs: number): Link {
  const { maxVisits = Number.POSITIVE_INFINITY, visits = 0 } = link.terms ?? {};
  return visits < maxVisits ? link : withTerms({ ...link, endsMs: atMs }, { ended: "visits" });
}

function withTerms(link: Link, changes: Partial<Terms>): Link {
  return { ...link, terms: orNone({ ...link.terms, ...changes }) };
}

/** Terms without any are none. */
export function orNone(terms: Terms): Terms | undefined {
  const given = Object.entries(terms).filter(([, value]) => value !== undefined);
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

/** As stores keep them. */
export function termsJson({ terms }: Pick<Link, "terms">): string | null {
  return terms === undefined ? null : JSON.stringify(terms);
}

export function parseTerms(json: string | null): Terms | undefined {
  return json === null ? undefined : (JSON.parse(json) as Terms);
}
