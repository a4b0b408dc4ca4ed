import { join } from "node:path";

import { originalUrl } from "./links.ts";
import { generated } from "./load.ts";
import { cpuUs, inTurns, measure, medianOf, perSecond, rounded, type Round } from "./measure.ts";
import type { Bench, Result } from "./report.ts";
import { startCurt } from "./servers.ts";

const ROUNDS = 5;
const ROUND_MS = 3000;
const LINKS = 500;
const CASES = { shorten: "original_url", links: "target" } as const;

/** Measures arrays of links over one connection, one after the other. Each waits for its sync. */
export async function measureBatches({ folder, progress }: Bench): Promise<Result> {
  progress(`links in arrays of ${LINKS}`);
  const curt = await startCurt(join(folder, "batches.db"));
  try {
    const contestants = Object.fromEntries(
      Object.entries(CASES).map(([name, field]) => [name, () => measure(curt, arrays(name, field))]),
    ) as Record<keyof typeof CASES, () => Promise<Round>>;
    const turns = await inTurns(ROUNDS, contestants);
    const linksPerSecond = (round: Round) => rounded(perSecond(round) * LINKS, 0);
    const rows = Object.entries(turns).map(([name, rounds]) => ({
      [`arrays of ${LINKS} links`]: `/api/v1/${name}/batch`,
      "CPU per link, µs": medianOf(rounds, cpuUs) / LINKS,
      "links/s": medianOf(rounds, linksPerSecond),
      "links/s of each round": rounds.map(linksPerSecond),
    }));
    const best = medianOf(turns.shorten, linksPerSecond);
    return {
      rows,
      rounds: { batches: turns },
      figures: { "durable links/s, in arrays of 500": { Curt: best } },
    };
  } finally {
    await curt.stop();
  }
}

function arrays(name: string, field: string) {
  // The destination of each link of each array is different.
  const url = (nth: number) => originalUrl(`{number}-${nth + 100}`, nth);
  const body = JSON.stringify(Array.from({ length: LINKS }, (_, nth) => ({ [field]: url(nth) })));
  const length = body.replaceAll("{number}", "x".repeat(8)).length;
  const head = ["Host: localhost", "User-Agent: curt-bench", "Content-Type: application/json"];
  const request = [`POST /api/v1/${name}/batch HTTP/1.1`, ...head, `Content-Length: ${length}`, "", body];
  return generated(ROUND_MS, { kind: "same", request: request.join("\r\n"), status: 200, connections: 1 });
}
