import { type Config, journalFolderOf } from "../config/config.ts";
import { describeStore } from "../config/database-url.ts";
import type { Link } from "../links/link.ts";
import { isOwnTarget } from "../links/target.ts";
import { arrivalRules } from "../server/core.ts";
import { hasStore, openRecords, openToFill } from "../store/open.ts";
import type { Kind } from "../store/records.ts";
import { EXPORTED, type Exported } from "../transfer/export-line.ts";
import { readLinksAndVisits } from "../transfer/export-links.ts";
import { fillStore } from "../transfer/fill-store.ts";
import { wrongHeader } from "../transfer/parse-line.ts";
import { readExport } from "../transfer/read-export.ts";
import { UnreadableSource } from "../transfer/source.ts";
import { hasSegments } from "../visits/journal/slots.ts";
import { brokenLines, type Importing } from "./import-run.ts";
import { counted } from "./record-names.ts";
import { fail, note, print } from "./terminal/print.ts";

/** Imports a file of `curt export`: all of it into an empty store, links and visits into one that is in use. */
export async function importExport(importing: Importing): Promise<number> {
  const { config, options } = importing;
  // A store that is served is in use, even if it has no links yet.
  const mayFill = !hasSegments(journalFolderOf(config.database, config.dataFolder));
  if (mayFill) {
    const filled = await (options["dry-run"] === true ? tryToFill(importing) : fill(importing));
    if (filled !== undefined) return filled;
  }
  const others = new Map<Exported, number>();
  const items = readLinksAndVisits(importing.input, {
    onBroken: brokenLines(importing),
    onOther: (kind) => void others.set(kind, (others.get(kind) ?? 0) + 1),
  });
  // Its odd codes came from elsewhere, and were asked for then.
  const code = await importing.takeIn(items, { keepOdd: true });
  const kept = [...others].map(([kind, count]) => counted(kind, count));
  if (code === 0 && kept.length > 0)
    note(
      `Only links and their visits are taken into a store that is in use. Left out: ${kept.join(", ")}. ` +
        "Manage keys of these links work only where the store's secret is the same.",
    );
  return code;
}

/** Undefined if the store is in use. */
async function fill(importing: Importing): Promise<number | undefined> {
  const { config, input, progress } = importing;
  const store = describeStore(config.database);
  // A wrong file must not leave a store that Curt won't start on.
  const wrong = wrongHeader(await input.firstLine());
  if (wrong !== undefined) throw new UnreadableSource(wrong);
  const filled = await openToFill(config.database);
  try {
    const outcome = await fillStore(input.bytes, filled, {
      onBroken: brokenLines(importing, {
        end: "Curt won't start on this store until the import finishes; the same command continues it.",
      }),
      leaves: ownLinks(importing),
      onRecords: (count) => progress.tell("importing", input.progress(), count),
    });
    progress.end();
    switch (outcome.kind) {
      case "in-use":
        return undefined;
      case "other-source":
        return fail(`${store} is a copy of ${outcome.source}. Import to an empty database.`);
      case "filled": {
        tellFilled(importing, "has", outcome.counts);
        return 0;
      }
    }
  } finally {
    await filled.close();
  }
}

/** Says what would be filled; undefined if the store is in use. */
async function tryToFill(importing: Importing): Promise<number | undefined> {
  const { config, input, progress } = importing;
  if (!(await isEmpty(config.database))) return undefined;
  const leaves = ownLinks(importing);
  const counts = Object.fromEntries(EXPORTED.map((kind) => [kind, 0])) as Record<Exported, number>;
  const onBroken = brokenLines(importing);
  for await (const { runs } of readExport(input.bytes(), { onBroken }))
    for (const { kind, line, records } of runs) {
      const left = kind === "link" ? (records as Link[]).filter((link, nth) => leaves(link, line + nth)) : [];
      counts[kind] += records.length - left.length;
      progress.tell("reading", input.progress(), records.length);
    }
  progress.end();
  tellFilled(importing, "would have", counts);
  return 0;
}

/** Whether the store would be filled: secrets and counters do not matter. */
async function isEmpty(database: Config["database"]): Promise<boolean> {
  if (!(await hasStore(database))) return true;
  const records = await openRecords(database);
  try {
    for (const kind of ["link", "day", "host", "entry", "case"] as const satisfies readonly Kind[])
      if ((await records.read(kind, "", 1)).records.length > 0) return false;
    return true;
  } finally {
    await records.close();
  }
}

function tellFilled(
  { config, left }: Importing,
  has: string,
  counts: Readonly<Record<Exported, number>>,
): void {
  left.print();
  const all = EXPORTED.map((kind) => counted(kind, counts[kind]));
  const what = left.count() > 0 ? "everything else" : "everything";
  print(`${describeStore(config.database)} ${has} ${what} of the export: ${all.join(", ")}`);
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
