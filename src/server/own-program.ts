/** Asked now: once another file has replaced it, Bun calls it `curt (deleted)`. */
const EXECUTABLE = process.execPath;

/** The command line of this program, however it was started, for starting what is at its path by then. */
export function ownProgram(): string[] {
  return [EXECUTABLE, ...(Bun.isStandaloneExecutable ? [] : [...process.execArgv, Bun.main])];
}
