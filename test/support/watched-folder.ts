import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface WatchedFolder extends AsyncDisposable {
  readonly path: string;
  /** Replaces the processes that are killed before the folder is deleted. */
  watch(pids: readonly number[]): void;
}

/**
 * Creates a folder that is deleted, and whose watched processes are killed, even if this process is killed: a shell does it once its
 * input is closed.
 */
export function createWatchedFolder(name: string, parent = tmpdir()): WatchedFolder {
  const path = mkdtempSync(join(parent, `${name}-`));
  const script = `trap "" INT TERM HUP; cat > /dev/null; kill -9 $(cat "$0/pids"); rm -rf "$0"`;
  const watched = join(path, "pids");
  writeFileSync(watched, "");
  const keeper = Bun.spawn(["/bin/sh", "-c", script, path], { stdio: ["pipe", "ignore", "ignore"] });
  // It must not keep this process alive.
  keeper.unref();
  return {
    path,
    watch(pids) {
      if (existsSync(path)) writeFileSync(watched, pids.join("\n"));
    },
    async [Symbol.asyncDispose]() {
      await keeper.stdin.end();
      await keeper.exited;
    },
  };
}
