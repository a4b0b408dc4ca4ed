// Fills an empty store with an export: all that it holds.
import type { FilledRecords, Kind } from "../store/records.ts";
import type { Place } from "./lines.ts";
import { readExport, type ReadOptions, type Run } from "./read-export.ts";

/** What is kept in the store as the source of its copy. */
const SOURCE = "a file of curt export";
/** The progress of a copy of which nothing is written. */
const NOTHING = "{}";

interface Progress extends Place {
  readonly lines: number;
  /** Entries of the journal after that place that were written, too. Nothing else must not be written twice. */
  readonly entries: number;
}

export type FillOutcome =
  | { readonly kind: "filled"; readonly isContinued: boolean }
  /** The store has records of its own. Nothing was read. */
  | { readonly kind: "in-use" }
  | { readonly kind: "other-source"; readonly source: string };

interface FillOptions extends ReadOptions {
  onRecords(count: number): void;
}

/** If this is cut off, the next call goes on where it was, with the same file or a longer one. */
export async function fillStore(
  bytes: () => AsyncIterable<Uint8Array>,
  filled: FilledRecords,
  { onBroken, onRecords }: FillOptions,
): Promise<FillOutcome> {
  const begun = await filled.begin({ source: SOURCE, progress: NOTHING });
  if (begun === undefined) return { kind: "in-use" };
  if (begun.source !== SOURCE) return { kind: "other-source", source: begun.source };
  let before = begun.progress;
  const known = before === NOTHING ? undefined : (JSON.parse(before) as Progress);
  let written = known?.entries ?? 0;
  let place: Omit<Progress, "entries"> = known ?? { end: 0, sha256: "", lines: 0 };

  async function write({ kind, records }: Pick<Run, "kind" | "records">, progress: Progress): Promise<void> {
    const after = JSON.stringify(progress);
    await filled.write<Kind>(kind, records, { before, after });
    before = after;
    onRecords(records.length);
  }

  try {
    for await (const { runs, place: reached } of readExport(bytes(), { onBroken, from: known })) {
      let entries = 0;
      for (const [nth, { kind, records }] of runs.entries()) {
        const isEntry = kind === "entry";
        const missing = isEntry ? records.slice(Math.max(0, written - entries)) : records;
        if (isEntry) entries += records.length;
        const isLast = nth === runs.length - 1;
        await write(
          { kind, records: missing },
          isLast ? { ...reached, entries: 0 } : { ...place, entries: Math.max(written, entries) },
        );
      }
      place = reached;
      if (runs.length > 0) written = 0;
    }
  } catch (error) {
    // A wrong file must not leave a store that cannot be served.
    if (before === NOTHING) await filled.abandon(NOTHING);
    throw error;
  }
  await filled.finish();
  return { kind: "filled", isContinued: known !== undefined };
}
