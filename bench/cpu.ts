import { readFileSync } from "node:fs";

/** USER_HZ (proc(5)): 100 on every Linux that Bun runs on. */
const TICK_US = 10_000;

/** User and system time of a process with all its threads since its start, in steps of 10,000 µs (proc(5), stat). */
export function cpuTimeUs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The second field is the name in parentheses and may hold spaces; utime and stime are the 14th and 15th.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_US;
}

/**
 * How often a process has called read(2) or pread(2). Sockets are received from, not read, so this counts
 * what a server asks its files for.
 */
export function fileReads(pid: number): number {
  return Number(/^syscr: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1]);
}

/** What all cores together have worked since the machine's start (proc(5), stat). */
export function machineBusyUs(): number {
  const [user, nice, system, _idle, _waiting, irq, softirq] = readFileSync("/proc/stat", "utf8")
    .split(/\s+/, 8)
    .slice(1)
    .map(Number);
  // The kernel's work for loopback counts as softirq here, and as its process's time over there.
  return ((user ?? 0) + (nice ?? 0) + (system ?? 0) + (irq ?? 0) + (softirq ?? 0)) * TICK_US;
}

/** What the first child of a process is; undefined without one. */
export function firstChild(pid: number): number | undefined {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ");
  return child === undefined || child === "" ? undefined : Number(child);
}
