/** The command line of this program, however it was started, for starting it once more. */
export function ownProgram(): string[] {
  return [process.execPath, ...(Bun.isStandaloneExecutable ? [] : [...process.execArgv, Bun.main])];
}
