import type { WallClock } from "../links/clock.ts";
import type { Code } from "../links/code.ts";
import { editableUntilMs, type Edits, openedAs, type Right } from "../links/edit.ts";
import type { EntryId, LinkId } from "../links/link-store.ts";
import type { WithTerms } from "../links/link.ts";
import type { DecisionEntry, ModerationStore } from "./moderation-store.ts";

/** How many changes the page of a link lists. */
const MAX_HISTORY = 20;

interface CorrectionsOptions {
  readonly store: Pick<ModerationStore<Code>, "undo">;
  readonly clock: WallClock;
  readonly edits: Edits;
}

/** A link, and who may change it. */
interface OpenedBy {
  readonly link: LinkId<Code> & WithTerms;
  readonly right: Right;
  readonly person: string | undefined;
}

/** Restores the values that a person has replaced, for somebody who may change the link. Rejects with `StoreUnavailable`. */
export type BringBack = (opened: OpenedBy, entry: EntryId) => ReturnType<CorrectionsOptions["store"]["undo"]>;

export function createBringBack({ store, clock, edits }: CorrectionsOptions): BringBack {
  return async ({ link, right, person: by }, entry) => {
    const { code, createdMs } = link;
    const atMs = clock.nowMs();
    const canRetarget = atMs < editableUntilMs(link, edits);
    const opened = { code, createdMs, ...openedAs(link, right), canRetarget };
    return store.undo(entry, { who: "person", by, atMs }, opened);
  };
}

/** Reads the changes of a link by people, newest first. */
export interface LinkHistory {
  history(link: LinkId<Code>, limit: number): Promise<readonly DecisionEntry[]>;
}

/** Reads the latest changes of a link by people. Rejects with `StoreUnavailable`. */
export type ReadHistory = (link: LinkId<Code>) => ReturnType<LinkHistory["history"]>;

export function createHistoryReader(store: LinkHistory): ReadHistory {
  return (link) => store.history(link, MAX_HISTORY);
}
