import { startCurt } from "./curt.ts";
import type { BenchLink } from "./links.ts";
import { median, rounded } from "./measure.ts";

const STARTS = 7;

export interface StartsResult {
  /** From the spawn to the first answered redirect. */
  readonly medianMs: number;
  readonly eachMs: readonly number[];
}

/** Starts Curt again and again on a database whose pages the system has in its cache. */
export async function measureStarts(database: string, [code]: BenchLink): Promise<StartsResult> {
  const eachMs: number[] = [];
  for (let nth = 0; nth < STARTS; nth++) {
    const startMs = performance.now();
    const curt = await startCurt(database, { answering: `/${code}/` });
    eachMs.push(rounded(performance.now() - startMs, 1));
    await curt.stop();
  }
  return { medianMs: median(eachMs), eachMs };
}
