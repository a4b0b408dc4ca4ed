// The names of the backups that Curt makes by itself. They tell which store a backup is of, because several may share a folder.
import { createHash } from "node:crypto";
import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, extname, join } from "node:path";

const ID = /^[0-9a-f]{32}$/;

export interface Place {
  /** Of the store, which is there. */
  readonly path: string;
  readonly journalFolder: string;
  /** Fills an array with bytes from a CSPRNG. */
  readonly fillRandom: (bytes: Uint8Array) => void;
}

export type Backups = ReturnType<typeof backupsOf>;

/** What Curt may find in a folder with its backups, and delete there. To be called by one process at a time. */
export function backupsOf(place: Place) {
  const { path } = place;
  const stem = `${basename(path, extname(path))}-${shortId(place)}-`;
  const isOurs = (name: string, end: RegExp) => name.startsWith(stem) && end.test(name.slice(stem.length));
  return {
    /** Names are in the order of their times (UTC). */
    nameAt: (ms: number) => `${stem}${new Date(ms).toISOString().replace(/[-:]|\.\d+/g, "")}.db`,
    /** The names of whole backups, newest first. */
    list: (folder: string) =>
      readdirSync(folder)
        .filter((name) => isOurs(name, /^\d{8}T\d{6}Z\.db$/) && isFile(join(folder, name)))
        .toSorted()
        .toReversed(),
    /** Deletes what is left of backups that were cut off. */
    removeParts(folder: string): void {
      for (const name of readdirSync(folder))
        if (isOurs(name, /^\d{8}T\d{6}Z\.db\.part(-\w+)?$/))
          rmSync(join(folder, name), { recursive: true, force: true });
    },
  };
}

/** Somebody may have put a folder or a symbolic link there. */
function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/**
 * No two stores have the same: one that was restored has another journal, and one that was copied with its journal another
 * place.
 */
function shortId({ path, journalFolder, fillRandom }: Place): string {
  const file = join(journalFolder, "backup.id");
  if (!existsSync(file) || !ID.test(readFileSync(file, "latin1"))) {
    const random = new Uint8Array(16);
    fillRandom(random);
    writeFileSync(`${file}.new`, Buffer.from(random).toString("hex"), { flush: true });
    renameSync(`${file}.new`, file);
  }
  const id = `${readFileSync(file, "latin1")} ${realpathSync(path)}`;
  return createHash("sha256").update(id).digest("hex").slice(0, 8);
}
