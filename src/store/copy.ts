// Copies all records of one store to another, and compares them.
import type { Link } from "../links/link.ts";
import type { Sums } from "../visits/day.ts";
import { type Counts, type FilledRecords, type Kind, KINDS, type Records } from "./records.ts";

/** Records in one transaction. Memory is bounded by two parts: at most some 60 MB of the longest URLs. */
const PART_RECORDS = 2000;
/** Cases may have twenty long notes each, and days long details. */
const PART_RECORDS_OF: Partial<Readonly<Record<Kind, number>>> = { case: 100, day: 1000 };
/** Links that are compared one by one, so many at once. */
const COMPARED_LINKS = 1000;
const COMPARED_AT_ONCE = 100;

/** What is kept of each kind that was begun. */
type Progress = Partial<Record<Kind, KindProgress>>;

interface KindProgress {
  readonly cursor: string;
  readonly copied: number;
  readonly isDone: boolean;
}

export type CopyOutcome =
  | { readonly kind: "copied" }
  /** The store that was to be filled has records of its own. */
  | { readonly kind: "in-use" }
  /** It is, or was, filled from another store. */
  | { readonly kind: "other-source"; readonly source: string };

export interface CopyWatch {
  /** Called if the copy was begun before: it goes on, or is repeated if it was through. */
  onAgain(how: "continued" | "repeated"): void;
  onPart(kind: Kind, progress: KindProgress): void;
}

/**
 * Fills a store. If this is cut off, the next call goes on where it was. If it was through, the next one reads everything
 * again and corrects what differs. Only entries of the journal, which never change, are not read again.
 */
export async function copyRecords(
  from: Records,
  to: FilledRecords,
  source: string,
  { onAgain, onPart }: CopyWatch,
): Promise<CopyOutcome> {
  const begun = await to.begin({ source, progress: "{}" });
  if (begun === undefined) return { kind: "in-use" };
  if (begun.source !== source) return { kind: "other-source", source: begun.source };
  let before = begun.progress;
  let progress = JSON.parse(before) as Progress;
  const { entry } = progress;
  if (entry !== undefined && KINDS.every((kind) => progress[kind]?.isDone === true)) {
    onAgain("repeated");
    progress = { entry: { ...entry, isDone: false } };
    await to.write("link", [], { before, after: JSON.stringify(progress) });
    before = JSON.stringify(progress);
  } else if (before !== "{}") {
    onAgain("continued");
  }

  async function copyKind(kind: Kind): Promise<void> {
    const limit = PART_RECORDS_OF[kind] ?? PART_RECORDS;
    let { cursor, copied, isDone } = progress[kind] ?? { cursor: "", copied: 0, isDone: false };
    let reading = isDone ? undefined : from.read(kind, cursor, limit);
    while (reading !== undefined) {
      const part = await reading;
      // The next part is read while this one is written.
      reading = part.hasMore ? from.read(kind, part.cursor, limit) : undefined;
      reading?.catch(() => {});
      cursor = part.cursor;
      isDone = !part.hasMore;
      copied += part.records.length;
      progress = { ...progress, [kind]: { cursor, copied, isDone } };
      const after = JSON.stringify(progress);
      await to.write(kind, part.records, { before, after });
      before = after;
      onPart(kind, { cursor, copied, isDone });
    }
  }

  for (const kind of KINDS) await copyKind(kind);
  return { kind: "copied" };
}

export type Difference =
  | {
      readonly kind: "count";
      readonly of: keyof Counts;
      readonly from: number;
      readonly to: number;
    }
  | { readonly kind: "link"; readonly code: string };

/** Compares how many records of each kind there are, and some links one by one with the sums of their visits. */
export async function compareRecords(from: Records, to: Records) {
  const [counts, copied] = await Promise.all([from.count(), to.count()]);
  const names = Object.keys(counts) as (keyof Counts)[];
  const differences: Difference[] = names
    .filter((of) => counts[of] !== copied[of])
    .map((of) => ({ kind: "count", of, from: counts[of], to: copied[of] }));
  const links = await to.spread(COMPARED_LINKS);
  for (let at = 0; at < links.length; at += COMPARED_AT_ONCE) {
    const some = links.slice(at, at + COMPARED_AT_ONCE);
    const differing = await Promise.all(some.map(async (link) => !(await isSame(link, from, to))));
    differences.push(
      ...some.filter((_, nth) => differing[nth]).map(({ code }) => ({ kind: "link", code }) as const),
    );
  }
  return { counts, compared: links.length, differences };
}

async function isSame(link: Link, from: Records, to: Records): Promise<boolean> {
  const { code, createdMs } = link;
  const sums = (records: Records): Promise<Sums> => records.sums(code, createdMs);
  const [original, one, other] = await Promise.all([from.find(code), sums(from), sums(to)]);
  return Bun.deepEquals(original, link) && one.visits === other.visits && one.bots === other.bots;
}
