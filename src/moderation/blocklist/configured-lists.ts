import { type Config, ConfigError } from "../../config/config.ts";
import type { Log } from "../../lib/log.ts";
import { fillRandom } from "../../lib/random.ts";
import { type Blocklist, type BlocklistOverrides, ListsUnusable, openBlocklist } from "./blocklist.ts";
import { feedFile, type FeedOverrides, type Feeds, startFeeds } from "./feeds.ts";
import type { ReadList } from "./list-file.ts";

export interface BlocklistsLimits extends BlocklistOverrides, FeedOverrides {}

/** The blocklist of all configured files and feeds. */
export interface Blocklists extends Blocklist {
  /** Fetches the feeds, now and every hour. */
  startFeeds(nowMs: () => number): void;
  /** How often feeds were fetched since the start, by outcome. */
  fetches(): Feeds["fetches"];
}

/** Opens the configured blocklist, and logs changes of its files and feeds. Throws {@link ConfigError}. */
export async function openBlocklists(
  {
    blocklist: files,
    blocklistFeeds: urls,
    listFolder: folder,
    openElsewhere,
  }: Pick<Config, "blocklist" | "blocklistFeeds" | "listFolder" | "openElsewhere">,
  log: Log,
  limits: BlocklistsLimits | undefined,
  onFault: (error: unknown) => void,
): Promise<Blocklists> {
  const [key0 = 0, key1 = 0, chance = 0] = fillRandom(new Int32Array(3));
  const blocklist = await openBlocklist({
    ...limits,
    files,
    feedFiles: urls.map((url) => feedFile(folder, url)),
    folder,
    isBesideOthers: openElsewhere !== undefined,
    key: [key0, key1],
    onRead: (path, { rules, skipped, isCut }) => {
      const details = { path, rules, skipped };
      const warning = listWarning({ rules, isCut });
      if (warning === undefined) log.info(details, "a blocklist is in effect");
      else log.warn(details, warning);
    },
    onDoubt: (path, reason) =>
      log.warn(
        { path, reason },
        "a blocklist looks broken: its earlier rules stay in effect. To use it as it is, restart Curt",
      ),
    onFault,
  }).catch(refuseLists);
  /** Without the address, because it may contain a key. */
  const about = (url: string) => ({ feed: new URL(url).hostname, path: feedFile(folder, url) });
  let feeds: Feeds | undefined;

  return {
    ...blocklist,
    startFeeds(nowMs) {
      feeds = startFeeds({
        ...limits,
        urls,
        folder,
        nowMs,
        jitter: Math.abs(chance) / 2 ** 31,
        doubtAbout: blocklist.doubtAbout,
        onFetched: (url) => log.info(about(url), "a blocklist feed has a new list"),
        onFailure: (url, reason) =>
          log.warn(
            { ...about(url), reason },
            "a blocklist feed could not be fetched: its last list stays in effect",
          ),
        onFault,
      });
    },
    fetches: () => feeds?.fetches ?? { new: 0, unchanged: 0, failed: 0 },
    async close() {
      await Promise.all([feeds?.close(), blocklist.close()]);
    },
  };
}

/** Warns that a list may block less than the operator expects. */
export function listWarning({ rules, isCut }: Pick<ReadList, "rules" | "isCut">): string | undefined {
  if (isCut) return "a blocklist is too long: the rest of it was not read";
  return rules === 0 ? "a blocklist has no rules" : undefined;
}

function refuseLists(error: unknown): never {
  if (!(error instanceof ListsUnusable)) throw error;
  throw new ConfigError(
    Array.from(
      error.mistakes,
      ([path, reason]) => `BLOCKLIST must be files that can be read, not ${path}: ${reason}`,
    ),
  );
}
