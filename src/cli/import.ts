import type { Config } from "../config.ts";
import { readLinks, readVisits } from "../moving/csv-source.ts";
import { type SourceItem, UnreadableSource } from "../moving/source.ts";
import type { Arguments } from "./command.ts";
import { importExport } from "./import-export.ts";
import { brokenLines, type Importing, openImport } from "./importing.ts";
import { openInput } from "./input.ts";
import { fail } from "./print.ts";

/** Imports a file of `curt export`, or a table of links; returns the exit code. */
export async function importFile(config: Config, args: Arguments): Promise<number> {
  const { domain, visits } = args.options as { readonly domain?: string; readonly visits?: string };
  return openImport(config, args, async (importing) => {
    // A table begins with the names of its columns.
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
