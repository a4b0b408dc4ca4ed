// Fills an empty store with an export: all that it holds.
import type { Link } from "../links/link.ts";
import type { Counts, FilledRecords, Kind, RecordOf } from "../store/records.ts";
import { EXPORTED, type Exported } from "./export-line.ts";
import { type Reached, readExport, type ReadOptions, type Run } from "./read-export.ts";

/** What is kept in the store as the source of its copy. */
const SOURCE = "a file of curt export";
/** The progress of a copy of which nothing is written. */
const NOTHING = "{}";

interface Progress extends Reached {
  /** Entries of the journal after that place that were written, too. Nothing else must not be written twice. */
  readonly entries: number;
  /** Links that were left out. */
  readonly left?: number;
}

export type FillOutcome =
  | { readonly kind: "filled"; readonly counts: Counts }
  /** The store has records of its own. Nothing was read. */
  | { readonly kind: "in-use" }
  | { readonly kind: "other-source"; readonly source: string };

interface FillOptions extends ReadOptions {
  /** Whether a link is left out. */
  leaves(link: Link, line: number): boolean;
  onRecords(count: number): void;
}

/** If this is cut off, the next call goes on where it was, with the same file or a longer one. */
export async function fillStore(
  bytes: () => AsyncIterable<Uint8Array>,
  filled: FilledRecords,
  { onBroken, leaves, onRecords }: FillOptions,
): Promise<FillOutcome> {
  const begun = await filled.begin({ source: SOURCE, progress: NOTHING });
  if (begun === undefined) return { kind: "in-use" };
  if (begun.source !== SOURCE) return { kind: "other-source", source: begun.source };
  let before = begun.progress;
  const known = before === NOTHING ? undefined : (JSON.parse(before) as Progress);
  let written = known?.entries ?? 0;
  let left = known?.left ?? 0;
  let place: Reached = known ?? { end: 0, sha256: "", lines: 0 };

  async function write({ kind, records }: Pick<Run, "kind" | "records">, progress: Progress): Promise<void> {
    const after = JSON.stringify(progress);
    await filled.write<Kind>(kind, records, { before, after });
    before = after;
    onRecords(records.length);
  }

  /** Links that are not left out, or entries that are not there yet; all of any other kind. */
  function wanted({ kind, line, records }: Run, entries: number): Run["records"] {
    if (kind === "entry") return records.slice(Math.max(0, written - entries));
    if (kind !== "link") return lastOfEach(kind, records);
    const links = (records as Link[]).filter((link, nth) => !leaves(link, line + nth));
    left += records.length - links.length;
    return lastOfEach(kind, links);
  }

  for await (const { runs, place: reached } of readExport(bytes(), { onBroken, from: known })) {
    let entries = 0;
    const leftBefore = left;
    for (const [nth, run] of runs.entries()) {
      const records = wanted(run, entries);
      if (run.kind === "entry") entries += run.records.length;
      const isLast = nth === runs.length - 1;
      await write(
        { kind: run.kind, records },
        isLast
          ? { ...reached, entries: 0, left }
          : { ...place, entries: Math.max(written, entries), left: leftBefore },
      );
    }
    place = reached;
    if (runs.length > 0) written = 0;
  }
  const counts = await filled.count();
  for (const kind of EXPORTED) {
    const twice = (place.records?.[kind] ?? 0) - (kind === "link" ? left : 0) - counts[kind];
    if (twice > 0) onBroken(place.lines + 1, `lines of the kind ${kind} that repeat another one: ${twice}`);
  }
  await filled.finish();
  return { kind: "filled", counts };
}

type Keys = { readonly [K in Exclude<Exported, "entry">]: (record: RecordOf[K]) => string };

/** What no two records of a kind have in common. */
const KEYS: Keys = {
  link: ({ code }) => code,
  day: ({ day, createdMs, code }) => `${day} ${createdMs} ${code}`,
  secret: ({ name }) => name,
  host: ({ host }) => host,
  case: ({ createdMs, code }) => `${createdMs} ${code}`,
  counter: ({ day, name }) => `${day} ${name}`,
};

/** PostgreSQL does not write a row twice in one statement. */
function lastOfEach(kind: Exclude<Exported, "entry">, records: Run["records"]): Run["records"] {
  const keyOf = KEYS[kind] as (record: RecordOf[Exported]) => string;
  return [...new Map(records.map((record) => [keyOf(record), record])).values()];
}
