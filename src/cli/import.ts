import type { Config } from "../config.ts";
import { arrivalRules } from "../core.ts";
import type { Link } from "../links/link.ts";
import { type Source, UnreadableSource } from "../moving/source.ts";
import { SOURCES } from "../moving/sources.ts";
import { takeIn } from "../moving/take-in.ts";
import { describeStore } from "../settings/database-url.ts";
import { hasStore, openIntake, openRecords } from "../store/open.ts";
import type { Arguments } from "./command.ts";
import { openInput } from "./input.ts";
import { tellLeft } from "./left.ts";
import { fail } from "./print.ts";
import { showProgress } from "./progress.ts";

/** Takes in links from another shortener; returns the exit code. */
export async function importLinks(config: Config, { positionals, options }: Arguments): Promise<number> {
  const [file = "-"] = positionals;
  const source = SOURCES[String(options["from"])];
  if (source === undefined) return fail(`import needs --from ${Object.keys(SOURCES).join("|")}`);
  return takeInFrom(source, config, { file, options });
}

interface Asked {
  readonly file: string;
  readonly options: Arguments["options"];
}

async function takeInFrom(source: Source, config: Config, { file, options }: Asked): Promise<number> {
  const isDryRun = options["dry-run"] === true;
  const input = await openInput(file);
  if (typeof input === "string") return fail(input);
  using left = tellLeft(options["report"] as string | undefined);
  using progress = showProgress();
  const target = isDryRun ? await openLookUp(config) : await openTarget(config);
  try {
    const { links, added, known, visits } = await takeIn(source.read(input), {
      ...target,
      ...arrivalRules(config),
      keepOdd: options["keep-odd"] === true,
      onLeft: left.add,
      onRead: () => progress.tell("reading", input.progress()),
      onTaken: (taken) => progress.tell(isDryRun ? "looking up" : "adding", taken),
    });
    progress.end();
    left.print();
    const sums = [
      `${count(added)} of ${count(links)} links ${isDryRun ? "would be added" : "added"}, with ${count(visits)} visits`,
      `${count(known)} already there`,
      `${count(left.count())} rows not taken`,
    ];
    console.log(`${describeStore(config.database)}: ${sums.join("; ")}`);
    return 0;
  } catch (error) {
    progress.end();
    if (error instanceof UnreadableSource) return fail(`${file}: ${error.message}`);
    throw error;
  } finally {
    await target.close();
  }
}

function count(number: number): string {
  return number.toLocaleString("en");
}

async function openTarget({ database }: Config) {
  const intake = await openIntake(database);
  return { intake, find: async (): Promise<undefined> => undefined, close: intake.close };
}

/** Writes nothing. A store that is not there yet has no links. */
async function openLookUp({ database }: Config) {
  if (!(await hasStore(database)))
    return { intake: undefined, find: async (): Promise<Link | undefined> => undefined, async close() {} };
  const { find, close } = await openRecords(database);
  return { intake: undefined, find, close };
}
