// Which files are open. A file that is deleted or replaced while it is open goes on taking writes without an error,
// and they are gone once the last process closes it.
import { statSync } from "node:fs";

import { StoreMisplaced, StoreUnusable } from "../../links/store.ts";

/** Device and inode of the file, its WAL and its shared memory, in this order. */
export type Identity = readonly string[];

/** Changes when another file takes the place of one of them. */
export function identify(path: string): Identity {
  return [path, `${path}-wal`, `${path}-shm`].map((file) => {
    try {
      const { dev, ino } = statSync(file, { bigint: true });
      return `${dev}:${ino}`;
    } catch {
      return "missing";
    }
  });
}

/** Three calls of stat, which take some 2 µs: cheap enough for each commit. Throws {@link StoreMisplaced}. */
export function requireInPlace(path: string, opened: Identity): void {
  if (isInPlace(path, opened)) return;
  throw new StoreMisplaced(
    `${path} or its -wal or -shm file was moved, deleted or replaced while Curt has it open. ` +
      "Put the same files back, or restart Curt to go on with what is there now.",
  );
}

/** `opened` may be only the first of the files. */
export function isInPlace(path: string, opened: Identity): boolean {
  const found = identify(path);
  return opened.every((file, nth) => file === found[nth]);
}

export function replacedMeanwhile(path: string): StoreUnusable {
  return new StoreUnusable(`${path} was replaced while it was being opened. Start again.`);
}
