import type { Statements } from "../shared/sql.ts";
import { isFailedSync } from "./file/failed-sync.ts";
import { type Identity, identify, watchPlace } from "./file/file-identity.ts";
import { closeWriter, openSecondWriter, openWriter } from "./file/file.ts";
import { fail, statementsOn, trying } from "./sql.ts";

/**
 * Opens a connection for statements. `opened`: the files that this process has open, if any. Its methods refuse to write to
 * files that are gone, as the writer does. Throws {@link StoreUnusable}.
 */
export function openSqliteStatements(
  path: string,
  opened?: Identity,
): Statements & { close(): Promise<void> } {
  const file = opened === undefined ? openWriter(path) : openSecondWriter(path, opened);
  const place = watchPlace(path, opened ?? identify(path));
  const { run, transaction } = statementsOn(file);
  let hasFailedSync = false;

  async function inPlace<T>(work: () => Promise<T>): Promise<T> {
    place.requireNow();
    const result = await work().catch((error: unknown) => {
      hasFailedSync ||= isFailedSync(error);
      return fail(error);
    });
    place.requireNow();
    return result;
  }

  return {
    run: (text, values) => inPlace(() => run(text, values)),
    transaction: (work) => inPlace(() => transaction(work)),
    async close() {
      // Closing would try the sync again.
      if (hasFailedSync) return;
      if (opened === undefined) trying(() => closeWriter(file));
      else file.close();
    },
  };
}
