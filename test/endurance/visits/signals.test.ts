import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";

import { type Running, startHere, startProgram, temporaryFolder } from "../../service.ts";
import { linkOf, visit } from "../../visits/visits.ts";

async function newLink(service: Running, code: string): Promise<void> {
  const made = await service.shorten({ original_url: "https://example.com/there", custom_code: code });
  expect(made.status).toBe(201);
}

function journalFiles(folder: string): string[] {
  return readdirSync(join(folder, "curt.db-visits")).filter((name) => name.endsWith(".visits"));
}

/** Visits from eight connections until the service is gone. Only whole answers count as answered. */
async function underFire(
  service: Running,
  code: string,
  answered: { count: number },
  stop: () => void,
  started = { count: 0 },
): Promise<void> {
  const before = answered.count;
  const stopping = setInterval(() => {
    if (answered.count === before) return;
    clearInterval(stopping);
    stop();
  }, 700);
  const fire = async (): Promise<void> => {
    for (let nth = 0; nth < 100_000; nth++) {
      try {
        started.count++;
        await visit(service, code);
        answered.count++;
        // Visits at any moment are what matters, not how many: leave the processor to other tests.
        await Bun.sleep(1);
      } catch {
        return;
      }
    }
  };
  await Promise.all(Array.from({ length: 8 }, fire));
  clearInterval(stopping);
}

test("SIGTERM loses none, over two processes and two lives", async () => {
  using folder = temporaryFolder();
  const answered = { count: 0 };
  for (let life = 0; life < 2; life++) {
    await using one = await startProgram({}, { folder: folder.path });
    await using two = await startProgram({}, { folder: folder.path });
    if (life === 0) await newLink(one, "both");
    await Promise.all([
      underFire(one, "both", answered, () => one.kill("SIGTERM")),
      underFire(two, "both", answered, () => two.kill("SIGTERM")),
    ]);
    await Promise.all([one.exited, two.exited]);
    expect(journalFiles(folder.path)).toEqual([]);
  }
  await using last = await startHere({}, { folder: folder.path });
  expect((await linkOf(last, "both"))["visits"]).toBe(answered.count);
  expect(answered.count).toBeGreaterThan(0);
});

test("SIGKILL loses none that was answered, and none is counted twice", async () => {
  using folder = temporaryFolder();
  const answered = { count: 0 };
  const started = { count: 0 };
  for (let life = 0; life < 4; life++) {
    await using program = await startProgram({}, { folder: folder.path });
    if (life === 0) await newLink(program, "killed");
    // Now before the first fold, now in the middle of one.
    const afterMs = 200 + life * 450;
    const firing = underFire(program, "killed", answered, () => {}, started);
    const before = answered.count;
    await Bun.sleep(afterMs);
    while (answered.count === before) await Bun.sleep(5);
    program.kill("SIGKILL");
    await firing;
    await program.exited;
  }
  // Folded while it starts, and at the latest when it stops.
  const folding = await startHere({}, { folder: folder.path });
  await folding[Symbol.asyncDispose]();
  await using last = await startHere({}, { folder: folder.path });
  const counted = (await linkOf(last, "killed"))["visits"] as number;
  expect(counted).toBeGreaterThanOrEqual(answered.count);
  expect(counted).toBeLessThanOrEqual(started.count);
  expect(answered.count).toBeGreaterThan(0);
});
