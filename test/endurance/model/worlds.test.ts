import { expect, test } from "bun:test";

import { playPlan, WORLDS } from "../../model/play.ts";

/** Fewer rarely combine a kill, another process and a second decision. SEED=… plays other sequences. */
const SEQUENCES = Number(process.env["ROUNDS"] ?? 15);
const SEED = Number(process.env["SEED"] ?? 1000);

for (const world of Object.keys(WORLDS) as (keyof typeof WORLDS)[])
  test(`the service does what the model says in the world ${world}`, async () => {
    const lines: string[] = [];
    const plan = {
      worlds: [world],
      seed: SEED,
      sequences: SEQUENCES,
      endMs: Number.POSITIVE_INFINITY,
    };
    const differences = await playPlan(plan, (text) => void lines.push(text));
    expect(differences, lines.join("\n")).toBe(0);
  }, 600_000);
