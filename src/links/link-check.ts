import type { Clock } from "./clock.ts";
import type { Blocked } from "./create.ts";
import { type FoundLink, hasEnded, type Link, stateOf } from "./link.ts";
import type { Problem } from "./problem.ts";

export interface BrokenOptions {
  readonly clock: Pick<Clock, "nowMs">;
  readonly blocked: Blocked;
}

/** Says why links do not work. */
export function createLinkCheck({ clock, blocked }: BrokenOptions) {
  /** The link's own state, or else the rule that applies to its target. */
  const reasonOf = (link: Link | FoundLink) => link.disabled ?? blocked(link.target);

  /** Why a link leads nowhere any more, if so. */
  function brokenBy(link: Link | FoundLink): Problem | undefined {
    const reason = reasonOf(link);
    if (reason !== undefined) return { kind: "disabled", reason };
    const { endsMs, terms } = link;
    return hasEnded(link, clock.nowMs()) ? { kind: "expired", endedMs: endsMs, by: terms?.ended } : undefined;
  }

  function unlessBroken(link: Link | undefined): Link | Problem {
    if (link === undefined) return { kind: "unknown" };
    const problem = brokenBy(link);
    if (problem !== undefined) return problem;
    return stateOf(link, clock.nowMs()) === "scheduled" ? { kind: "unknown" } : link;
  }

  return { reasonOf, brokenBy, unlessBroken };
}
