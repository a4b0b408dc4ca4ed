import type { ImportedLink, LinkImporter } from "../store/shared/records.ts";
import type { ImportItem } from "./import-items.ts";
import { type BrokenRule, type ImportRules, isSameLink, parseLink } from "./imported-link.ts";
import { openStagingFile, type StagedLink } from "./staging-file.ts";

/** Links and days per transaction. Creates wait for it, about 20 ms. */
const BATCH_ROWS = 1000;

export interface SkippedRow {
  readonly place: string;
  readonly code: string;
  readonly why: SkipReason;
}

export type SkipReason =
  | BrokenRule
  /** Another link has the code. */
  | { readonly rule: "conflict.store" | "conflict.file" }
  | { readonly rule: "visits.no-link" }
  /** The reader of the file gives the reason. */
  | { readonly rule: "row"; readonly reason: string };

export interface ImportResult {
  /** Links in the file, without rows that its reader skipped. */
  readonly links: number;
  readonly added: number;
  /** Links that the store had already. */
  readonly known: number;
  /** Visits of the added links, by people and bots. */
  readonly visits: number;
  /** Added links that belong to somebody. */
  readonly owned: number;
}

export interface ImportOptions extends ImportRules {
  /** In a dry run, `add` only looks the links up. */
  readonly importer: Pick<LinkImporter, "add">;
  onSkipped(row: SkippedRow): void;
  onRead?: () => void;
  onAdded?: (
    progress: { readonly done: number; readonly all: number; readonly added: number },
    count: number,
  ) => void;
}

/** Reads a whole file, then adds its links. After an interruption, another call skips those already added. */
export async function importLinks(
  items: AsyncIterable<ImportItem>,
  options: ImportOptions,
): Promise<ImportResult> {
  const { importer, onSkipped, onRead, onAdded } = options;
  using staging = openStagingFile();
  for await (const item of items) {
    if (item.kind === "link") {
      staging.addLink(item);
      onRead?.();
    } else if (item.kind === "skipped")
      onSkipped({ place: item.place, code: item.code, why: { rule: "row", reason: item.reason } });
    else if (item.place === undefined || staging.hasLink(item.key)) staging.addVisits(item);
    else onSkipped({ place: item.place, code: String(item.key), why: { rule: "visits.no-link" } });
  }
  const links = staging.countLinks();
  const sums = { added: 0, known: 0, visits: 0, owned: 0 };
  let done = 0;
  for (const batch of staging.batches(BATCH_ROWS)) {
    const accepted: { staged: StagedLink; link: ImportedLink }[] = [];
    const skip = ({ place, code }: StagedLink, why: SkipReason) => onSkipped({ place, code, why });
    for (const staged of batch) {
      const link = parseLink(staged, options);
      if ("rule" in link) skip(staged, link);
      else if (!staging.addCode(link.code)) skip(staged, { rule: "conflict.file" });
      else accepted.push({ staged, link });
    }
    const existing = await importer.add(accepted.map(({ link }) => link));
    for (const [nth, { staged, link }] of accepted.entries()) {
      const stored = existing[nth];
      if (stored === undefined) {
        sums.added++;
        if (link.terms?.owner !== undefined) sums.owned++;
        sums.visits += link.days.reduce((sum, { visits, bots }) => sum + visits + bots, 0);
      } else if (isSameLink(stored, link, staged)) sums.known++;
      else skip(staged, { rule: "conflict.store" });
    }
    done += batch.length;
    onAdded?.({ done, all: links, added: sums.added }, batch.length);
  }
  return { links, ...sums };
}
