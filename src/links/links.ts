import { type ChangeReader, followChanges, type Memory } from "./change-feed.ts";
import type { WallClock } from "./clock.ts";
import { inOtherCapitals } from "./code-suggestions.ts";
import { type Code, type CodeCase, lookUpCode, lookUpKey, type LinkKey } from "./code.ts";
import { type Creating, createLinkCreation, type CreateOptions } from "./create.ts";
import { createDestinationParser } from "./drafts.ts";
import { createEditing, type Editing, type EditOptions, type Edits } from "./edit.ts";
import { type Blocked, createLinkCheck } from "./link-check.ts";
import type { LinkId, LinkStore, OwnedQuery } from "./link-store.ts";
import { type FoundLink, type Link, type Public, publicLink, stateOf } from "./link.ts";
import { isProblem, type Problem } from "./problem.ts";
import { DAY_MS } from "./time.ts";

export interface LinksOptions extends CreateOptions {
  readonly store: CreateOptions["store"] & LookUpOptions<Code>["store"] & EditOptions<Code>["store"];
  readonly edits: Edits;
}

export interface StoredLinksOptions
  extends
    Pick<CreateOptions, "clock" | "targetPolicy" | "blocked" | "codeCase" | "codeHoldMs" | "pathsNeedName">,
    Pick<LinksOptions, "edits"> {
  readonly store: LinkStore;
  /** Reads the rules of `blocked` again, after another process may have changed them. */
  readonly readRules: () => Promise<void>;
}

/** How long a repeated request gets the same response. */
export const REPLAY_MS = DAY_MS;
const PURGE_BATCH = 500;
/** The next purge deletes the rest. */
const MAX_PURGE_BATCHES = 200;
/** A record may be as large as a batch of links. */
const FORGET_BATCH = 50;
const MAX_FORGET_BATCHES = 2000;

interface LookUpOptions<Id extends Code | LinkKey> {
  readonly store: Pick<LinkStore<Id>, "find" | "findNow" | "findNear">;
  /** `lookUpCode` or `lookUpKey`. */
  readonly lookUp: (spelling: string) => Id | undefined;
  /** The codes that an unknown one may stand for. */
  readonly othersFor?: (spelling: string) => readonly Id[];
  readonly clock: WallClock;
  readonly codeHoldMs: number;
  readonly blocked: Blocked;
}

/** Who looks for a link. */
type Finder = "visitor" | "colleague" | "maker";

export interface LinkFinder<Id extends Code | LinkKey = Code> {
  /**
   * Returns the link of a code as an address spells it. Ended links are found until their hold is over, and disabled
   * ones always, unless they were deleted. Only makers find links that haven't started or were withdrawn. Visitors get nothing
   * that not everybody sees of a link.
   */
  find(spelling: string, as?: "visitor"): Promise<Public<FoundLink<Id>> | Problem>;
  find(spelling: string, as: Finder | undefined): Promise<FoundLink<Id> | Problem>;
}

/** The use cases that only read. All of them fail with `StoreUnavailable` if the store cannot answer. */
export interface LookUps<Id extends Code | LinkKey = Code> extends LinkFinder<Id> {
  /** Returns the link to redirect to, for a code as an address spells it. */
  resolve(spelling: string): Promise<Public<Link<Id>> | Problem>;
  /** The same synchronously, for a code as it is stored. Undefined if the store can't do this. */
  readonly resolveNow: ((code: Id) => Public<Link<Id>> | Problem) | undefined;
}

/** The use cases of one domain. All of them reject with `StoreUnavailable` if the store cannot answer. */
export interface Links extends Creating, Editing, LookUps {
  /**
   * Counts one of a link's limited visits, durably. Returns the problem if the link has ended meanwhile: however many
   * processes call this at once, it returns the link no more often than the limit says.
   */
  visit(link: LinkId<Code>): Promise<Public | Problem>;
}

/** The use cases of all domains. All of them reject with `StoreUnavailable` if the store cannot answer. */
export interface StoredLinks extends LinkFinder<LinkKey>, Pick<Editing<LinkKey>, "edit"> {
  /** Deletes links whose hold is over, in small batches. Returns the number of deleted links. */
  purge(): Promise<number>;
  /** Keeps a cache of links up to date. Each `read` makes it forget the links that any process has changed. */
  follow(memory: Memory): Promise<ChangeReader>;
}

export function createLookUps<Id extends Code | LinkKey>({
  store,
  lookUp,
  othersFor,
  clock,
  codeHoldMs,
  blocked,
}: LookUpOptions<Id>): LookUps<Id> {
  const { find, findNow, findNear } = store;

  async function findSpelled(spelling: string, where = find): Promise<Link<Id> | undefined> {
    const code = lookUp(spelling);
    return code === undefined ? undefined : unlessPurged(await where(code));
  }

  /** A link whose hold is over counts as purged. */
  function unlessPurged(link: Link<Id> | undefined): Link<Id> | undefined {
    if (link === undefined || link.disabled !== undefined) return link;
    return clock.nowMs() >= link.endsMs + codeHoldMs ? undefined : link;
  }

  const { disabledReasonOf, unlessProblem } = createLinkCheck(clock, blocked);

  function forVisitor(link: Link<Id> | undefined): Public<Link<Id>> | Problem {
    const result = unlessProblem(link);
    return isProblem(result) ? result : publicLink(result);
  }

  async function findAs(spelling: string, as: Finder): Promise<FoundLink<Id> | Problem> {
    const link = await findSpelled(spelling);
    if (link === undefined) return { kind: "unknown" };
    const disabled = disabledReasonOf(link);
    if (disabled === "deleted") return { kind: "disabled", reason: disabled };
    const found = { ...link, disabled };
    if (as === "maker") return found;
    const state = stateOf(found, clock.nowMs());
    const problem = state === "scheduled" || state === "withdrawn" ? unlessProblem(link) : found;
    if (isProblem(problem)) return problem;
    return as === "colleague" ? found : publicLink(found);
  }

  /** Says which code may be meant, if visitors may know of its link. */
  async function withMeant(problem: Problem, spelling: string): Promise<Problem> {
    if (problem.kind !== "unknown") return problem;
    for (const code of othersFor?.(spelling) ?? []) {
      const result = forVisitor(unlessPurged(await find(code)));
      if (!isProblem(result) || result.kind !== "unknown") return { ...problem, meant: code };
    }
    return problem;
  }

  return {
    async resolve(spelling) {
      const near = findNear && forVisitor(await findSpelled(spelling, findNear));
      // A standby may not know a link that was just created or enabled.
      return near === undefined || isProblem(near) ? forVisitor(await findSpelled(spelling)) : near;
    },
    resolveNow: findNow && ((code) => forVisitor(unlessPurged(findNow(code)))),
    async find(spelling: string, as: Finder = "visitor") {
      const found = await findAs(spelling, as);
      return (isProblem(found) ? withMeant(found, spelling) : found) as Promise<
        Public<FoundLink<Id>> | Problem
      >;
    },
  };
}

/** How addresses of a domain spell codes. */
export function spellingRules(codeCase: CodeCase) {
  return {
    lookUp: (spelling: string) => lookUpCode(spelling, codeCase),
    othersFor: (spelling: string) => inOtherCapitals(spelling, codeCase),
  };
}

export function createLinks(options: LinksOptions): Links {
  const { store, clock, blocked, codeCase, codeHoldMs, edits, pathsNeedName } = options;
  const check = createLinkCheck(clock, blocked);
  const creation = createLinkCreation(options);

  return {
    ...creation,

    ...createEditing({
      store,
      clock,
      parseDestination: creation.parseDestination,
      check,
      edits,
      pathsNeedName,
    }),

    ...createLookUps({ store, ...spellingRules(codeCase), clock, codeHoldMs, blocked }),

    async visit({ code, createdMs }) {
      const change = { type: "visit", atMs: clock.nowMs() } as const;
      const { link, isChanged } = await store.update({ code, createdMs }, change);
      // Not counted if the link has ended, or if its maker has just removed the limit.
      const result = isChanged && link !== undefined ? link : check.unlessProblem(link);
      return isProblem(result) ? result : publicLink(result);
    },
  };
}

export function createStoredLinks(options: StoredLinksOptions): StoredLinks {
  const { store, clock, blocked, codeCase, codeHoldMs, edits, pathsNeedName, readRules } = options;
  const lookUp = (spelling: string) => lookUpKey(spelling, codeCase);
  const check = createLinkCheck(clock, blocked);
  const parseDestination = createDestinationParser(options);
  const { edit } = createEditing({ store, clock, parseDestination, check, edits, pathsNeedName });
  const { find } = createLookUps({ store, lookUp, clock, codeHoldMs, blocked });

  return {
    find,
    edit,

    async purge() {
      let purged = 0;
      for (let batch = 0; batch < MAX_PURGE_BATCHES && clock.trustworthy(); batch++) {
        const deleted = await store.purge(clock.nowMs() - codeHoldMs, PURGE_BATCH);
        purged += deleted;
        if (deleted < PURGE_BATCH) break;
      }
      for (let batch = 0; batch < MAX_FORGET_BATCHES && clock.trustworthy(); batch++)
        if ((await store.forgetRequests(clock.nowMs() - REPLAY_MS, FORGET_BATCH)) < FORGET_BATCH) break;
      return purged;
    },

    follow: (memory) => followChanges(store, memory, readRules),
  };
}

interface OwnLinksOptions {
  /** Reads the links of one domain. */
  readonly store: {
    owned(query: Omit<OwnedQuery<Code>, "keyPrefix">): Promise<readonly Link[]>;
  };
  readonly clock: WallClock;
  readonly codeHoldMs: number;
  readonly blocked: Blocked;
}

interface OwnLinksPage {
  /** Newest first, also those that haven't started, are disabled or have ended, until their hold is over. */
  readonly links: readonly FoundLink[];
  /** Where the list continues. Undefined at its end. */
  readonly cursor: string | undefined;
}

/** Reads the links of a person in one domain. An invalid cursor ends the list. Rejects with `StoreUnavailable`. */
export type ReadOwnLinks = (
  owner: string,
  page: { readonly cursor?: string | undefined; readonly limit: number },
) => Promise<OwnLinksPage>;

export function createOwnLinks({ store, clock, codeHoldMs, blocked }: OwnLinksOptions): ReadOwnLinks {
  const { disabledReasonOf } = createLinkCheck(clock, blocked);

  function inspect(link: Link): readonly FoundLink[] {
    const disabled = disabledReasonOf(link);
    const isPurged = disabled === undefined && clock.nowMs() >= link.endsMs + codeHoldMs;
    return isPurged || disabled === "deleted" ? [] : [{ ...link, disabled }];
  }

  return async (owner, { cursor, limit }) => {
    const after = cursor === undefined ? undefined : readCursor(cursor);
    if (cursor !== undefined && after === undefined) return { links: [], cursor: undefined };
    const rows = await store.owned({ owner, after, limit: limit + 1 });
    const links = rows.slice(0, limit);
    const last = rows.length > limit ? links.at(-1) : undefined;
    return { links: links.flatMap(inspect), cursor: last && `${last.createdMs}.${last.code}` };
  };
}

function readCursor(cursor: string): LinkId<Code> | undefined {
  const [, createdMs, code] = /^(\d{1,15})\.([^/\0]{1,768})$/s.exec(cursor) ?? [];
  return code === undefined ? undefined : { createdMs: Number(createdMs), code: code as Code };
}
