// Identifies open files. A file that is deleted or replaced while it is open keeps accepting writes without an error,
// and loses them once the last process closes it.
import { closeSync, lstatSync, openSync, readlinkSync, rmSync, statSync } from "node:fs";

import { StoreMisplaced, StoreUnusable } from "../../../links/link-store.ts";

/** Device and inode of the file, its WAL and its shared memory, in this order; "" for a missing one. */
export type Identity = readonly string[];

const PARTS = ["", "-wal", "-shm"];
const LATELY_MS = 10;
const MISSING_IS_NO_ERROR = { throwIfNoEntry: false } as const;

/** Changes when another file takes the place of one of them. */
export function identify(path: string): Identity {
  return PARTS.map((part) => identifyOne(path + part));
}

function identifyOne(file: string): string {
  try {
    const stat = statSync(file, MISSING_IS_NO_ERROR);
    return stat === undefined ? "" : `${stat.dev}:${stat.ino}`;
  } catch {
    return "";
  }
}

/**
 * Both methods throw {@link StoreMisplaced} where the files at the path are no longer those that were opened. `areInPlace`
 * replaces the check by {@link isInPlace}.
 */
export function watchPlace(path: string, opened: Identity, areInPlace = () => isInPlace(path, opened)) {
  let inPlaceMs = Number.NEGATIVE_INFINITY;

  /** Takes about 3 µs. */
  function requireNow(): void {
    if (!areInPlace())
      throw new StoreMisplaced(
        `${path} or its -wal or -shm file was moved, deleted or replaced while Curt has it open. ` +
          "Put the same files back, or restart Curt to continue with the files that are there now.",
      );
    inPlaceMs = performance.now();
  }

  return {
    requireNow,
    /** Checks at most every 10 ms, for calls that are too frequent for `requireNow`. */
    requireLately(): void {
      if (performance.now() - inPlaceMs > LATELY_MS) requireNow();
    },
  };
}

/**
 * Looks as {@link isInPlace} does, but never calls stat on the log. On Linux 6.13 and later, the first write after a stat
 * takes an exact time, and the sync after it is 20 µs longer. Instead, a descriptor of the log gives the file's current
 * name. Undefined where there is no /proc. SQLite has no locks on the log, so closing the descriptor loses none.
 */
export function watchLog(path: string, opened: Identity) {
  const descriptor = openSync(path + PARTS[1], "r");
  const nameNow = () => readlinkSync(`/proc/self/fd/${descriptor}`);
  const close = () => closeSync(descriptor);
  try {
    const name = nameNow();
    // From here on, the name stands for the file that was opened.
    if (!isInPlace(path, opened)) throw replacedMeanwhile(path);
    const [main, , shared] = opened;
    return {
      areInPlace: () =>
        nameNow() === name && identifyOne(path) === main && identifyOne(path + PARTS[2]) === shared,
      close,
    };
  } catch (error) {
    close();
    if (error instanceof StoreUnusable) throw error;
    return undefined;
  }
}

/** Refuses a file with hard links. A program that opens it by another name doesn't see the log, and writes a second one. */
export function requireOneName(path: string): void {
  const names = () => statSync(path, MISSING_IS_NO_ERROR)?.nlink ?? 0;
  if (names() <= 1) return;
  // A restore that was killed after it named the file.
  if (identifyOne(`${path}.part`) === identifyOne(path)) rmSync(`${path}.part`);
  if (names() > 1)
    throw new StoreUnusable(
      `${path} has another name (a hard link), under which a program would not find its log. A hard link is no copy: both are the same file. Find the other name (find / -samefile ${path}) and delete it. Make copies with curt backup.`,
    );
}

/** Refuses a symbolic link. SQLite keeps the log beside its target, where Curt would not look for it. */
export function requireNoLink(path: string): void {
  if (lstatSync(path, MISSING_IS_NO_ERROR)?.isSymbolicLink() === true)
    throw new StoreUnusable(
      `${path} is a symbolic link to ${readlinkSync(path)}. Set DATABASE_URL to that file itself, or move the file here.`,
    );
}

/** `opened` may be only the first of the files. */
export function isInPlace(path: string, opened: Identity): boolean {
  return opened.every((file, nth) => file === identifyOne(path + PARTS[nth]));
}

export function replacedMeanwhile(path: string): StoreUnusable {
  return new StoreUnusable(`${path} was replaced while it was being opened. Start again.`);
}
