import type { Config } from "../config/config.ts";
import { describeStore } from "../config/database-url.ts";
import { arrivalRules } from "../server/core.ts";
import { hasStore, openIntake, openRecords } from "../store/open.ts";
import { takeIn } from "../transfer/import-links.ts";
import { type SourceItem, UnreadableSource } from "../transfer/source.ts";
import type { Arguments } from "./command.ts";
import { counted } from "./record-names.ts";
import { type LeftRows, openLeftRows } from "./skipped-rows.ts";
import { isInput, openInput } from "./terminal/input.ts";
import { fail, plural, print } from "./terminal/print.ts";
import { type ProgressLine, showProgress } from "./terminal/progress.ts";

/** The parts of an import. */
export interface Importing {
  readonly config: Config;
  readonly options: Arguments["options"];
  readonly input: ReturnType<typeof openInput>;
  readonly left: LeftRows;
  readonly progress: ProgressLine;
  /** Adds links and their visits; resolves with the exit code. */
  takeIn(items: AsyncIterable<SourceItem>, options?: { readonly keepOdd: boolean }): Promise<number>;
}

/** Calls `act`, then says which rows were left, and what is wrong with the file if it cannot be read. */
export async function openImport(
  config: Config,
  { positionals: [file = "-"], options }: Arguments,
  act: (importing: Importing) => Promise<number>,
): Promise<number> {
  const report = options["report"] as string | undefined;
  const files = [file, ...("visits" in options ? [String(options["visits"])] : [])];
  if (report !== undefined && files.some((one) => isInput(report, one)))
    return fail("--report would overwrite a file to be imported. Name another one.");
  using left = openLeftRows(report);
  using progress = showProgress();
  try {
    const importing = { config, options, input: openInput(file), left, progress };
    const keepOdd = options["keep-odd"] === true;
    return await act({
      ...importing,
      takeIn: (items, how = { keepOdd }) => takeInFrom(items, { ...importing, ...how }),
    });
  } catch (error) {
    progress.end();
    if (error instanceof UnreadableSource)
      return fail(`${error.file ?? (file === "-" ? "standard input" : file)} ${error.message}`);
    throw error;
  }
}

async function takeInFrom(
  items: AsyncIterable<SourceItem>,
  {
    config,
    options,
    input,
    left,
    progress,
    keepOdd,
  }: Omit<Importing, "takeIn"> & { readonly keepOdd: boolean },
): Promise<number> {
  const isDryRun = options["dry-run"] === true;
  await using target = isDryRun ? await openLookUp(config) : await openTarget(config);
  const { links, added, known, visits } = await takeIn(items, {
    ...target,
    ...arrivalRules(config),
    keepOdd,
    onLeft: left.add,
    onRead: () => progress.report("reading", input.progress()),
    onTaken: (taken, count) => progress.report(isDryRun ? "looking up" : "adding", taken, count),
  });
  progress.end();
  left.print();
  const would = isDryRun ? " would be" : "";
  const sums = [
    `${inEnglish(added)} of ${inEnglish(links)} links${would} added, with ${counted("visits", visits)}`,
    `${inEnglish(known)} already there`,
    `${plural(left.count(), "row")}${would} left out`,
  ];
  print(`${describeStore(config.database)}: ${sums.join("; ")}`);
  return 0;
}

function inEnglish(count: number): string {
  return count.toLocaleString("en");
}

async function openTarget({ database }: Config) {
  const intake = await openIntake(database);
  return { intake, find: async (): Promise<undefined> => undefined, [Symbol.asyncDispose]: intake.close };
}

/** Writes nothing. A store that is not there yet has no links. */
async function openLookUp({ database }: Config) {
  if (!(await hasStore(database)))
    return {
      intake: undefined,
      find: async (): Promise<undefined> => undefined,
      async [Symbol.asyncDispose]() {},
    };
  const { find, close } = await openRecords(database);
  return { intake: undefined, find, [Symbol.asyncDispose]: close };
}

/** Ends the import, unless broken lines are to be passed over. `of` follows the number of a line. */
export function brokenLines({ options, left }: Importing, { of = "" } = {}) {
  return (line: number, why: string): void => {
    if (options["skip-bad"] !== true)
      throw new UnreadableSource(
        `is broken at line ${line.toLocaleString("en")}: ${why}. Use a whole file, or --skip-bad to pass over broken lines. Nothing was written.`,
      );
    left.add({
      place: `line ${line}${of}`,
      code: "",
      why: { kind: "row", reason: `the line is broken: ${why}` },
    });
  };
}
