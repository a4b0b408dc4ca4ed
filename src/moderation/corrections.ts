import type { WallClock } from "../links/clock.ts";
import type { Code } from "../links/code.ts";
import type { ParseDestination } from "../links/drafts.ts";
import { editableUntilMs, type Edits, openedAs, type Right } from "../links/edit.ts";
import { type Blocked, createLinkCheck } from "../links/link-check.ts";
import type { EntryId, LinkId } from "../links/link-store.ts";
import type { FoundLink } from "../links/link.ts";
import { isProblem, type Problem } from "../links/problem.ts";
import type { DecisionEntry, ModerationStore } from "./moderation-store.ts";

/** The most changes that the page of a link lists. */
const MAX_HISTORY = 20;

interface CorrectionsOptions extends LinkHistory {
  readonly store: Pick<ModerationStore<Code>, "undo">;
  readonly clock: WallClock;
  readonly edits: Edits;
  readonly blocked: Blocked;
  readonly parseDestination: ParseDestination;
}

/** A link, and who may change it. */
interface OpenedBy {
  readonly link: FoundLink;
  readonly right: Right;
  readonly person: string | undefined;
}

/**
 * Restores the values that a person has replaced, for somebody who may change the link, by the rules of an edit. Rejects with
 * `StoreUnavailable`.
 */
export type BringBack = (
  opened: OpenedBy,
  entry: EntryId,
) => Promise<Problem | Awaited<ReturnType<CorrectionsOptions["store"]["undo"]>>>;

export function createBringBack(options: CorrectionsOptions): BringBack {
  const { store, clock, edits, blocked, parseDestination, history } = options;
  const { goneProblemOf } = createLinkCheck(clock, blocked);
  return async ({ link, right, person: by }, entry) => {
    const gone = goneProblemOf(link);
    if (gone !== undefined) return gone;
    // The rules about destinations may have changed since this one was replaced.
    const former = (await history(link, MAX_HISTORY)).find((one) => one.entry === entry);
    if (former === undefined) return { kind: "decision.unknown" };
    for (const { kind, value = "" } of former.replaced) {
      const target = kind === "target" ? parseDestination(value) : undefined;
      if (isProblem(target)) return target;
    }
    const { code, createdMs } = link;
    const atMs = clock.nowMs();
    const canRetarget = atMs < editableUntilMs(link, edits);
    const opened = { code, createdMs, ...openedAs(link, right), canRetarget };
    return store.undo(entry, { who: "person", by, atMs }, opened);
  };
}

/** Reads the changes of a link by people, and its hand-overs, newest first. */
export interface LinkHistory {
  history(link: LinkId<Code>, limit: number): Promise<readonly DecisionEntry[]>;
}

/** Reads the latest changes of a link for colleagues. Rejects with `StoreUnavailable`. */
export type ReadHistory = (link: LinkId<Code>) => ReturnType<LinkHistory["history"]>;

export function createHistoryReader(store: LinkHistory): ReadHistory {
  return async (link) => (await store.history(link, MAX_HISTORY)).map(withoutOperator);
}

/** Only operators see each other's names and notes. */
function withoutOperator(entry: DecisionEntry): DecisionEntry {
  return entry.who === "person" ? entry : { ...entry, by: undefined, note: undefined };
}
