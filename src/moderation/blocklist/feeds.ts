import { type FileHandle, mkdir, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { reasonOfFetch } from "../../lib/error-reason.ts";
import { repeat } from "../../lib/repeat.ts";
import { download, type DownloadOverrides, type Validators } from "./download.ts";

export const EVERY_MS = 3_600_000;
/** Processes with other jitter fetch up to a fifth of an hour later. */
const EARLIEST_MS = 0.9 * EVERY_MS;
const RETRY_AFTER_MS = 600_000;
const FEED_POLL_MS = 60_000;
/** An unfinished file of this age is left over from a crash. So is one from the future: the clock was wrong. */
const ABANDONED_MS = 300_000;

/** Tests lower it. */
export interface FeedOverrides extends DownloadOverrides {
  readonly feedPollMs?: number;
}

export interface FeedsOptions extends FeedOverrides {
  readonly urls: readonly string[];
  readonly folder: string;
  readonly nowMs: () => number;
  /** From 0 to 1. Keeps services that were started together from fetching together. */
  readonly jitter: number;
  /** Why the file at `path` should not replace the list that is stored in `of`; undefined if it should. */
  readonly doubtAbout: (path: string, of: string) => Promise<string | undefined>;
  readonly onFetched: (url: string) => void;
  /** The last list stays as it is. */
  readonly onFailure: (url: string, reason: string) => void;
  readonly onFault: (error: unknown) => void;
}

/** The state of a feed. It is stored beside the list, for all processes and the next start. */
interface FeedState extends Validators {
  readonly askedMs: number;
}

const NEVER_FETCHED: FeedState = { askedMs: Number.NEGATIVE_INFINITY };

export interface Feeds {
  /** How often feeds were fetched since the start, by outcome. */
  readonly fetches: Readonly<Record<"new" | "unchanged" | "failed", number>>;
  /** Interrupts a fetch, and resolves once nothing is written any more. */
  close(): Promise<void>;
}

/** The file with the list of a feed. */
export function feedFile(folder: string, url: string): string {
  return join(folder, `${new URL(url).hostname}-${Bun.hash(url).toString(36)}.txt`);
}

/** Fetches lists every hour and stores them as files. The first process that sees a due feed fetches it for all. */
export function startFeeds(options: FeedsOptions): Feeds {
  const { urls, folder, nowMs, jitter, doubtAbout, onFetched, onFailure, onFault } = options;
  const { feedPollMs = FEED_POLL_MS } = options;
  const dueAfterMs = EARLIEST_MS + 0.2 * EVERY_MS * jitter;
  const closing = new AbortController();
  const failures = new Map<string, string>();
  const fetches = { new: 0, unchanged: 0, failed: 0 };

  /** The clocks of two processes may differ a little. A time further in the future was written while a clock was wrong. */
  function isDue({ askedMs }: FeedState): boolean {
    const passedMs = nowMs() - askedMs;
    return passedMs >= dueAfterMs || passedMs < -FEED_POLL_MS;
  }

  async function refresh(url: string): Promise<void> {
    const file = feedFile(folder, url);
    if (!isDue(await readState(file))) return;
    await mkdir(folder, { recursive: true });
    const part = `${file}.part`;
    const writing = await claim(part, nowMs());
    if (writing === undefined) return;
    let isRenamed = false;
    try {
      // Another process may have fetched it since.
      const state = await readState(file);
      if (isDue(state)) isRenamed = await fetchList(url, state, { file, part, writing });
    } finally {
      await writing.close();
      // Once it is renamed, another process may write a part of its own.
      if (!isRenamed) await rm(part, { force: true });
    }
  }

  /** Returns whether the part has become the list. */
  async function fetchList(
    url: string,
    state: FeedState,
    { file, part, writing }: { file: string; part: string; writing: FileHandle },
  ): Promise<boolean> {
    // First, so that a crash counts as a failure. Others may claim the part once it has become the list.
    const askedMs = nowMs();
    await writeState(file, { ...state, askedMs: askedMs - EARLIEST_MS + RETRY_AFTER_MS });
    const validators = await download(url, state, writing, closing.signal, options);
    const doubt = validators === undefined ? undefined : await doubtAbout(part, file);
    if (doubt !== undefined) throw new Error(doubt);
    if (validators !== undefined) await rename(part, file);
    await writeState(file, { ...(validators ?? state), askedMs });
    if (validators !== undefined) onFetched(url);
    failures.delete(url);
    fetches[validators === undefined ? "unchanged" : "new"]++;
    return validators !== undefined;
  }

  /** Reports each reason once, not for each attempt. */
  function fail(url: string, error: unknown): void {
    const reason = reasonOfFetch(error);
    if (!closing.signal.aborted) fetches.failed++;
    if (!closing.signal.aborted && failures.get(url) !== reason) onFailure(url, reason);
    failures.set(url, reason);
  }

  async function refreshAll(): Promise<void> {
    for (const url of urls)
      if (!closing.signal.aborted) await refresh(url).catch((error: unknown) => fail(url, error));
  }

  const first = refreshAll();
  const polling = repeat(feedPollMs, refreshAll, onFault);
  return {
    fetches,
    async close() {
      closing.abort();
      await polling.stop();
      await first;
    },
  };
}

/** Creates the part, as only one process can. Undefined if another process has it. */
async function claim(part: string, nowMs: number): Promise<FileHandle | undefined> {
  try {
    return await open(part, "wx");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    // Its process may have finished since.
    const mtimeMs = await stat(part).then(
      (file) => file.mtimeMs,
      () => nowMs,
    );
    if (Math.abs(nowMs - mtimeMs) > ABANDONED_MS) await rm(part, { force: true });
    return undefined;
  }
}

/** Without the list, its validators don't count. */
async function readState(file: string): Promise<FeedState> {
  const text = await readFile(`${file}.json`, "utf8").catch(() => "{}");
  const { askedMs, ...validators } = parse(text);
  if (typeof askedMs !== "number") return NEVER_FETCHED;
  const hasList = await stat(file).then(
    () => true,
    () => false,
  );
  return hasList ? { ...validators, askedMs } : { askedMs };
}

function parse(text: string): Partial<FeedState> {
  try {
    return JSON.parse(text) as Partial<FeedState>;
  } catch {
    return {};
  }
}

/** Renames a complete file, because half a state would cause another fetch. */
async function writeState(file: string, state: FeedState): Promise<void> {
  const written = `${file}.json.part`;
  await writeFile(written, JSON.stringify(state));
  await rename(written, `${file}.json`);
}
