// The names of scheduled backups. They identify the store, because several may share a folder.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { readdir, readFile, realpath, rm } from "node:fs/promises";
import { basename, extname, join } from "node:path";

import { syncFolder } from "../lib/files.ts";
import { fillRandom } from "../lib/random.ts";

const ID_FILE = "backup.id";
const ID = /^[0-9a-f]{32}$/;
const WHOLE = /^\d{8}T\d{6}Z\.db$/;

interface Store {
  /** Must exist. */
  readonly path: string;
  readonly journalFolder: string;
}

/**
 * The backups of a store in any folder. Methods with a folder reject if it can't be read or written, and never block the thread: the
 * folder may be on a network.
 */
export interface Backups {
  /** The name of a backup that starts at an instant (Unix ms). Names are in the order of their times (UTC). */
  nameAt(ms: number): string;
  /** The names of whole backups, newest first. */
  list(folder: string): Promise<string[]>;
  /** Deletes the remains of interrupted backups. */
  removeParts(folder: string): Promise<void>;
}

/** Only one process may call it at a time. */
export function backupsOf(store: Store): Backups {
  const stem = stemOf(store, readId(store) ?? createId(store));
  return {
    nameAt: (ms) => `${stem}${new Date(ms).toISOString().replace(/[-:]|\.\d+/g, "")}.db`,
    async list(folder) {
      return (await namesIn(folder, stem)).toSorted().toReversed();
    },
    async removeParts(folder) {
      for (const name of await readdir(folder))
        if (isOurs(stem, name, /^\d{8}T\d{6}Z\.db\.part(-\w+)?$/))
          await rm(join(folder, name), { recursive: true, force: true });
    },
  };
}

/**
 * The start of the newest backup of a store in this folder, in Unix milliseconds; 0 if there is none. Ignores backups from
 * the future, which were created while the clock was wrong. Rejects if the folder can't be read.
 */
export async function newestBackupMs(folder: string, store: Store, nowMs: number): Promise<number> {
  const [id, path] = await Promise.all([
    readFile(join(store.journalFolder, ID_FILE), "latin1"),
    realpath(store.path),
  ]);
  const stem = stemOf(store, id, path);
  const times = (await namesIn(folder, stem)).map((name) => timeOf(name.slice(stem.length)));
  return Math.max(0, ...times.filter((ms) => ms <= nowMs));
}

/** Parses the end of a name, such as "20261122T093000Z.db". */
function timeOf(end: string): number {
  return Date.parse(end.replace(/^(....)(..)(..T..)(..)(..)Z\.db$/, "$1-$2-$3:$4:$5Z"));
}

/** Somebody may have put a folder or a symbolic link there. */
async function namesIn(folder: string, stem: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.flatMap((entry) => (entry.isFile() && isOurs(stem, entry.name, WHOLE) ? [entry.name] : []));
}

function isOurs(stem: string, name: string, end: RegExp): boolean {
  return name.startsWith(stem) && end.test(name.slice(stem.length));
}

/** Unique for a store: a restored one has another journal, and one that was copied with its journal another path. */
function stemOf({ path }: Store, id: string, realPath = realpathSync(path)): string {
  const short = createHash("sha256").update(`${id} ${realPath}`).digest("hex").slice(0, 8);
  return `${basename(path, extname(path))}-${short}-`;
}

/** Undefined if there is none yet. */
function readId({ journalFolder }: Store): string | undefined {
  const file = join(journalFolder, ID_FILE);
  const id = existsSync(file) ? readFileSync(file, "latin1") : "";
  return ID.test(id) ? id : undefined;
}

function createId({ journalFolder }: Store): string {
  const id = fillRandom(new Uint8Array(16)).toHex();
  const file = join(journalFolder, ID_FILE);
  rmSync(`${file}.new`, { force: true });
  writeFileSync(`${file}.new`, id, { flush: true, flag: "wx" });
  renameSync(`${file}.new`, file);
  // Without its name, the next start would take another one, and never delete the backups of this one.
  syncFolder(journalFolder);
  return id;
}
