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
