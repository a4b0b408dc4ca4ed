import { rm, stat } from "node:fs/promises";

import { reasonOf } from "../../lib/error-reason.ts";
import { repeat } from "../../lib/repeat.ts";
import { startThread, type Thread } from "../../lib/thread.ts";
import { copyList, copyPath } from "./list-copy.ts";
import { NotAList, type ReadList } from "./list-file.ts";
import type { ListCalls } from "./list-reader.ts";
import { createListCheck, type ListCheck, type ListKey, type ListTable } from "./list-table.ts";

/** A changed file is read after two identical checks, so a change takes effect within half a minute. */
export const POLL_MS = 10_000;
/** Lists of fewer rules are edited by hand, and may lose most of them. */
const MIN_RULES_TO_DOUBT = 10;

/** Tests lower it. */
export interface BlocklistOverrides {
  readonly listPollMs?: number;
}

export interface BlocklistOptions extends BlocklistOverrides {
  /** Must exist at the start. */
  readonly files: readonly string[];
  /** May be missing. */
  readonly feedFiles: readonly string[];
  /** For copies of the lists in effect. */
  readonly folder: string;
  /**
   * Whether this process replaces another one, or serves beside it. It then doubts the same files as the others, and uses
   * their copies. A start without others takes the files as they are.
   */
  readonly isBesideOthers: boolean;
  readonly key: ListKey;
  readonly onRead: (path: string, list: Omit<ReadList, "table">) => void;
  /** Called if a file cannot be used as it is now. Its earlier contents stay in effect. */
  readonly onDoubt: (path: string, reason: string) => void;
  readonly onFault: (error: unknown) => void;
}

/** The files that cannot be used, and why. */
export class ListsUnusable extends Error {
  override readonly name = "ListsUnusable";
  constructor(readonly mistakes: ReadonlyMap<string, string>) {
    super(Array.from(mistakes, ([path, reason]) => `${path}: ${reason}`).join("\n"));
  }
}

interface BlocklistFigures {
  /** In effect, of all lists. */
  readonly rules: number;
  /** Lists whose present file is not in effect. */
  readonly doubted: number;
  /** When the oldest file in effect was written, in Unix milliseconds. Undefined if there is none. */
  readonly oldestMs: number | undefined;
}

export interface Blocklist {
  /** Whether a list in effect contains a target. */
  readonly isBlocked: ListCheck;
  /** For {@link createListCheck} in another thread. */
  tables(): readonly ListTable[];
  figures(): BlocklistFigures;
  /** Calls `listener` after each change of the rules. */
  onChange(listener: () => void): void;
  /** Why the file at `path` may not replace the list that is stored in `of`; undefined if it may. */
  doubtAbout(path: string, of: string): Promise<string | undefined>;
  close(): Promise<void>;
}

interface List {
  readonly path: string;
  /** The contents in effect. */
  read?: ReadList;
  /** The identity of the file that was read last. */
  known?: string | undefined;
  /** The identity of the file at the last poll. */
  seen?: string | undefined;
  /** Why the present file is not in effect. */
  doubt?: string | undefined;
  /** When the file in effect was written. */
  writtenMs?: number;
}

/**
 * Opens the lists of forbidden hosts and addresses, and follows changes of the files. Each file has its own table, so that
 * a broken one keeps its rules while others change. Rejects with {@link ListsUnusable}.
 */
export async function openBlocklist(options: BlocklistOptions): Promise<Blocklist> {
  const { files, feedFiles, folder, isBesideOthers, key } = options;
  const { onRead, onDoubt, onFault, listPollMs = POLL_MS } = options;
  const lists = [...files, ...feedFiles].map((path): List => ({ path }));
  const listeners: (() => void)[] = [];
  let check: ListCheck = () => false;
  const threads = new Set<Thread<ListCalls>>();
  let isClosed = false;

  /** Ends the thread after the task, to free its memory. */
  async function withReader(
    task: (read: (path: string) => Promise<ReadList>) => Promise<void>,
  ): Promise<void> {
    const start = () => new Worker(new URL("./list-reader.ts", import.meta.url));
    const thread = startThread<ListCalls>(start, { NotAList }, () => {});
    threads.add(thread);
    try {
      await task((path) => thread.perform("read", { path, key }));
    } finally {
      thread.terminate();
      threads.delete(thread);
    }
  }

  const tables = () => lists.flatMap(({ read }) => read?.table ?? []);

  function use(list: List, read: ReadList, identity: string | undefined): void {
    list.read = read;
    list.writtenMs = Number(identity?.split(" ")[2]);
    list.doubt = undefined;
    check = createListCheck(tables());
  }

  function useFile(list: List, read: ReadList): void {
    use(list, read, list.known);
    onRead(list.path, read);
  }

  /** Copies a list in effect, unless the file has changed since it was read. */
  async function keep({ path, known }: List): Promise<void> {
    if ((await identify(path)) === known) await copyList(path, copyPath(folder, path));
  }

  /** Reports each reason once, not for each poll. */
  function doubt(list: List, reason: string): void {
    if (list.doubt === reason || isClosed) return;
    list.doubt = reason;
    onDoubt(list.path, reason);
  }

  async function readFirst(): Promise<void> {
    const mistakes = new Map<string, string>();
    await withReader(async (read) => {
      for (const list of lists) {
        if (isBesideOthers) await useCopy(list, read);
        try {
          const identity = await identify(list.path);
          const content = await read(list.path);
          list.known = identity;
          const reason = doubtfulLoss(list.read, content);
          if (reason === undefined) useFile(list, content);
          else doubt(list, reason);
        } catch (error) {
          if (list.read !== undefined) doubt(list, reasonOf(error));
          else if (files.includes(list.path)) mistakes.set(list.path, reasonOf(error));
          else if (!isMissing(error)) doubt(list, reasonOf(error));
        }
      }
    });
    if (mistakes.size > 0) throw new ListsUnusable(mistakes);
    for (const list of lists) if (list.doubt === undefined) await keepOrForget(list);
  }

  /** Uses the copy of another process until this one has read the file itself. */
  async function useCopy(list: List, read: (path: string) => Promise<ReadList>): Promise<void> {
    const copy = copyPath(folder, list.path);
    try {
      use(list, await read(copy), await identify(copy));
    } catch (error) {
      if (!isMissing(error)) onFault(error);
    }
  }

  /** Copies a list, or deletes a copy from an earlier start, which must not come into effect again. */
  async function keepOrForget(list: List): Promise<void> {
    const copy = copyPath(folder, list.path);
    await (list.read === undefined ? rm(copy, { force: true }) : keep(list)).catch(onFault);
  }

  /** Whether the file has changed and looks the same as at the last poll, so that nobody is writing it. */
  async function isDue(list: List): Promise<boolean> {
    const before = list.seen;
    try {
      list.seen = await identify(list.path);
    } catch (error) {
      list.seen = undefined;
      list.known = undefined;
      if (list.read !== undefined) doubt(list, reasonOf(error));
    }
    return list.seen !== undefined && list.seen !== list.known && list.seen === before;
  }

  async function poll(): Promise<void> {
    const due: List[] = [];
    for (const list of lists) if (await isDue(list)) due.push(list);
    if (due.length === 0) return;
    const before = check;
    await withReader(async (read) => {
      for (const list of due) await readAgain(list, read).catch((error) => doubt(list, reasonOf(error)));
    });
    if (check !== before && !isClosed) for (const listener of listeners) listener();
  }

  async function readAgain(list: List, read: (path: string) => Promise<ReadList>): Promise<void> {
    const content = await read(list.path);
    // The file has changed meanwhile, which the next polls will see.
    if ((await identify(list.path)) !== list.seen) return;
    list.known = list.seen;
    const reason = doubtfulLoss(list.read, content);
    if (reason !== undefined) return doubt(list, reason);
    useFile(list, content);
    await keep(list).catch(onFault);
  }

  if (lists.length > 0) await readFirst();
  const polling = lists.length > 0 ? repeat(listPollMs, poll, onFault) : undefined;

  return {
    isBlocked: (target) => check(target),
    tables,
    figures() {
      const inEffect = lists.filter(({ read }) => read !== undefined);
      return {
        rules: inEffect.reduce((sum, { read }) => sum + (read?.rules ?? 0), 0),
        doubted: lists.filter((list) => list.doubt !== undefined).length,
        oldestMs:
          inEffect.length === 0 ? undefined : Math.min(...inEffect.map(({ writtenMs = 0 }) => writtenMs)),
      };
    },
    onChange: (listener) => void listeners.push(listener),
    async doubtAbout(path, of) {
      const list = lists.find((one) => one.path === of);
      let reason: string | undefined;
      await withReader(async (read) => {
        reason = await read(path).then((content) => doubtfulLoss(list?.read, content), reasonOf);
      });
      return reason;
    },
    async close() {
      isClosed = true;
      for (const thread of threads) thread.terminate();
      await polling?.stop();
    },
  };
}

/** Why a list is more likely broken than intended, compared with the one before. */
function doubtfulLoss(before: ReadList | undefined, now: ReadList): string | undefined {
  const had = before?.rules ?? 0;
  if (now.rules === 0 && had > 0) return `it has no rules any more, and had ${had}`;
  if (before?.isEnded === true && !now.isEnded && now.rules < had)
    return `its last line has no end, and it has ${now.rules} rules instead of ${had}: perhaps only a part was written`;
  return had >= MIN_RULES_TO_DOUBT && now.rules < had / 2
    ? `it has only ${now.rules} rules, and had ${had}`
    : undefined;
}

/** Changes with the contents, and if another file replaces this one. */
async function identify(path: string): Promise<string> {
  const { ino, size, mtimeMs, ctimeMs } = await stat(path);
  return [ino, size, mtimeMs, ctimeMs].join(" ");
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
