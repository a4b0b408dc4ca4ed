import type { Config } from "../config/config.ts";
import { reasonOf } from "../lib/error-reason.ts";
import type { Log } from "../lib/log.ts";
import { StoreUnusable } from "../links/store.ts";
import type { JournalTiming } from "../visits/journal/journal.ts";
import type { OpenRecorder, Visits } from "../visits/visits.ts";

/** Opens the journal of visits, and logs its troubles. Throws {@link StoreUnusable}. */
export async function openRecorder(
  { journalFolder }: Config,
  log: Log,
  visits: Visits,
  limits: JournalTiming,
  onFault: (error: unknown) => void,
): Promise<OpenRecorder> {
  try {
    return await visits.openRecorder({
      ...limits,
      folder: journalFolder,
      onFault,
      onDropped: (path) =>
        log.warn(
          { path },
          "visits that a power cut or a damaged file left behind cannot be trusted: not counted",
        ),
      onTrouble(reason) {
        if (reason !== undefined) log.warn(`visits are not counted: ${reason}`);
        else log.info("visits are counted again");
      },
      // Removing the machine now would lose them.
      onLeft: () =>
        log.warn(
          { folder: journalFolder },
          "the last visits stay in the journal: the next start adds them to the database",
        ),
    });
  } catch (cause) {
    if (cause instanceof StoreUnusable) throw cause;
    throw new StoreUnusable(
      `${journalFolder} cannot keep visits until they are in the store: ${reasonOf(cause)}. Set DATA_DIR to a folder that Curt can write to.`,
      { cause },
    );
  }
}
