import {
  type Change,
  type Edit,
  hasRevision,
  type Opened,
  type OtherRevision,
  revisionOf,
} from "./change.ts";
import type { WallClock } from "./clock.ts";
import type { Code, LinkKey } from "./code.ts";
import type { ParseDestination } from "./drafts.ts";
import type { createLinkCheck } from "./link-check.ts";
import type { LinkId, LinkStore } from "./link-store.ts";
import { type FoundLink, hasEnded, hasStarted, type Link, type WithEnd, type WithTerms } from "./link.ts";
import { isName } from "./name.ts";
import { type Invalid, invalid, isProblem, type Problem } from "./problem.ts";
import { hashPassword } from "./terms/password.ts";
import { changesOf, refuseEnd, refusePath, refuseStart, refuseTerms } from "./terms/term-values.ts";
import { type TermChanges, type WantedTerms } from "./terms/terms.ts";
import { DAY_MS, NEVER_MS } from "./time.ts";

export interface EditRequest {
  /** Undefined: no change. */
  readonly originalUrl?: string | undefined;
  /** A start of null is now, unless the link has started already. */
  readonly terms?: WantedTerms | undefined;
  /** The person who gets the link. */
  readonly owner?: string | undefined;
  /** The person who changes it. Undefined for whoever has its key. */
  readonly person?: string | undefined;
  /** Undefined: the maker's. */
  readonly right?: Right | undefined;
  /** Who shares the places of the queue in which passwords are hashed. */
  readonly sharers?: readonly string[] | undefined;
  /** See {@link Change}. */
  readonly ifRevisions?: readonly string[] | undefined;
}

/** Rights of a person on a link: a maker may do everything, an editor only correct its destination, title and terms. */
export type Right = "maker" | "editor";

export function openedAs({ terms }: WithTerms, right: Right = "maker"): Opened {
  return { keys: terms?.keys, asEditor: right === "editor" };
}

/** The setting EDITS doesn't allow to change this target, or not any more. */
export interface EditsClosed {
  readonly kind: "edits.closed";
}

/** For how long after its creation the target of a link may change. */
export type Edits = "on" | "24h" | "off";

export interface EditOptions<Id extends Code | LinkKey> {
  readonly store: Pick<LinkStore<Id>, "update" | "change">;
  readonly clock: WallClock;
  readonly parseDestination: ParseDestination;
  readonly check: Pick<ReturnType<typeof createLinkCheck>, "disabledReasonOf" | "goneProblemOf">;
  readonly edits: Edits;
  /** See `Config`. */
  readonly pathsNeedName: boolean;
}

/** Why a link stays as it is. */
export type EditRefusal = Problem | EditsClosed | OtherRevision;

/** Changes links for makers and editors, and withdraws them for makers. Both methods reject with `StoreUnavailable`. */
export interface Editing<Id extends Code | LinkKey = Code> {
  /**
   * Changes a link durably, and returns it as it is now. If it has ended or is disabled, it can only be handed over. `decide` writes a
   * decision of the operator, to which the setting EDITS doesn't apply.
   */
  edit(
    link: FoundLink<Id>,
    request: EditRequest,
    decide?: LinkStore<Id>["update"],
  ): Promise<Link<Id> | FoundLink<Id> | EditRefusal>;
  /** Ends a link immediately and durably, even if it is disabled. */
  withdraw(
    link: LinkId<Id> & WithTerms,
    ifRevisions?: readonly string[],
  ): Promise<FoundLink<Id> | Problem | OtherRevision>;
}

export const EDITABLE_MS: Readonly<Record<Edits, number>> = {
  on: Number.POSITIVE_INFINITY,
  "24h": DAY_MS,
  off: 0,
};

/** The instant from which the target of a link can't change. */
export function editableUntilMs({ createdMs }: Pick<Link, "createdMs">, edits: Edits): number {
  return createdMs + EDITABLE_MS[edits];
}

/** Undefined if the start doesn't change. */
function newStartMs(link: WithTerms, startsMs: TermChanges["startsMs"], atMs: number): number | undefined {
  if (startsMs === null) return hasStarted(link, atMs) ? undefined : atMs;
  return startsMs === link.terms?.startsMs ? undefined : startsMs;
}

export function createEditing<Id extends Code | LinkKey>({
  store,
  clock,
  parseDestination,
  check: { disabledReasonOf, goneProblemOf },
  edits,
  pathsNeedName,
}: EditOptions<Id>): Editing<Id> {
  /** Only a new target can deceive people who know the link. Everything else may always change. */
  function isClosed(link: FoundLink<Id>, request: EditRequest, atMs: number): boolean {
    const isNewTarget = request.originalUrl !== undefined && request.originalUrl !== link.originalUrl;
    return isNewTarget && atMs >= editableUntilMs(link, edits);
  }

  function parse(link: WithEnd, request: EditRequest, atMs: number, isDecision: boolean): Edit | Invalid {
    const { originalUrl, terms = {}, owner } = request;
    const target = originalUrl === undefined ? undefined : parseDestination(originalUrl);
    const changes = changesOf(terms, atMs);
    const endsMs = changes.endsMs === null ? NEVER_MS : changes.endsMs;
    const startsMs = newStartMs(link, changes.startsMs, atMs);
    const fromMs = Math.max(atMs, startsMs ?? link.terms?.startsMs ?? 0);
    const refusals = [
      ...(isProblem(target) ? target.refusals : []),
      ...refuseEnd(endsMs ?? link.endsMs, fromMs, atMs),
      ...(startsMs === undefined ? [] : refuseStart(startsMs, atMs, hasStarted(link, atMs))),
      ...refuseTerms(terms),
      ...(owner === undefined || isName(owner) ? [] : [{ rule: "owner.name" } as const]),
      ...refusePath(terms, pathsNeedName && !isDecision && link.terms?.createdBy === undefined),
    ];
    if (isProblem(target) || refusals.length > 0) return { kind: "invalid", refusals };
    const destination =
      originalUrl === undefined || target === undefined ? undefined : { originalUrl, target };
    return { ...changes, destination, startsMs, owner };
  }

  /** The journal has the changes of people, and each new owner. */
  function writerFor({ owner, person: by }: EditRequest, atMs: number): LinkStore<Id>["update"] {
    if (owner === undefined && by === undefined) return store.update;
    return (id, change) => store.change(id, change, { who: "person", by, atMs });
  }

  async function update(
    { code, createdMs }: LinkId<Id>,
    change: Exclude<Change, { type: "visit" }>,
    write = store.update,
    refusalOf: (now: Link<Id>) => Invalid | undefined = () => undefined,
  ): Promise<Link<Id> | Problem | OtherRevision> {
    const { link, isChanged } = await write({ code, createdMs }, change);
    if (link === undefined) return { kind: "unknown" };
    if (!isChanged && !hasEnded(link, change.atMs) && !hasRevision(link, change))
      return { kind: "precondition.failed", revision: revisionOf(link) };
    // Another request may have started it meanwhile, or moved its end.
    return isChanged ? link : (goneProblemOf(link) ?? refusalOf(link) ?? link);
  }

  /** Works in every state of the link, so that people who leave can hand over all of theirs. */
  async function handOver(
    { code, createdMs, terms }: FoundLink<Id>,
    owner: string,
    request: EditRequest,
  ): Promise<FoundLink<Id> | EditRefusal> {
    if (!isName(owner)) return invalid({ rule: "owner.name" });
    const { right, ifRevisions } = request;
    const atMs = clock.nowMs();
    const opened = openedAs({ terms }, right);
    const change = { type: "hand-over", atMs, owner, ifRevisions, opened } as const;
    const { link: now, isChanged } = await writerFor(request, atMs)({ code, createdMs }, change);
    if (now === undefined) return { kind: "unknown" };
    const disabled = disabledReasonOf(now);
    if (disabled === "deleted") return { kind: "disabled", reason: disabled };
    return isChanged || hasRevision(now, change)
      ? { ...now, disabled }
      : { kind: "precondition.failed", revision: revisionOf(now) };
  }

  return {
    async edit(link, request, decide) {
      const { owner, originalUrl, terms } = request;
      const isOnlyOwner =
        originalUrl === undefined && Object.values(terms ?? {}).every((one) => one === undefined);
      if (owner !== undefined && isOnlyOwner) return handOver(link, owner, request);
      const atMs = clock.nowMs();
      const problem = goneProblemOf(link);
      if (problem !== undefined) return problem;
      if (decide === undefined && isClosed(link, request, atMs)) return { kind: "edits.closed" };
      const edit = parse(link, request, atMs, decide !== undefined);
      if (isProblem(edit)) return edit;
      const { terms: { password } = {}, sharers, ifRevisions } = request;
      const passwordHash = typeof password === "string" ? await hashPassword(password, sharers) : password;
      const opened = decide === undefined ? openedAs(link, request.right) : undefined;
      const change = { type: "edit", atMs, ...edit, passwordHash, ifRevisions, opened } as const;
      return update(link, change, decide ?? writerFor(request, atMs), (now) => {
        const again = parse(now, request, atMs, decide !== undefined);
        return isProblem(again) ? again : undefined;
      });
    },

    async withdraw(link, ifRevisions) {
      const opened = openedAs(link);
      const now = await update(link, { type: "withdraw", atMs: clock.nowMs(), ifRevisions, opened });
      if ("kind" in now) return now;
      const disabled = disabledReasonOf(now);
      return disabled === "deleted" ? { kind: "disabled", reason: disabled } : { ...now, disabled };
    },
  };
}
