import type { Blocked } from "../links/link-check.ts";
import { hasEnded, type StoredLink, targetSinceMs } from "../links/link.ts";
import type { Reason } from "../links/problem.ts";
import { DAY_MS } from "../links/time.ts";
import { type Case, mainReason } from "./case.ts";

/** Groups of open cases, the most urgent first. */
export const GROUPS = ["harm", "rule", "other", "stopped"] as const;
type Group = (typeof GROUPS)[number];

const GROUP_OF: Readonly<Record<Reason, Group>> = {
  malware: "harm",
  phishing: "harm",
  illegal: "rule",
  spam: "rule",
  legal: "rule",
  other: "other",
};

/** A link with the rule about its target, if any. */
interface JudgedLink extends StoredLink {
  readonly blocked: ReturnType<Blocked>;
}

/** A case with the facts that decide its place in the list. */
export interface OpenCase extends Case {
  /** Undefined if it no longer exists. */
  readonly link: JudgedLink | undefined;
  /** Visits in each of the last 24 hours of the clock, oldest first. */
  readonly hours: readonly number[];
}

export function groupOf(one: Pick<OpenCase, "link" | "reasons" | "pending">, nowMs: number): Group {
  return redirects(one.link, nowMs) ? GROUP_OF[mainReason(one)] : "stopped";
}

export function redirects(link: JudgedLink | undefined, nowMs: number): boolean {
  return (
    link !== undefined && link.disabled === undefined && link.blocked === undefined && !hasEnded(link, nowMs)
  );
}

/** Sorts cases by group, then by reports times visits, then the older one first. */
export function byHarm<C extends OpenCase>(cases: readonly C[], nowMs: number): C[] {
  const rank = (one: C) => ({
    group: GROUPS.indexOf(groupOf(one, nowMs)),
    weight: one.reports * (visitsOf(one) + 1),
  });
  const ranked = cases.map((one) => ({ one, ...rank(one) }));
  return ranked
    .toSorted((a, b) => a.group - b.group || b.weight - a.weight || a.one.firstMs - b.one.firstMs)
    .map(({ one }) => one);
}

export function visitsOf({ hours }: Pick<OpenCase, "hours">): number {
  return hours.reduce((sum, visits) => sum + visits, 0);
}

/** The action that the facts about a case suggest, and the fact that decides. */
export type Suggestion =
  | { readonly action: "disable"; readonly why: "agreed" | "host" | "changed" }
  | { readonly action: "nothing"; readonly why: "over" };

export function suggest(
  one: Omit<OpenCase, "hours">,
  host: { readonly disabled: number },
  nowMs: number,
): Suggestion | undefined {
  const { link, reports, lastMs, disabledMs } = one;
  if (link === undefined || (disabledMs === undefined && !redirects(link, nowMs)))
    return { action: "nothing", why: "over" };
  const sinceMs = lastMs - targetSinceMs(link);
  const isChanged = link.terms?.changedMs !== undefined && sinceMs >= 0 && sinceMs < DAY_MS;
  if (GROUP_OF[mainReason(one)] === "harm" && reports > 1) return { action: "disable", why: "agreed" };
  if (host.disabled > 0) return { action: "disable", why: "host" };
  return isChanged ? { action: "disable", why: "changed" } : undefined;
}
