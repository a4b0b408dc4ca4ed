import { describe, expect, test } from "bun:test";
import { join } from "node:path";

import { readConfig } from "../../src/config/config.ts";
import type { LinkKey } from "../../src/links/code.ts";
import { DAY_MS, HOUR_MS } from "../../src/links/time.ts";
import { openStore } from "../../src/store/open.ts";
import { createVisits } from "../../src/visits/visits.ts";
import { ENGINES } from "../events/engines.ts";
import { newLink } from "../stores/links.ts";
import { PATIENT } from "../stores/postgres-away.ts";
import { startService, temporaryFolder } from "../support/service.ts";
import { slicesOf } from "./slices.ts";

const DAY = 20_000;
const NOW = DAY * DAY_MS + 12 * HOUR_MS;

describe.each(ENGINES)("a shorter STATS_KEEP over %s", (_, settingsOf) => {
  test("deletes days after a day, whatever starts between, and says so until then", async () => {
    using folder = temporaryFolder();
    const { database } = readConfig({
      DATABASE_URL: `sqlite:${join(folder.path, "curt.db")}`,
      ...(await settingsOf()),
    });
    const store = await openStore(database, PATIENT);
    await using _store = { [Symbol.asyncDispose]: store.close };
    const [code, createdMs] = ["a" as LinkKey, newLink("a").createdMs];
    await store.insert([newLink("a")]);
    for (const day of [DAY - 401, DAY - 100, DAY - 1])
      for (const slice of slicesOf({ hour: day * 24, visits: [{ code, createdMs }] })) await store.add(slice);

    /** Starts, ages all days and stops. Resolves with the remaining days, and the parts of the warning, if any. */
    async function start(keepDays: number, nowMs: number, isTrusted = true) {
      let warning: readonly number[] = [];
      const visits = createVisits({
        store,
        clock: {
          nowMs: () => nowMs,
          monotonicMs: () => nowMs,
          trustworthy: () => isTrusted,
          countedMs: () => nowMs,
          onSetBack() {},
        },
        keepDays,
        onShortened: (...parts) => (warning = parts),
      });
      while ((await visits.age()) > 0);
      const days = await store.daySums(code, createdMs, 1, DAY + 9);
      return { days: days.map(({ day }) => DAY - day), warning };
    }

    const all = { days: [401, 100, 1], warning: [] };
    // Nothing is known of a former start.
    expect(await start(400, NOW)).toEqual(all);
    expect(await start(400, NOW + DAY_MS)).toEqual({ days: [100, 1], warning: [] });
    const changedMs = NOW + 3 * DAY_MS;
    expect(await start(40, changedMs, false)).toEqual({ days: [100, 1], warning: [] });
    const waits = { days: [100, 1], warning: [400, changedMs + DAY_MS] };
    expect(await start(40, changedMs)).toEqual(waits);
    expect(await start(40, changedMs + DAY_MS - 1)).toEqual(waits);
    expect(await start(400, changedMs + DAY_MS - 1)).toEqual({ days: [100, 1], warning: [] });
    const againMs = changedMs + 5 * DAY_MS;
    expect(await start(40, againMs)).toEqual({ days: [100, 1], warning: [400, againMs + DAY_MS] });
    expect(await start(40, againMs + DAY_MS)).toEqual({ days: [1], warning: [] });
    expect(await store.sums(code, createdMs)).toEqual({ visits: 3, bots: 0 });
  });
});

test("a start with a shorter STATS_KEEP logs when it deletes", async () => {
  using folder = temporaryFolder();
  const logged: string[] = [];
  for (const STATS_KEEP of ["400d", "40d"])
    await (
      await startService({ STATS_KEEP }, { folder: folder.path, logged, startMs: NOW })
    )[Symbol.asyncDispose]();
  const warnings = logged.filter((line) => line.includes("STATS_KEEP is shorter than before"));
  expect(warnings.map((line) => JSON.parse(line) as object)).toMatchObject([
    { level: "warn", days: 40, formerDays: 400, from: expect.stringMatching(/^2024-10-05T12:00/) },
  ]);
});
