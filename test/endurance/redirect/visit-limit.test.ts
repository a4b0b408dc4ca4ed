import { expect, test } from "bun:test";
import { join } from "node:path";

import { addGuarded } from "../../support/guarded-links.ts";
import { type Program, startProgram, temporaryFolder } from "../../support/service.ts";

const TARGET = "https://example.com/limited";
const MAX_VISITS = 100;

/** Starts a program like one on another machine: it shares only the database. */
const startOne = (folder: string, name: string) => startProgram({ DATA_DIR: join(folder, name) }, { folder });

/** The status of a visit, or "lost" if the process did not live to answer it. */
async function visit(program: Program, code: string): Promise<number | "lost"> {
  try {
    const { status, headers } = await program.fetch(`/${code}`);
    if ((status === 302) !== (headers.get("location") === TARGET))
      throw new Error(`${status} with another location`);
    return status;
  } catch (error) {
    if (error instanceof Error && "code" in error) return "lost";
    throw error;
  }
}

const count = <T>(outcomes: readonly T[], outcome: T) => outcomes.filter((one) => one === outcome).length;

test("1,000 simultaneous visits in two processes get exactly as many redirects as the link allows", async () => {
  using folder = temporaryFolder();
  await using one = await startOne(folder.path, "one");
  await using two = await startOne(folder.path, "two");
  for (let round = 0; round < 3; round++) {
    const code = `rush-${round}`;
    await addGuarded(one, code, { maxVisits: MAX_VISITS, target: TARGET });
    const outcomes = await Promise.all(
      Array.from({ length: 1000 }, (_, nth) => visit(nth % 2 === 0 ? one : two, code)),
    );
    expect([count(outcomes, 302), count(outcomes, 410)]).toEqual([MAX_VISITS, 900]);
  }
});

test("a kill may lose visits of a limited link, but never allows one too many", async () => {
  using folder = temporaryFolder();
  await using one = await startOne(folder.path, "one");
  for (let round = 0; round < 3; round++) {
    const code = `killed-${round}`;
    const outcomes: (number | "lost")[] = [];
    await addGuarded(one, code, { maxVisits: MAX_VISITS, target: TARGET });
    {
      await using two = await startOne(folder.path, `two-${round}`);
      const visitors = Array.from({ length: 20 }, async (_, nth) => {
        for (let times = 0; times < 50; times++) {
          outcomes.push(await visit(nth % 2 === 0 ? one : two, code));
          // After some visits and before the last one.
          if (count(outcomes, 302) === 20 + 20 * round) two.kill("SIGKILL");
        }
      });
      await Promise.all(visitors);
      await two.exited;
    }
    const lost = count(outcomes, "lost");
    expect(lost).toBeGreaterThan(0);
    const redirects = count(outcomes, 302);
    expect(redirects).toBeLessThanOrEqual(MAX_VISITS);
    // At most the visits in flight in the killed process are lost.
    expect(redirects).toBeGreaterThanOrEqual(MAX_VISITS - 10);
    expect(await visit(one, code)).toBe(410);
  }
});
