import type { WallClock } from "./clock.ts";
import type { Code, LinkKey } from "./code.ts";
import { type FoundLink, hasEnded, type Link, stateOf } from "./link.ts";
import type { DisabledReason, Problem } from "./problem.ts";
import { isSendable, type Target } from "./target.ts";

/** Why links to a target must not work, if so. Must be fast. */
export type Blocked = (target: Target) => Exclude<DisabledReason, "deleted"> | undefined;

/** Creates the check that every visit and edit of a link passes. */
export function createLinkCheck(clock: WallClock, blocked: Blocked) {
  /** The link's own state, or else the rule about its target. No visitor may get a target that Curt never stores. */
  const disabledReasonOf = (link: Pick<Link | FoundLink, "disabled" | "target">) =>
    link.disabled ?? blocked(link.target) ?? (isSendable(link.target) ? undefined : "other");

  /** Why a link no longer redirects. Undefined if it still does, or hasn't started. */
  function goneProblemOf(link: Omit<Link | FoundLink, "code">): Problem | undefined {
    const reason = disabledReasonOf(link);
    if (reason !== undefined) return { kind: "disabled", reason };
    const { endsMs, terms } = link;
    return hasEnded(link, clock.nowMs()) ? { kind: "expired", endedMs: endsMs, by: terms?.ended } : undefined;
  }

  /** The link, if it redirects now. */
  function unlessProblem<Id extends Code | LinkKey>(link: Link<Id> | undefined): Link<Id> | Problem {
    if (link === undefined) return { kind: "unknown" };
    const problem = goneProblemOf(link);
    if (problem !== undefined) return problem;
    return stateOf(link, clock.nowMs()) === "scheduled" ? { kind: "unknown" } : link;
  }

  return { disabledReasonOf, goneProblemOf, unlessProblem };
}
