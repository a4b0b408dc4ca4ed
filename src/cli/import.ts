import type { Config } from "../config.ts";
import type { Source } from "../moving/source.ts";
import { SOURCES } from "../moving/sources.ts";
import type { Arguments } from "./command.ts";
import { importExport } from "./import-export.ts";
import { openImport } from "./importing.ts";
import { fail } from "./print.ts";

/** Takes in a file of `curt export` or, with --from, of another shortener; returns the exit code. */
export async function importFile(config: Config, args: Arguments): Promise<number> {
  const { options } = args;
  const from = options["from"];
  if (from === undefined && options["keep-odd"] === true) return fail("--keep-odd needs --from.");
  if (from !== undefined && options["skip-bad"] === true)
    return fail("--skip-bad is for files of curt export. With --from, bad rows are passed over and listed.");
  const source: Source | undefined = SOURCES[String(from)];
  if (options["domain"] !== undefined && source?.hasDomains !== true) {
    const names = Object.keys(SOURCES).filter((name) => SOURCES[name]?.hasDomains);
    return fail(`--domain needs --from ${names.join("|")}.`);
  }
  return openImport(config, args, async (importing) => {
    return source === undefined ? importExport(importing) : importing.takeIn(source);
  });
}
