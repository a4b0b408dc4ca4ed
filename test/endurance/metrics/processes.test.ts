import { expect, test } from "bun:test";

import { addressOf, create, scrapeUntil } from "../../metrics/scrape.ts";
import { children } from "../../server/processes.ts";
import { startProgram, untilLogged } from "../../support/service.ts";

const start = () => startProgram({ METRICS_PORT: "0", PROCESSES: "3" });

const CREATED = 'curt_creates_total{outcome="created"}';

const ANSWERING = 'curt_processes{state="answering"}';

const MISSING = 'curt_processes{state="missing"}';

test("the metrics of several processes never decrease after a kill, and leave out a hung process", async () => {
  await using curt = await start();
  const address = await addressOf(curt);
  await create(curt, 40);
  await scrapeUntil(address, "all are counted", (now) => now.of(CREATED) === 40);
  const [killed = 0, hung = 0] = children(curt);

  process.kill(killed, "SIGKILL");
  await untilLogged(curt, "another process replaced it");
  const without = await scrapeUntil(address, "another is there", (now) => now.of(ANSWERING) === 3);
  expect(without.of(CREATED)).toBe(40);
  await create(curt, 10);
  await scrapeUntil(address, "both are counted", (now) => now.of(CREATED) === 50);

  process.kill(hung, "SIGSTOP");
  const silent = await scrapeUntil(address, "one is missing", (now) => now.of(MISSING) === 1);
  expect([silent.of(CREATED), silent.of(ANSWERING)]).toEqual([50, 2]);
  process.kill(hung, "SIGCONT");
  const recovered = await scrapeUntil(address, "it answers again", (now) => now.of(MISSING) === 0);
  expect(recovered.of(CREATED)).toBe(50);
});
