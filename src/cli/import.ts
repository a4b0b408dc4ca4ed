import type { Config } from "../config/config.ts";
import { readLinks, readVisits } from "../transfer/csv-links.ts";
import { type SourceItem, UnreadableSource } from "../transfer/source.ts";
import type { Arguments } from "./command.ts";
import { importExport } from "./import-export-file.ts";
import { brokenLines, type Importing, openImport } from "./import-run.ts";
import { openInput } from "./terminal/input.ts";
import { fail } from "./terminal/print.ts";

/** Imports a file of `curt export`, or a table of links; returns the exit code. */
export async function importFile(config: Config, args: Arguments): Promise<number> {
  const { domain, visits } = args.options as { readonly domain?: string; readonly visits?: string };
  return openImport(config, args, async (importing) => {
    // A table starts with column names.
    const isExport = (await importing.input.firstLine()).startsWith("{");
    if (!isExport) return importing.takeIn(itemsOf(importing, domain, visits));
    return domain === undefined && visits === undefined
      ? importExport(importing)
      : fail("--domain and --visits are for CSV files. An export has the visits of its links.");
  });
}

async function* itemsOf(
  importing: Importing,
  domain: string | undefined,
  visits: string | undefined,
): AsyncGenerator<SourceItem> {
  yield* readLinks(importing.input, { domain, onBroken: brokenLines(importing) });
  if (visits === undefined) return;
  try {
    yield* readVisits(openInput(visits), { onBroken: brokenLines(importing, { of: ` of ${visits}` }) });
  } catch (error) {
    throw error instanceof UnreadableSource ? new UnreadableSource(error.message, visits) : error;
  }
}
