import { expect, test } from "bun:test";
import { appendFileSync } from "node:fs";
import { join } from "node:path";

import { checkStore } from "../../../src/store/open.ts";
import { startProgram, temporaryFolder } from "../../support/service.ts";

/**
 * `ROUNDS=20 npm test -- test/endurance/durability/kill.test.ts` runs more. A response before its commit is found in nearly
 * every round, because clients wait for many responses at once; a rarer fault needs more rounds.
 */
const ROUNDS = Number(process.env["ROUNDS"] ?? 5);
const CLIENTS = 16;
/** The most responses in one round. */
const MAX_ANSWERS = 500;

test(`every link confirmed with 201 survives SIGKILL, in ${ROUNDS} rounds under load`, async () => {
  using folder = temporaryFolder();
  const confirmed = new Map<string, string>();
  // The client's own record of confirmed links, which survives a crash of the test.
  const record = join(folder.path, "confirmed.jsonl");
  for (let round = 0; round < ROUNDS; round++) {
    const program = await startProgram({}, { folder: folder.path });
    const before = confirmed.size;
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
          confirmed.set(body.data.code, new URL(original_url).href);
          appendFileSync(record, `${JSON.stringify(body.data)}\n`);
        }
      }
    });
    // At any moment: before the first response, or after hundreds of them.
    const enough = before + Math.floor(Math.random() * MAX_ANSWERS);
    while (confirmed.size < enough) await Bun.sleep(1);
    program.kill("SIGKILL");
    expect(await program.exited).not.toBe(0);
    life.abort();
    await Promise.all(clients);
    await program[Symbol.asyncDispose]();
  }

  expect(confirmed.size).toBeGreaterThan(0);
  await using program = await startProgram({}, { folder: folder.path });
  for (const [code, target] of confirmed) {
    const response = await program.fetch(`/${encodeURIComponent(code)}`);
    expect([code, response.status, response.headers.get("location")]).toEqual([code, 302, target]);
  }
  expect((await checkStore(program.database))?.damage).toEqual([]);
});
