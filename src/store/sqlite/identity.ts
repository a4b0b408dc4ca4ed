// Which files are open. A file that is deleted or replaced while it is open goes on taking writes without an error,
// and they are gone once the last process closes it.
import { statSync } from "node:fs";

import { StoreMisplaced, StoreUnusable } from "../../links/store.ts";

/** Device and inode of the file, its WAL and its shared memory, in this order; "" for one that is missing. */
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
    const found = statSync(file, MISSING_IS_NO_ERROR);
    return found === undefined ? "" : `${found.dev}:${found.ino}`;
  } catch {
    return "";
  }
}

/** Both methods throw {@link StoreMisplaced} where the files at the path are no longer those that were opened. */
export function watchPlace(path: string, opened: Identity) {
  let inPlaceMs = Number.NEGATIVE_INFINITY;

  /** Three calls of stat, some 3 µs. */
  function requireNow(): void {
    if (!isInPlace(path, opened))
      throw new StoreMisplaced(
        `${path} or its -wal or -shm file was moved, deleted or replaced while Curt has it open. ` +
          "Put the same files back, or restart Curt to go on with what is there now.",
      );
    inPlaceMs = performance.now();
  }

  return {
    requireNow,
    /** For where looking each time would cost too much. */
    requireLately(): void {
      if (performance.now() - inPlaceMs > LATELY_MS) requireNow();
    },
  };
}

/** `opened` may be only the first of the files. */
export function isInPlace(path: string, opened: Identity): boolean {
  return opened.every((file, nth) => file === identifyOne(path + PARTS[nth]));
}

export function replacedMeanwhile(path: string): StoreUnusable {
  return new StoreUnusable(`${path} was replaced while it was being opened. Start again.`);
}
