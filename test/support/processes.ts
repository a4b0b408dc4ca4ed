import { existsSync, readdirSync, readFileSync } from "node:fs";

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended.
  }
}

export function childrenOf(parent: number): number[] {
  return processes()
    .filter(([, parentPid]) => parentPid === parent)
    .map(([pid]) => pid);
}

export function isRunning(pid: number): boolean {
  return processes().some(([running]) => running === pid);
}

/** Whether SIGSTOP has stopped it, which takes a moment. */
export function isStopped(pid: number): boolean {
  return lines().some(([stopped, state]) => Number(stopped) === pid && state?.startsWith("T"));
}

/** Each with its parent, without zombies. */
function processes(): (readonly [pid: number, parent: number])[] {
  return lines().flatMap(([pid, state = "", parent]) =>
    state.startsWith("Z") ? [] : [[Number(pid), Number(parent)] as const],
  );
}

/** Each with its state and its parent. */
function lines(): string[][] {
  return existsSync("/proc/self/stat") ? linesOfProc() : linesOfPs();
}

function linesOfProc(): string[][] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    try {
      // After the name, which is in parentheses and may contain anything.
      const [, rest = ""] = /.*\) (.*)/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
      return [[pid, ...rest.split(" ")]];
    } catch {
      return [];
    }
  });
}

function linesOfPs(): string[][] {
  const { stdout } = Bun.spawnSync(["ps", "-axo", "pid=,stat=,ppid="]);
  return stdout
    .toString()
    .split("\n")
    .map((line) => line.trim().split(/\s+/));
}
