import { expect, test } from "bun:test";

import { ask, make, TARGET } from "../../managed.ts";
import { startProgram } from "../../service.ts";
import { applyInTime, PROCESSES } from "./within-a-second.ts";

/** `ROUNDS=50 npx bun test test/endurance/links/edits.test.ts` looks longer, and prints the longest time. */
const ROUNDS = Number(process.env["ROUNDS"] ?? 3);

test.each([
  ["changed", "PATCH"],
  ["withdrawn", "DELETE"],
])(
  "once a link is %s, no process leads to the former target a second later, under load",
  async (_, method) => {
    await using program = await startProgram({ PROCESSES: String(PROCESSES) });
    const targetOf = (round: number) => (method === "PATCH" ? `https://changed.example/${round}` : null);
    const longestMs = await applyInTime(
      program,
      ROUNDS,
      async (round) => {
        const { code, path, key } = await make(program);
        const target = targetOf(round);
        return {
          code,
          async change() {
            const { status } = await ask(program, method, path, {
              key,
              ...(target !== null && { body: { target } }),
            });
            expect(status).toBe(200);
          },
        };
      },
      ({ status, location }, round) => {
        if (location === TARGET) return true;
        if (location !== targetOf(round) || (location === null && status !== 410))
          throw new Error(`${status} ${location}`);
        return false;
      },
    );
    if (ROUNDS > 3) process.stdout.write(`${method}: ${Math.round(longestMs)} ms in ${ROUNDS} rounds\n`);
  },
);
