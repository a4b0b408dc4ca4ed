import type { Window } from "../../src/guard/limits.ts";
import type { SharedCounts } from "../../src/guard/shared-limit.ts";

/** As an engine counts that changes one row at a time: a row has the milliseconds at which each window is paid off. */
export function createMemoryCounts() {
  const rows = new Map<string, readonly number[]>();

  return (windows: readonly Window[]): SharedCounts => {
    function change(client: string, things: number): { isCounted: boolean; owed: readonly number[] } {
      const nowMs = performance.now();
      const before = windows.map((_, nth) => Math.max(nowMs, rows.get(client)?.[nth] ?? 0));
      const after = windows.map(({ count, ms }, nth) => (before[nth] ?? 0) + (things * ms) / count);
      const isCounted = windows.every(({ ms }, nth) => (after[nth] ?? 0) - nowMs <= ms);
      const kept = isCounted ? after : before;
      rows.set(client, kept);
      return { isCounted, owed: windows.map(({ count }, nth) => ((kept[nth] ?? 0) - nowMs) * count) };
    }
    return {
      take: async (client, things) => change(client, things),
      giveBack: async (client, things) => void change(client, -things),
    };
  };
}
