import { type FileHandle, mkdir, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { reasonOf } from "../../lib/error-reason.ts";
import { repeat } from "../../lib/repeat.ts";
import { download, type DownloadLimits, type Validators } from "./download.ts";

const EVERY_MS = 3_600_000;
const RETRY_AFTER_MS = 600_000;
const LOOK_EVERY_MS = 60_000;
/** A file that was being fetched so long ago was left behind by a crash. */
const ABANDONED_MS = 300_000;

/** Tests lower it so as not to wait. */
export interface FeedLimits extends DownloadLimits {
  readonly feedLookEveryMs?: number;
}

export interface FeedsOptions extends FeedLimits {
  readonly urls: readonly string[];
  readonly folder: string;
  readonly nowMs: () => number;
  /** From 0 to 1. Keeps services that were started together from asking together. */
  readonly jitter: number;
  /** Why the file at `path` should not take the place of the list that is stored in `of`; undefined if it should. */
  readonly doubtAbout: (path: string, of: string) => Promise<string | undefined>;
  readonly onFetched: (url: string) => void;
  /** The last list stays as it is. */
  readonly onFailure: (url: string, reason: string) => void;
  readonly onFault: (error: unknown) => void;
}

/** What is known about a feed. It is stored beside the list, for all processes and the next start. */
interface Memo extends Validators {
  readonly askedMs: number;
}

const NEVER_ASKED: Memo = { askedMs: Number.NEGATIVE_INFINITY };

export interface Feeds {
  /** How often feeds were asked since the start, by what came of it. */
  readonly asked: Readonly<Record<"new" | "unchanged" | "failed", number>>;
  close(): Promise<void>;
}

/** Where the list of a feed is stored. */
export function feedFile(folder: string, url: string): string {
  return join(folder, `${new URL(url).hostname}-${Bun.hash(url).toString(36)}.txt`);
}

/**
 * Fetches lists every hour and stores them as files. With several processes, each looks whether a feed is due, and the
 * first that finds it so asks for all.
 */
export function startFeeds(options: FeedsOptions): Feeds {
  const { urls, folder, nowMs, jitter, doubtAbout, onFetched, onFailure, onFault } = options;
  const { feedLookEveryMs = LOOK_EVERY_MS } = options;
  const dueAfterMs = EVERY_MS * (0.9 + 0.2 * jitter);
  const closing = new AbortController();
  const failures = new Map<string, string>();
  const asked = { new: 0, unchanged: 0, failed: 0 };

  /** The clocks of two processes may differ a little. A time further in the future was written while a clock was wrong. */
  function isDue({ askedMs }: Memo): boolean {
    const passedMs = nowMs() - askedMs;
    return passedMs >= dueAfterMs || passedMs < -LOOK_EVERY_MS;
  }

  async function refresh(url: string): Promise<void> {
    const file = feedFile(folder, url);
    if (!isDue(await recall(file))) return;
    await mkdir(folder, { recursive: true });
    const part = `${file}.part`;
    const writing = await claim(part, nowMs());
    if (writing === undefined) return;
    let isRenamed = false;
    try {
      // Another process may have asked since.
      const memo = await recall(file);
      if (isDue(memo)) isRenamed = await ask(url, memo, { file, part, writing });
    } finally {
      await writing.close();
      // Once it is renamed, another process may write a part of its own.
      if (!isRenamed) await rm(part, { force: true });
    }
  }

  /** Returns whether the part has become the list. */
  async function ask(
    url: string,
    memo: Memo,
    { file, part, writing }: { file: string; part: string; writing: FileHandle },
  ): Promise<boolean> {
    // Before the part becomes the list, because then others may claim it.
    await remember(file, { ...memo, askedMs: nowMs() });
    try {
      const found = await download(url, memo, writing, closing.signal, options);
      const doubt = found === undefined ? undefined : await doubtAbout(part, file);
      if (doubt !== undefined) throw new Error(doubt);
      if (found !== undefined) {
        await rename(part, file);
        await remember(file, { ...found, askedMs: nowMs() });
        onFetched(url);
      }
      failures.delete(url);
      asked[found === undefined ? "unchanged" : "new"]++;
      return found !== undefined;
    } catch (error) {
      await remember(file, { ...memo, askedMs: nowMs() - dueAfterMs + RETRY_AFTER_MS });
      throw error;
    }
  }

  /** Tells each reason once, not at each attempt. */
  function fail(url: string, error: unknown): void {
    const reason = reasonOf(error);
    if (!closing.signal.aborted) asked.failed++;
    if (!closing.signal.aborted && failures.get(url) !== reason) onFailure(url, reason);
    failures.set(url, reason);
  }

  async function refreshAll(): Promise<void> {
    for (const url of urls)
      if (!closing.signal.aborted) await refresh(url).catch((error: unknown) => fail(url, error));
  }

  const first = refreshAll();
  const looking = repeat(feedLookEveryMs, refreshAll, onFault);
  return {
    asked,
    async close() {
      closing.abort();
      await looking.stop();
      await first;
    },
  };
}

/** Makes the file that only one process can make. */
async function claim(part: string, nowMs: number): Promise<FileHandle | undefined> {
  try {
    return await open(part, "wx");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    // Whoever made it may have finished since.
    const mtimeMs = await stat(part).then(
      (found) => found.mtimeMs,
      () => nowMs,
    );
    if (nowMs - mtimeMs > ABANDONED_MS) await rm(part, { force: true });
    return undefined;
  }
}

/** Without its list, nothing is known about a feed but when it was asked. */
async function recall(file: string): Promise<Memo> {
  const text = await readFile(`${file}.json`, "utf8").catch(() => "{}");
  const { askedMs, ...validators } = parse(text);
  if (typeof askedMs !== "number") return NEVER_ASKED;
  const hasList = await stat(file).then(
    () => true,
    () => false,
  );
  return hasList ? { ...validators, askedMs } : { askedMs };
}

function parse(text: string): Partial<Memo> {
  try {
    return JSON.parse(text) as Partial<Memo>;
  } catch {
    return {};
  }
}

/** Written beside it and then renamed: whoever reads half of it would ask again. */
async function remember(file: string, memo: Memo): Promise<void> {
  const written = `${file}.json.part`;
  await writeFile(written, JSON.stringify(memo));
  await rename(written, `${file}.json`);
}
