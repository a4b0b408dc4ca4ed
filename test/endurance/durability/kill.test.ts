import { expect, test } from "bun:test";
import { appendFileSync } from "node:fs";
import { join } from "node:path";

import { checkStore } from "../../../src/store/open.ts";
import { startProgram, temporaryFolder } from "../../service.ts";

/**
 * `ROUNDS=20 npm test -- test/endurance/durability/kill.test.ts` does more. An answer that comes before its commit is found in nearly
 * every round, because clients wait for many answers at once; a rarer fault needs more rounds.
 */
const ROUNDS = Number(process.env["ROUNDS"] ?? 5);
const CLIENTS = 16;
/** In one round. */
const MAX_ANSWERS = 500;

test(`what was answered 201 is there after SIGKILL, in each of ${ROUNDS} rounds under load`, async () => {
  using folder = temporaryFolder();
  const answered = new Map<string, string>();
  // What the client was told, on its own disk: it outlives a crash of the test.
  const told = join(folder.path, "told.jsonl");
  for (let round = 0; round < ROUNDS; round++) {
    const program = await startProgram({}, { folder: folder.path });
    const before = answered.size;
    const life = new AbortController();
    const clients = Array.from({ length: CLIENTS }, async (_, client) => {
      for (let nth = 0; !life.signal.aborted; nth++) {
        const code = `라운드${round}-${client}-${nth}`;
        const original_url = `https://example.com/${code}?${"x".repeat(nth % 300)}`;
        const custom_code = nth % 2 === 0 ? code : undefined;
        const response = await program.shorten({ original_url, custom_code }).catch(() => undefined);
        const body = (await response?.json().catch(() => undefined)) as
          | { data?: { code: string } }
          | undefined;
        if (response?.status === 201 && body?.data !== undefined) {
          answered.set(body.data.code, new URL(original_url).href);
          appendFileSync(told, `${JSON.stringify(body.data)}\n`);
        }
      }
    });
    // At any moment: before the first answer, or after some hundred of them.
    const enough = before + Math.floor(Math.random() * MAX_ANSWERS);
    while (answered.size < enough) await Bun.sleep(1);
    program.kill("SIGKILL");
    expect(await program.exited).not.toBe(0);
    life.abort();
    await Promise.all(clients);
    await program[Symbol.asyncDispose]();
  }

  expect(answered.size).toBeGreaterThan(0);
  await using program = await startProgram({}, { folder: folder.path });
  for (const [code, target] of answered) {
    const response = await program.fetch(`/${encodeURIComponent(code)}`);
    expect([code, response.status, response.headers.get("location")]).toEqual([code, 302, target]);
  }
  expect((await checkStore(program.database))?.damage).toEqual([]);
});
