import type { WallClock } from "../links/clock.ts";
import type { Code } from "../links/code.ts";
import { editableUntilMs, type Edits, type EditsClosed } from "../links/edit.ts";
import type { EntryId, LinkId } from "../links/link-store.ts";
import type { ModerationStore, NotUndone, Undone } from "./moderation-store.ts";

interface CorrectionsOptions {
  readonly store: Pick<ModerationStore<Code>, "undo">;
  readonly clock: WallClock;
  readonly edits: Edits;
}

/**
 * Brings back the destination that a person has replaced, for somebody who may change the link. The setting EDITS applies. Rejects
 * with `StoreUnavailable`.
 */
export type BringBack = (
  link: LinkId<Code>,
  entry: EntryId,
  person: string | undefined,
) => Promise<Undone | NotUndone | EditsClosed>;

export function createBringBack({ store, clock, edits }: CorrectionsOptions): BringBack {
  return async ({ code, createdMs }, entry, by) => {
    const atMs = clock.nowMs();
    if (atMs >= editableUntilMs({ createdMs }, edits)) return { kind: "edits.closed" };
    return store.undo(entry, { who: "person", by, atMs }, { code, createdMs });
  };
}
