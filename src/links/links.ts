import { type ChangeReader, followChanges, type Memory } from "./change-feed.ts";
import type { Clock } from "./clock.ts";
import { type Code, lookUpCode } from "./code.ts";
import { createCreation, type Creation, type CreationOptions } from "./create.ts";
import { createEditing, type Editing, type EditingOptions } from "./edit.ts";
import { createLinkCheck } from "./link-check.ts";
import { type FoundLink, type Link, stateOf } from "./link.ts";
import { isProblem, type Problem } from "./problem.ts";
import type { LinkId, LinkStore } from "./store.ts";
import { DAY_MS } from "./time.ts";

/** The use cases. All of them reject with `StoreUnavailable` if the store cannot answer. */
export interface Links extends Creation, Editing {
  /** Returns the link to redirect to, for a code as an address spells it; a problem if it is disabled or has ended. */
  resolve(spelling: string): Promise<Link | Problem>;
  /** The same at once, for a code as it is stored. Missing if the store cannot; throws `StoreUnavailable`. */
  readonly resolveNow?: ((code: Code) => Link | Problem) | undefined;
  /**
   * Returns the link of a code as an address spells it. Links that have ended are found until their hold is over, and
   * disabled ones always, unless they were deleted. Those that have not begun or were withdrawn are their maker's alone.
   */
  find(spelling: string, as?: "visitor" | "maker"): Promise<FoundLink | Problem>;
  /**
   * Counts one of a link's limited visits, durably. Returns the link as it is now, or the problem if it has ended
   * meanwhile: however many processes ask at once, it returns the link no more often than the limit says.
   */
  visit(link: LinkId): Promise<Link | Problem>;
  /** Deletes links whose hold is over, in small batches. Returns the number of deleted links. */
  purge(): Promise<number>;
  /** Keeps a cache of links up to date. Each `read` makes it forget the links that any process has changed. */
  follow(memory: Memory): Promise<ChangeReader>;
}

export interface LinksOptions extends CreationOptions, Pick<EditingOptions, "edits"> {
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

  const { reasonOf, unlessBroken } = createLinkCheck({ clock, blocked });

  return {
    async resolve(spelling) {
      const near = findNear && unlessBroken(await look(spelling, findNear));
      // A link that was just made or enabled may not be known there.
      return near === undefined || isProblem(near) ? unlessBroken(await look(spelling)) : near;
    },
    resolveNow: findNow && ((code) => unlessBroken(unlessOver(findNow(code)))),
    async find(spelling, as = "visitor") {
      const link = await look(spelling);
      if (link === undefined) return { kind: "unknown" };
      const disabled = reasonOf(link);
      if (disabled === "deleted") return { kind: "disabled", reason: disabled };
      const found = { ...link, disabled };
      const state = stateOf(found, clock.nowMs());
      if (as === "visitor" && (state === "scheduled" || state === "withdrawn")) {
        const problem = unlessBroken(link);
        if (isProblem(problem)) return problem;
      }
      return found;
    },
  };
}

export function createLinks(options: LinksOptions): Links {
  const { store, clock, blocked, codeHoldMs } = options;
  const { brokenBy, unlessBroken } = createLinkCheck({ clock, blocked });
  const creation = createCreation(options);

  return {
    ...creation,

    ...createEditing({ ...options, ...creation, brokenBy }),

    ...createLookUps({ store, clock, codeHoldMs, blocked }),

    async visit({ code, createdMs }) {
      const change = { type: "visit", atMs: clock.nowMs() } as const;
      const { link, isChanged } = await store.update({ code, createdMs }, change);
      // It was not counted if the link has ended, or if its maker has just taken the limit back.
      return isChanged && link !== undefined ? link : unlessBroken(link);
    },

    async purge() {
      let purged = 0;
      for (let batch = 0; batch < MAX_PURGE_BATCHES && clock.trustworthy(); batch++) {
        const deleted = await store.purge(clock.nowMs() - codeHoldMs, PURGE_BATCH);
        purged += deleted;
        if (deleted < PURGE_BATCH) break;
      }
      if (clock.trustworthy())
        await store.forgetRequests(clock.nowMs() - REQUEST_KEPT_MS, MAX_PURGE_BATCHES * PURGE_BATCH);
      return purged;
    },

    follow: (memory) => followChanges(store, memory, options.readRules),
  };
}
