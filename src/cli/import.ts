import { type Config, ConfigError } from "../config/config.ts";
import { describeStore } from "../config/database-url.ts";
import type { CodeCase } from "../links/code.ts";
import { StoreUnavailable, StoreUnusable, SyncFailed } from "../links/link-store.ts";
import { MAX_NAME_LENGTH } from "../links/name.ts";
import { isOwnTarget } from "../links/target.ts";
import { importRules } from "../server/core.ts";
import { fillStore, hasStore, openImporter, openRecords, removeEmptyStore } from "../store/open.ts";
import { otherCodeCase } from "../store/shared/first-links.ts";
import {
  type Counts,
  type Kind,
  KINDS,
  type LinkImporter,
  type WriteRecords,
} from "../store/shared/records.ts";
import { isBeacon, readBeacon } from "../transfer/beacon.ts";
import { createAddresses, readLinks, readVisits } from "../transfer/csv.ts";
import { fillFrom, readLinksAndVisits } from "../transfer/export-file.ts";
import { readCodeCase } from "../transfer/export-line.ts";
import { isGolink, readGolink } from "../transfer/golink.ts";
import { type ImportItem, type OnBrokenLine, UnreadableFile } from "../transfer/import-items.ts";
import { importLinks } from "../transfer/import-links.ts";
import { journalState } from "../visits/journal/journal-state.ts";
import type { Arguments } from "./command.ts";
import { isInput, openInput } from "./terminal/input.ts";
import { fail, note, plural, print } from "./terminal/print.ts";
import { type ProgressLine, showProgress } from "./terminal/progress.ts";
import { formatCount } from "./terminal/record-names.ts";
import { openSkippedRows } from "./terminal/skipped-rows.ts";

interface Options {
  readonly domain?: string;
  readonly visits?: string;
  readonly report?: string;
  readonly new?: boolean;
  readonly "dry-run"?: boolean;
  readonly "keep-odd"?: boolean;
  readonly "skip-bad"?: boolean;
}

interface ImportRun {
  readonly config: Config;
  readonly options: Options;
  readonly input: ReturnType<typeof openInput>;
  readonly skipped: ReturnType<typeof openSkippedRows>;
  readonly progress: ProgressLine;
}

/** Imports a file of `curt export`, or a table of links; returns the exit code. */
export async function importFile(
  config: Config,
  { positionals: [file = "-"], options: given }: Arguments,
): Promise<number> {
  const options: Options = given;
  const { domain, visits, report } = options;
  const { database } = config;
  const store = database.engine === "sqlite" ? [database.path, `${database.path}-wal`] : [];
  if (report !== undefined && [file, visits ?? file, ...store].some((one) => isInput(report, one)))
    return fail("--report would overwrite an input file or the store. Name another one.");
  using skipped = openSkippedRows(report);
  using progress = showProgress();
  let isNew = false;
  try {
    const run: ImportRun = { config, options, input: openInput(file), skipped, progress };
    // A table starts with the names of its columns, a link dump with #, and an export of golink with a link.
    const firstLine = await run.input.firstLine();
    isNew = options["dry-run"] !== true && !(await hasStore(database));
    const refused = options.new === true ? undefined : await refuseMissing(database, options);
    if (refused !== undefined) return refused;
    if (isGolink(firstLine)) return await importGolink(run);
    const read = isBeacon(firstLine) ? readBeacon : readLinks;
    if (!firstLine.startsWith("{")) return await importTables(run, read);
    if (domain !== undefined || visits !== undefined)
      return fail(
        "--domain and --visits are for files of other shorteners. An export has the visits of its links.",
      );
    return await importExport(run, readCodeCase(firstLine) ?? config.codeCase);
  } catch (error) {
    progress.end();
    if (isNew && !(error instanceof StoreUnavailable)) removeEmptyStore(database);
    if (error instanceof UnreadableFile)
      return fail(`${error.file ?? (file === "-" ? "standard input" : file)} ${error.message}`);
    throw error;
  }
}

/** Asks on a terminal whether to create a missing store. Returns the exit code if it mustn't. */
async function refuseMissing(database: Config["database"], options: Options): Promise<number | undefined> {
  if (await hasStore(database)) return undefined;
  const missing = `there is no store at ${describeStore(database)}`;
  if (options["dry-run"] === true) note(`${missing}: the import needs --new to create it`);
  else if (!process.stdin.isTTY)
    return fail(`${missing}. To create it, add --new. Otherwise set DATABASE_URL or DATA_DIR.`, 2);
  else if (!confirm(`curt: ${missing}. Create it?`)) return 1;
  return undefined;
}

/** From this number on, codes without capitals are no chance. */
const FEW_CODES = 20;

interface CodeCounts {
  lower: number;
  withCapitals: number;
}

async function importTables(run: ImportRun, read: typeof readLinks): Promise<number> {
  const codes: CodeCounts = { lower: 0, withCapitals: 0 };
  const exitCode = await importItems(run, readTables(run, read, codes), run.options["keep-odd"] === true);
  if (run.config.codeCase === "match" && codes.withCapitals === 0 && codes.lower >= FEW_CODES)
    note(
      "None of these codes has a capital. If their shortener ignores capitals, as Dub and Sink do, addresses in print may have some: import into a new store with CODE_CASE=ignore",
    );
  return exitCode;
}

/** Keeps who owns each link: the file names them. */
async function importGolink(run: ImportRun): Promise<number> {
  let ownerless = 0;
  const onNoOwner = () => void ownerless++;
  const read: typeof readLinks = (input, options) => readGolink(input, { ...options, onNoOwner });
  const exitCode = await importItems(run, readTables(run, read), run.options["keep-odd"] === true);
  if (ownerless > 0)
    note(
      `${plural(ownerless, "link")} of the file ${ownerless === 1 ? "has an owner whose name" : "have owners whose names"} can't be one here: letters, digits and . _ - @, at most ${MAX_NAME_LENGTH}. Such links have no owner.`,
    );
  if (run.config.codeCase === "match")
    note(
      "golink ignores capitals, and this store doesn't. To keep all spellings, import into a new store with CODE_CASE=ignore",
    );
  return exitCode;
}

async function* readTables(
  run: ImportRun,
  read: typeof readLinks,
  codes: CodeCounts = { lower: 0, withCapitals: 0 },
): AsyncGenerator<ImportItem> {
  const { domain, visits } = run.options;
  const { keyPrefixes, lastDay } = importRules(run.config);
  const addresses = createAddresses(domain);
  for await (const item of read(run.input, { addresses, keyPrefixes, onBroken: reportBroken(run) })) {
    if (item.kind === "link" && /\p{Lu}/u.test(item.code)) codes.withCapitals++;
    else if (item.kind === "link" && /\p{Ll}/u.test(item.code)) codes.lower++;
    yield item;
  }
  if (visits === undefined) return;
  const onBroken = reportBroken(run, ` of ${visits}`);
  try {
    yield* readVisits(openInput(visits), { addresses, file: visits, lastDay, onBroken });
  } catch (error) {
    throw error instanceof UnreadableFile ? new UnreadableFile(error.message, visits) : error;
  }
}

/** Stops the import at a broken line, or skips it on request. `of` follows the line number. */
function reportBroken({ options, skipped }: ImportRun, of = ""): OnBrokenLine {
  return (line, why) => {
    if (options["skip-bad"] !== true)
      throw new UnreadableFile(
        `is broken at line ${line.toLocaleString("en")}: ${why}. Use a complete file, or --skip-bad to skip broken lines. Nothing was imported.`,
      );
    const reason = `the line is broken: ${why}`;
    skipped.add({ place: `line ${line}${of}`, code: "", why: { rule: "row", reason } });
  };
}

/**
 * Imports all of an export into an empty store, and its links and visits into a store in use. Codes of another CODE_CASE become
 * those of the store.
 */
async function importExport(run: ImportRun, codeCase: CodeCase): Promise<number> {
  const { config, options, input, skipped, progress } = run;
  const isDryRun = options["dry-run"] === true;
  // A store that is served is in use, even if it has no links yet.
  const counts =
    codeCase !== config.codeCase || journalState(config.journalFolder) === "served"
      ? undefined
      : await (isDryRun
          ? tryToFill(run)
          : fillStore(config.database, codeCase, (write) => fillWith(run, "importing", write)));
  if (counts !== undefined) {
    progress.end();
    skipped.print();
    const all = KINDS.map((kind) => formatCount(kind, counts[kind]));
    print(
      `${describeStore(config.database)} ${isDryRun ? "would have" : "has"} ${skipped.count() > 0 ? "everything else" : "everything"} from the export: ${all.join(", ")}`,
    );
    return 0;
  }
  const others = new Map<Kind, number>();
  const items = readLinksAndVisits(input.bytes(), {
    onBroken: reportBroken(run),
    lastDay: importRules(config).lastDay,
    onOther: (kind) => void others.set(kind, (others.get(kind) ?? 0) + 1),
  });
  // The exporting store has accepted odd codes on request.
  const exitCode = await importItems(run, items, true);
  if (exitCode === 0 && others.size > 0)
    note(
      `Only links and their visits are taken into a store that is in use${codeCase === config.codeCase ? "" : `, or from a store with CODE_CASE=${codeCase}`}. Left out: ${[...others].map(([kind, count]) => formatCount(kind, count)).join(", ")}. ` +
        "Manage keys of these links work only where the store's secret is the same.",
    );
  return exitCode;
}

/** Returns undefined if the store is in use. */
async function tryToFill(run: ImportRun): Promise<Counts | undefined> {
  const { database } = run.config;
  if (await hasStore(database)) {
    const records = await openRecords(database);
    try {
      if (!(await records.isFillable())) return undefined;
    } finally {
      await records.close();
    }
  }
  return fillWith(run, "reading", async (_, records) => records.length);
}

async function fillWith(run: ImportRun, action: string, write: WriteRecords): Promise<Counts> {
  const { config, input, skipped, progress } = run;
  const { journalFolder } = config;
  if (journalState(journalFolder) === "waiting")
    throw new StoreUnusable(
      `${journalFolder} has visits of another store, and a start would add them to this one. Check DATABASE_URL and DATA_DIR, or move that folder away.`,
    );
  const { targetPolicy, lastDay } = importRules(config);
  return fillFrom(input.bytes(), write, {
    onBroken: reportBroken(run),
    lastDay,
    // The exporting store may have had another address. A link to this service would be a redirect loop.
    skipLink({ code, target }, line) {
      const isOwn = isOwnTarget(target, targetPolicy);
      if (isOwn) skipped.add({ place: `line ${line}`, code, why: { rule: "target.own" } });
      return isOwn;
    },
    onRecords: (count) => progress.report(action, input.progress(), count),
  });
}

/** Adds links and their visits. */
async function importItems(
  { config, options, input, skipped, progress }: ImportRun,
  items: AsyncIterable<ImportItem>,
  keepOdd: boolean,
): Promise<number> {
  const isDryRun = options["dry-run"] === true;
  let added = 0;
  async function importAll() {
    const importer = await (isDryRun ? openLookup : openImporter)(config.database, config.codeCase);
    try {
      if (importer.codeCase !== config.codeCase) throw new ConfigError([otherCodeCase(importer.codeCase)]);
      return await importLinks(items, {
        importer,
        ...importRules(config),
        keepOdd,
        onSkipped: skipped.add,
        onRead: () => progress.report("reading", input.progress()),
        onAdded(batch, count) {
          added = batch.added;
          progress.report(isDryRun ? "looking up" : "adding", batch, count);
        },
      });
    } catch (error) {
      progress.end();
      if (error instanceof StoreUnavailable && !(error instanceof SyncFailed) && !isDryRun)
        note(`${plural(added, "link")} of the file were added and stay. Import it again to add the rest.`);
      throw error;
    } finally {
      // A failed sync matters more than an earlier error.
      await importer.close();
    }
  }
  // Prints nothing before the importer is closed, which may fail.
  const { links, known, visits, owned, ...sum } = await importAll();
  progress.end();
  skipped.print();
  const would = isDryRun ? " would be" : "";
  const sums = [
    `${sum.added.toLocaleString("en")} of ${links.toLocaleString("en")} links${would} added, with ${formatCount("visits", visits)}`,
    ...(owned === 0 ? [] : [`${owned.toLocaleString("en")} of them with an owner`]),
    `${known.toLocaleString("en")} already there`,
    `${plural(skipped.count(), "row")}${would} left out`,
  ];
  print(`${describeStore(config.database)}: ${sums.join("; ")}`);
  return 0;
}

/** Looks links up for a dry run. A missing store has no links. */
export async function openLookup(database: Config["database"], codeCase: CodeCase): Promise<LinkImporter> {
  if (!(await hasStore(database)))
    return { codeCase, add: async (links) => links.map(() => undefined), close: async () => {} };
  const { find, close, ...records } = await openRecords(database);
  return {
    codeCase: await records.codeCase(codeCase),
    add: (links) => Promise.all(links.map(({ code }) => find(code))),
    close,
  };
}
