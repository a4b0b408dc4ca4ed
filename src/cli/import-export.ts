import { journalFolderOf } from "../config.ts";
import { curtSource } from "../moving/curt-source.ts";
import { EXPORTED, type Exported } from "../moving/export-line.ts";
import { fillStore } from "../moving/fill.ts";
import { UnreadableSource } from "../moving/source.ts";
import { describeStore } from "../settings/database-url.ts";
import { openToFill } from "../store/open.ts";
import { hasSegments } from "../visits/journal/slots.ts";
import type { Importing } from "./importing.ts";
import { NAMES } from "./names.ts";
import { fail, note, print } from "./print.ts";

/** Imports a file of `curt export`: all of it into an empty store, links and visits into one that is in use. */
export async function importExport(importing: Importing): Promise<number> {
  const { config, options } = importing;
  // A store that is served is in use, even if it has no links yet.
  const mayFill = !hasSegments(journalFolderOf(config.database, config.dataFolder));
  if (mayFill && options["dry-run"] !== true) {
    const filled = await fill(importing);
    if (filled !== undefined) return filled;
  }
  const others = new Map<Exported, number>();
  const source = curtSource({
    onBroken: brokenLines(importing, "Nothing was written."),
    onOther: (kind) => void others.set(kind, (others.get(kind) ?? 0) + 1),
  });
  const code = await importing.takeIn(source);
  const kept = [...others].map(([kind, count]) => `${count.toLocaleString("en")} ${NAMES[kind]}`);
  if (code === 0 && kept.length > 0)
    note(
      `Only links and their visits are taken into a store that is in use. Left out: ${kept.join(", ")}. ` +
        "Manage keys of these links work only where the store's secret is the same.",
    );
  return code;
}

/** Undefined if the store is in use. */
async function fill(importing: Importing): Promise<number | undefined> {
  const { config, input, left, progress } = importing;
  const store = describeStore(config.database);
  const filled = await openToFill(config.database);
  try {
    const outcome = await fillStore(input.bytes, filled, {
      onBroken: brokenLines(importing, "What came before it was written: the same command goes on there."),
      onRecords: (count) => progress.tell("importing", input.progress(), count),
    });
    progress.end();
    switch (outcome.kind) {
      case "in-use":
        return undefined;
      case "other-source":
        return fail(`${store} is a copy of ${outcome.source}. Import to an empty database.`);
      case "filled": {
        left.print();
        const counts = await filled.count();
        const all = EXPORTED.map((kind) => `${counts[kind].toLocaleString("en")} ${NAMES[kind]}`);
        const what = left.count() > 0 ? "everything else" : "everything";
        print(`${store} has ${what} of the export: ${all.join(", ")}`);
        return 0;
      }
    }
  } finally {
    await filled.close();
  }
}

/** Ends the import, unless broken lines are to be passed over. */
function brokenLines({ options, left }: Importing, written: string) {
  return (line: number, why: string): void => {
    if (options["skip-bad"] !== true)
      throw new UnreadableSource(
        `is broken at line ${line.toLocaleString("en")}: ${why}. Use a whole file, or --skip-bad to pass over broken lines. ${written}`,
      );
    left.add({ place: `line ${line}`, code: "", why: { kind: "row", reason: `the line is broken: ${why}` } });
  };
}
