import { type ChangeReader, followChanges, type Memory } from "./changes.ts";
import type { Clock } from "./clock.ts";
import { type Code, lookUpCode } from "./code.ts";
import { createCreation, type Creation, type CreationOptions } from "./create.ts";
import { type DisabledReason, hasBegun, type Link } from "./link.ts";
import { isProblem, type Problem } from "./problem.ts";
import type { LinkStore } from "./store.ts";
import { DAY_MS } from "./time.ts";

/** The use cases. All of them reject with `StoreUnavailable` if the store cannot answer. */
export interface Links extends Creation {
  /** Returns the link to redirect to, for a code as an address spells it; a problem if it is disabled or has ended. */
  resolve(spelling: string): Promise<Link | Problem>;
  /** The same at once, for a code as it is stored. Missing if the store cannot; throws `StoreUnavailable`. */
  readonly resolveNow?: ((code: Code) => Link | Problem) | undefined;
  /**
   * Returns the link of a code as an address spells it. Links that have ended are found until their hold is over, and
   * disabled ones always, unless they were deleted. Links that have not begun are found only by who manages them.
   */
  find(spelling: string, as?: "visitor" | "maker"): Promise<FoundLink | Problem>;
  /** Deletes links whose hold is over, in small batches. Returns the number of deleted links. */
  purge(): Promise<number>;
  /** Keeps a cache of links up to date. Each `read` makes it forget the links that any process has changed. */
  follow(memory: Memory): Promise<ChangeReader>;
}

/** `disabled` is the link's own state, or else the rule that applies to its target. */
export interface FoundLink extends Omit<Link, "disabled"> {
  readonly disabled: Exclude<DisabledReason, "deleted"> | undefined;
}

export interface LinksOptions extends CreationOptions {
  /** Reads anew what `blocked` tells from, after another process may have changed it. */
  readonly readRules: () => Promise<void>;
}

/** How long a request that is sent again gets the same answer. */
const REQUEST_KEPT_MS = DAY_MS;
const PURGE_BATCH = 500;
/** The next purge deletes the rest. */
const MAX_PURGE_BATCHES = 200;

/** The half that only reads. */
export function createLookUps({
  store,
  clock,
  codeHoldMs,
  blocked,
}: Pick<LinksOptions, "codeHoldMs" | "blocked"> & {
  readonly store: Pick<LinkStore, "find" | "findNow" | "findNear">;
  readonly clock: Pick<Clock, "nowMs">;
}): Pick<Links, "resolve" | "resolveNow" | "find"> {
  const { find, findNow, findNear } = store;

  async function look(spelling: string, where = find): Promise<Link | undefined> {
    const code = lookUpCode(spelling);
    return code === undefined ? undefined : unlessOver(await where(code));
  }

  /** A link whose hold is over counts as purged. */
  function unlessOver(link: Link | undefined): Link | undefined {
    if (link === undefined || link.disabled !== undefined) return link;
    return clock.nowMs() >= link.endsMs + codeHoldMs ? undefined : link;
  }

  const reasonOf = (link: Link) => link.disabled ?? blocked(link.target);

  function unlessBroken(link: Link | undefined): Link | Problem {
    if (link === undefined) return { kind: "unknown" };
    const reason = reasonOf(link);
    if (reason !== undefined) return { kind: "disabled", reason };
    const nowMs = clock.nowMs();
    if (nowMs >= link.endsMs) return { kind: "expired", endedMs: link.endsMs, by: link.terms?.ended };
    return hasBegun(link, nowMs) ? link : { kind: "unknown" };
  }

  return {
    async resolve(spelling) {
      const near = findNear && unlessBroken(await look(spelling, findNear));
      // A link that was just made or enabled may not be known there.
      return near === undefined || isProblem(near) ? unlessBroken(await look(spelling)) : near;
    },
    resolveNow: findNow && ((code) => unlessBroken(unlessOver(findNow(code)))),
    async find(spelling, as = "visitor") {
      const link = await look(spelling);
      if (link === undefined || (as === "visitor" && !hasBegun(link, clock.nowMs())))
        return { kind: "unknown" };
      const disabled = reasonOf(link);
      return disabled === "deleted" ? { kind: "disabled", reason: disabled } : { ...link, disabled };
    },
  };
}

export function createLinks(options: LinksOptions): Links {
  const { store, clock, blocked, codeHoldMs } = options;

  return {
    ...createCreation(options),

    ...createLookUps({ store, clock, codeHoldMs, blocked }),

    async purge() {
      let purged = 0;
      for (let batch = 0; batch < MAX_PURGE_BATCHES && clock.trustworthy(); batch++) {
        const deleted = await store.purge(clock.nowMs() - codeHoldMs, PURGE_BATCH);
        purged += deleted;
        if (deleted < PURGE_BATCH) break;
      }
      await store.forgetRequests(clock.nowMs() - REQUEST_KEPT_MS, MAX_PURGE_BATCHES * PURGE_BATCH);
      return purged;
    },

    follow: (memory) => followChanges(store, memory, options.readRules),
  };
}
