const REASONS: Readonly<Record<string, string>> = {
  EACCES: "this user may not use it",
  EPERM: "this user may not use it",
  EROFS: "the disk is read-only",
  ENOSPC: "the disk is full",
  SQLITE_FULL: "the disk is full",
  // SQLite could not extend the -shm file.
  SQLITE_IOERR_SHMSIZE: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EFBIG: "it is larger than a file may be here",
  EISDIR: "it is a folder",
  ENOTDIR: "its path has a file where a folder must be",
  // For a folder to create.
  EEXIST: "its path has a file where a folder must be",
  ENOENT: "it does not exist",
  EPIPE: "nobody reads it any more",
};

const NO_ROOM: ReadonlySet<unknown> = new Set([
  "ENOSPC",
  "EDQUOT",
  "EFBIG",
  "SQLITE_FULL",
  "SQLITE_IOERR_SHMSIZE",
]);

/** Whether a file or store could not be written for lack of room. */
export function isDiskFull(error: unknown): boolean {
  return NO_ROOM.has((error as { code?: unknown }).code);
}

/** Puts a system error into words. */
export function reasonOf(error: unknown): string {
  const { code = "" } = error as { code?: string };
  return REASONS[code] ?? (error instanceof Error ? error.message : String(error));
}

/** Like {@link reasonOf}, but without the messages of `fetch`: some contain the address, with its keys. */
export function reasonOfFetch(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? (REASONS[code] ?? code) : reasonOf(error);
}
