import { readFileSync } from "node:fs";

/** Identifies the boot of the machine. Zero on systems other than Linux and macOS. */
export function bootWords(): [number, number] {
  try {
    const id =
      process.platform === "darwin"
        ? Bun.spawnSync(["/usr/sbin/sysctl", "-n", "kern.bootsessionuuid"]).stdout.toString()
        : readFileSync("/proc/sys/kernel/random/boot_id", "latin1");
    return [Number.parseInt(id.slice(0, 8), 16), Number.parseInt(id.slice(24, 32), 16)];
  } catch {
    return [0, 0];
  }
}
