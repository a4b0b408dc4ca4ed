import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { explained } from "../backup/new-file.ts";
import type { Config } from "../config/config.ts";
import { reasonOf } from "../lib/error-reason.ts";
import { StoreUnusable } from "../links/link-store.ts";
import { keyPrefixOf } from "../links/target.ts";
import { feedFile } from "../moderation/blocklist/feeds.ts";
import { readListFile } from "../moderation/blocklist/list-file.ts";
import { createListCheck } from "../moderation/blocklist/list-table.ts";
import { systemNowMs } from "../server/core.ts";
import { hasStore, openRecords } from "../store/open.ts";
import { REDIRECT_FORMATS } from "../transfer/redirects/redirect-formats.ts";
import { writeRedirects } from "../transfer/redirects/write-redirects.ts";
import type { Arguments } from "./command.ts";
import { exportStore, openOutput } from "./export.ts";
import { fail, note, plural } from "./terminal/print.ts";
import { showProgress } from "./terminal/progress.ts";
import { noStore } from "./terminal/record-names.ts";

/** Exports the store in the chosen format; returns the exit code. */
export async function exportAs(config: Config, args: Arguments): Promise<number> {
  const { format: name = "full", ending = false } = args.options;
  const format = Object.entries(REDIRECT_FORMATS).find(([one]) => one === name)?.[1];
  if (format === undefined)
    return ending
      ? fail("--ending is only for redirects. Choose them with --format.", 2)
      : exportStore(config, args);
  const { database, baseUrl, domains, aliases } = config;
  const isFolder = "isFolder" in format;
  const [given = "-"] = args.positionals;
  // A folder may be written with a slash at its end, but its unfinished one stands beside it.
  const file = isFolder ? given.replace(/(?<=[^/])\/+$/, "") : given;
  if (file === "-" && (isFolder || domains.length > 0))
    return fail(
      "Standard output can't hold several files. Name a file, and each domain gets one beside it.",
      2,
    );
  if (!(await hasStore(database))) return fail(noStore(database));
  const isListed = openListCheck(config);
  using opened = new DisposableStack();
  using progress = showProgress();
  const records = await openRecords(database);
  try {
    const files = [];
    for (const [nth, written] of [baseUrl, ...domains].entries()) {
      const { hostname, origin } = new URL(written);
      const path =
        nth === 0 ? file : file.replace(/(?:\.[^./]*)?$/, (extension) => `.${hostname}${extension}`);
      const output = opened.use(
        isFolder ? await explained(path, () => openFolder(path)) : await openOutput(path),
      );
      const write = (text: string, page: string) =>
        explained(path, () =>
          "writeFile" in output ? output.writeFile(text, page) : output.write(Buffer.from(text)),
        );
      const keyPrefix = nth === 0 ? "" : keyPrefixOf(written);
      const finish = () => explained(path, output.finish);
      files.push({ nth, origin, aliases: nth === 0 ? aliases : [], keyPrefix, path, write, finish });
    }
    let done = 0;
    const { written, leftOut, losingQuery, losingPath, codeCase } = await writeRedirects(records, format, {
      files,
      isListed,
      nowMs: systemNowMs(),
      withEnding: ending === true,
      onLinks: (count) => progress.report("exporting", { done: (done += count) }, count),
    });
    for (const { finish } of files) await finish();
    progress.end();
    for (const [nth, { path }] of files.entries())
      note(`exported ${plural(written[nth] ?? 0, "link")} to ${path}`);
    for (const [why, count] of leftOut) note(`left out, ${count.toLocaleString("en")}: ${why}`);
    if (losingQuery > 0) note(`these no longer pass the visitor's query on: ${plural(losingQuery, "link")}`);
    if (losingPath > 0) note(`these no longer pass the visitor's path on: ${plural(losingPath, "link")}`);
    if (codeCase === "ignore" && format.capitals !== undefined) note(format.capitals);
    if ("limits" in format) note(format.limits);
    return 0;
  } finally {
    await records.close();
  }
}

function openListCheck({ blocklist, blocklistFeeds, listFolder }: Config) {
  const feeds = blocklistFeeds.map((url) => feedFile(listFolder, url)).filter((path) => existsSync(path));
  try {
    return createListCheck([...blocklist, ...feeds].map((path) => readListFile(path, [0, 0]).table));
  } catch (error) {
    throw new StoreUnusable(`A blocklist can't be read: ${reasonOf(error)}.`, { cause: error });
  }
}

/** Writes a folder beside, which gets its name when it is complete. */
function openFolder(folder: string) {
  if (existsSync(folder)) throw new StoreUnusable(`${folder} already exists. Name another folder.`);
  const part = mkdtempSync(`${folder}.part-`);
  return {
    async writeFile(text: string, path: string): Promise<void> {
      mkdirSync(dirname(join(part, path)), { recursive: true });
      writeFileSync(join(part, path), text);
    },
    finish: async () => renameSync(part, folder),
    [Symbol.dispose]: () => rmSync(part, { recursive: true, force: true }),
  };
}
