import { accessSync, constants } from "node:fs";

import { readCertificate } from "../config/certificate.ts";
import { type Config, ConfigError, hostOf } from "../config/config.ts";
import { describePlace, describeStore } from "../config/database-url.ts";
import { startWarnings } from "../config/start-warnings.ts";
import { reasonOf } from "../lib/error-reason.ts";
import { type WarningLog, withFields } from "../lib/log.ts";
import { readAllTokens } from "../moderation/access-tokens.ts";
import { listWarning } from "../moderation/blocklist/configured-lists.ts";
import { feedFile } from "../moderation/blocklist/feeds.ts";
import { readListFile } from "../moderation/blocklist/list-file.ts";
import { believedUntilMs, checkHosts, CLOCK_TOO_FAR, systemNowMs } from "../server/core.ts";
import { checkStore, openRecords } from "../store/open.ts";
import { otherCodeCase } from "../store/shared/first-links.ts";
import { MAX_UNSENDABLE } from "../store/shared/records.ts";
import { journalState } from "../visits/journal/journal-state.ts";
import { journalUnusable, requireOwnJournal } from "../visits/journal/journal-store.ts";
import { note, plural, print } from "./terminal/print.ts";
import { formatCount } from "./terminal/record-names.ts";

/** Prints the warnings of a start. */
const LOG: WarningLog = { warn: (fields, text) => note(withFields(text, fields)) };

/**
 * Checks the blocklists and the whole store, lists who has a token, and returns the exit code. The configuration has already been checked by
 * reading it.
 */
export async function check(config: Config): Promise<number> {
  const { database, baseUrl, posture } = config;
  const { admin, create } = readAllTokens(config);
  for (const [setting, tokens] of Object.entries({ ADMIN_TOKEN: admin, CREATE_TOKEN: create })) {
    const names = tokens.flatMap(({ name }) => name ?? []);
    const nameless = tokens.length - names.length;
    if (nameless > 0) names.push(`${nameless} without a name`);
    if (names.length > 0) print(`${setting}: ${names.join(", ")}`);
  }
  print(`configuration: fine (links at ${baseUrl}, ${posture} posture, data in ${describePlace(config)})`);
  if (!checkLists(config)) return 2;
  await checkCertificate(config);
  const store = describeStore(database);
  const report = await checkStore(database);
  // After an error that is thrown, which matters more.
  for (const { text, fields = {} } of startWarnings(config)) LOG.warn(fields, text);
  if (report === undefined) {
    print(`store: ${store} does not exist yet; the first start creates it`);
    return 0;
  }
  for (const line of report.damage) note(`store: damaged: ${line}`);
  if (report.damage.length > 0) {
    note(`store: ${store} is damaged. Restore a backup.`);
    return 1;
  }
  if (report.unsendable.length > 0) {
    const more = report.unsendable.length < MAX_UNSENDABLE ? "" : ", …";
    note(
      `store: these links have a destination that Curt never stores, and answer 410: ${report.unsendable.join(", ")}${more}. Another program has changed ${store}. Delete them on the page at /admin, or restore an earlier backup.`,
    );
    return 1;
  }
  const { believedMs, codeCase, hosts, identity } = await readMemory(config);
  if (codeCase !== config.codeCase) throw new ConfigError([otherCodeCase(codeCase)]);
  checkHosts(hosts, LOG);
  checkJournal(config, identity);
  if (systemNowMs() > believedMs) note(`clock: ${CLOCK_TOO_FAR}`);
  print(`store: fine (${formatCount("link", report.links)} in ${store})`);
  return 0;
}

/** Reads the stored values that a start compares with the clock and the configuration. */
async function readMemory(config: Config) {
  const records = await openRecords(config.database);
  try {
    return {
      believedMs: believedUntilMs(await records.newestSaltDay()),
      codeCase: await records.codeCase(config.codeCase),
      hosts: await records.hosts(config.domains.map(hostOf)),
      identity: await records.identity(),
    };
  } finally {
    await records.close();
  }
}

/** The user who runs the check may not be allowed to read the key. */
async function checkCertificate(config: Config): Promise<void> {
  for (const file of [config.tlsCert, config.tlsKey])
    try {
      if (file !== null) accessSync(file, constants.R_OK);
    } catch (error) {
      note(`certificate: not checked, because ${file} cannot be read: ${reasonOf(error)}`);
      return;
    }
  await readCertificate(config, LOG);
}

/** Whether a start could add the visits of the journal to this store. */
function checkJournal({ journalFolder }: Config, identity: Parameters<typeof requireOwnJournal>[1]): void {
  requireOwnJournal(journalFolder, identity);
  try {
    journalState(journalFolder);
  } catch (error) {
    throw journalUnusable(journalFolder, error);
  }
}

/** Says what is in each list. Returns false if one cannot be read. */
function checkLists({ blocklist, blocklistFeeds, listFolder }: Config): boolean {
  let isFine = true;
  for (const path of blocklist) {
    const contents = describeList(path);
    if (typeof contents === "string") print(`blocklist: ${path}: ${contents}`);
    else note(`blocklist: ${path} cannot be read: ${reasonOf(contents)}`);
    isFine &&= typeof contents === "string";
  }
  for (const url of blocklistFeeds) {
    const path = feedFile(listFolder, url);
    const contents = describeList(path);
    const text = typeof contents === "string" ? contents : "not fetched yet; Curt fetches it when it runs";
    print(`blocklist: ${path} (feed of ${new URL(url).hostname}): ${text}`);
  }
  return isFine;
}

function describeList(path: string): string | Error {
  try {
    const { rules, skipped, isCut } = readListFile(path, [0, 0]);
    const warning = listWarning({ rules, isCut });
    if (warning !== undefined) LOG.warn({ path, rules, skipped }, warning);
    return `${plural(rules, "rule")}, ${plural(skipped, "line")} not understood`;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
