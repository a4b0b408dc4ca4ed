/** SQLITE_IOERR_FSYNC, which node:sqlite has as a number. */
const FAILED_SYNC = 1034;

/** Whether SQLite or the system could not sync a file or a folder. */
export function isFailedSync(error: unknown): boolean {
  const { code, errcode, syscall = "" } = error as { code?: unknown; errcode?: unknown; syscall?: string };
  return (
    code === "SQLITE_IOERR_FSYNC" ||
    errcode === FAILED_SYNC ||
    (code === "EIO" && (syscall === "fsync" || syscall === "fdatasync"))
  );
}

/**
 * Makes the next checkpoint move the whole log again, which is always safe. Needed after a failed sync: the kernel has dropped
 * what was written to the file, but the index counts it as moved, and outlives the process if another program reads the store.
 */
export function forgetMovedFrames(path: string): void {
  // Never closed, because closing releases the locks of the process. The process is about to end.
  const index = openSync(`${path}-shm`, "r+");
  writeSync(index, new Uint32Array([0]), 0, Uint32Array.BYTES_PER_ELEMENT, INDEX_HEADERS_BYTES);
}
