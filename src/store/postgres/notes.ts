import { StoreUnavailable } from "../../links/store.ts";
import type { Database } from "./connection/database.ts";

/** Notes of all cases together, so that a flood of reports cannot fill the disk: at most 400 MB. */
const MAX_NOTES = 50_000;
/** Each process adds at most so many before it deletes the oldest. */
const NOTES_BETWEEN = 500;

const FORGET = `
  DELETE FROM notes WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM notes WHERE id <= (SELECT id FROM notes ORDER BY id DESC LIMIT 1 OFFSET ${MAX_NOTES})
    LIMIT 10000 FOR UPDATE SKIP LOCKED))`;

/** Deletes the oldest notes of all cases where there are too many. */
export function createNotes({ run }: Pick<Database, "run">) {
  let sinceForgotten = 0;
  return {
    /** To be told of notes that were added. */
    async added(count: number): Promise<void> {
      sinceForgotten += count;
      if (sinceForgotten < NOTES_BETWEEN) return;
      sinceForgotten = 0;
      try {
        await run(FORGET);
      } catch (error) {
        // The notes that were added are kept. The next ones try again.
        if (!(error instanceof StoreUnavailable)) throw error;
      }
    },
  };
}
