import { describeStore } from "../config/database-url.ts";
import type { Link } from "../links/link.ts";
import { isOwnTarget } from "../links/target.ts";
import { arrivalRules } from "../server/core.ts";
import { fillStore, hasStore, openRecords } from "../store/open.ts";
import { type Counts, type Kind, KINDS, type WriteRecords } from "../store/records.ts";
import { readLinksAndVisits } from "../transfer/export-links.ts";
import { fillFrom } from "../transfer/fill-store.ts";
import { hasSegments } from "../visits/journal/slots.ts";
import { brokenLines, type Importing } from "./import-run.ts";
import { counted } from "./record-names.ts";
import { note, print } from "./terminal/print.ts";

/** Imports a file of `curt export`: all of it into an empty store, links and visits into one that is in use. */
export async function importExport(importing: Importing): Promise<number> {
  const { config, options, left, progress } = importing;
  // A store that is served is in use, even if it has no links yet.
  const mayFill = !hasSegments(config.journalFolder);
  const isDryRun = options["dry-run"] === true;
  const counts = mayFill ? await (isDryRun ? tryToFill(importing) : fill(importing)) : undefined;
  if (counts !== undefined) {
    progress.end();
    left.print();
    const all = KINDS.map((kind) => counted(kind, counts[kind]));
    const what = left.count() > 0 ? "everything else" : "everything";
    print(
      `${describeStore(config.database)} ${isDryRun ? "would have" : "has"} ${what} of the export: ${all.join(", ")}`,
    );
    return 0;
  }
  const others = new Map<Kind, number>();
  const items = readLinksAndVisits(importing.input, {
    onBroken: brokenLines(importing),
    onOther: (kind) => void others.set(kind, (others.get(kind) ?? 0) + 1),
  });
  // Its odd codes are from other services, whose users chose them.
  const code = await importing.takeIn(items, { keepOdd: true });
  const kept = [...others].map(([kind, count]) => counted(kind, count));
  if (code === 0 && kept.length > 0)
    note(
      `Only links and their visits are taken into a store that is in use. Left out: ${kept.join(", ")}. ` +
        "Manage keys of these links work only where the store's secret is the same.",
    );
  return code;
}

/** Returns the number of records written; undefined if the store is in use. */
function fill(importing: Importing): Promise<Counts | undefined> {
  return fillStore(importing.config.database, (write) => fillWith(importing, write));
}

async function tryToFill(importing: Importing): Promise<Counts | undefined> {
  const { database } = importing.config;
  if (await hasStore(database)) {
    const records = await openRecords(database);
    const isEmpty = await records.isEmpty();
    await records.close();
    if (!isEmpty) return undefined;
  }
  return fillWith(importing, async (_, records) => records.length);
}

function fillWith(importing: Importing, write: WriteRecords): Promise<Counts> {
  const { input, options, progress } = importing;
  const name = options["dry-run"] === true ? "reading" : "importing";
  return fillFrom(input.bytes(), write, {
    onBroken: brokenLines(importing),
    leaves: ownLinks(importing),
    onRecords: (count) => progress.report(name, input.progress(), count),
  });
}

/** Links to this service would lead in a circle. The rules may have been others where the export was made. */
function ownLinks({ config, left }: Importing) {
  const { targetPolicy } = arrivalRules(config);
  return ({ code, target }: Link, line: number): boolean => {
    if (!isOwnTarget(target, targetPolicy)) return false;
    left.add({ place: `line ${line}`, code, why: { kind: "refused", by: { rule: "target.own" } } });
    return true;
  };
}
