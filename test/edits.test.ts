import { expect, test } from "bun:test";

import { ask, make, TARGET } from "./managed.ts";
import { type Program, startProgram } from "./service.ts";

/** What is promised: every process applies a change within a second of its answer. */
const PROMISED_MS = 1000;
/** `ROUNDS=50 npx bun test test/edits.test.ts` looks longer, and prints the longest time. */
const ROUNDS = Number(process.env["ROUNDS"] ?? 3);
const CONNECTIONS = 6;
const PROCESSES = 4;

/** Follows a link again and again, each time over a new connection, so that every process is asked. */
function follow(program: Program, code: string) {
  const following = { isDone: false, count: 0, lastFormerMs: 0 };
  const targets = new Set<string | null>();
  async function goOn(): Promise<void> {
    while (!following.isDone) {
      const { status, headers } = await program.fetch(`/${code}`, { headers: { Connection: "close" } });
      following.count++;
      const target = headers.get("location");
      targets.add(target);
      if (target === TARGET) following.lastFormerMs = performance.now();
      else if (status !== 302 && status !== 410) throw new Error(`${code}: ${status}`);
    }
  }
  const all = Promise.all(Array.from({ length: CONNECTIONS }, goOn));
  return {
    count: () => following.count,
    async stop() {
      following.isDone = true;
      await all;
      return { lastFormerMs: following.lastFormerMs, targets: [...targets] };
    },
  };
}

test.each([
  ["changed", "PATCH"],
  ["withdrawn", "DELETE"],
])(
  "once a link is %s, no process leads to the former target a second later, under load",
  async (_, method) => {
    await using program = await startProgram({ PROCESSES: String(PROCESSES) });
    let longestMs = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const { code, path, key } = await make(program);
      const target = `https://changed.example/${round}`;
      const load = follow(program, code);
      while (load.count() < 30 * PROCESSES) await Bun.sleep(10);
      const { status } = await ask(program, method, path, {
        key,
        ...(method === "PATCH" && { body: { target } }),
      });
      const answeredMs = performance.now();
      expect(status).toBe(200);
      await Bun.sleep(PROMISED_MS * 1.5);
      const { lastFormerMs, targets } = await load.stop();
      expect(targets).toEqual([TARGET, method === "PATCH" ? target : null]);
      expect(lastFormerMs - answeredMs).toBeLessThan(PROMISED_MS);
      longestMs = Math.max(longestMs, lastFormerMs - answeredMs);
    }
    if (ROUNDS > 3) process.stdout.write(`${method}: ${Math.round(longestMs)} ms in ${ROUNDS} rounds\n`);
  },
);
