import { expect, test } from "bun:test";

import { StoreUnavailable } from "../../src/links/link-store.ts";
import { DAY_MS } from "../../src/links/time.ts";
import { createCounters } from "../../src/moderation/counters.ts";
import { temporaryStore } from "../support/service.ts";

const NOW = 20_000 * DAY_MS;

test("counts survive an unavailable store and are stored once", async () => {
  await using store = await temporaryStore();
  let isAway = true;
  const counters = createCounters({
    store: {
      async count(day, counts) {
        if (isAway) throw new StoreUnavailable("away");
        await store.count(day, counts);
      },
    },
    clock: { nowMs: () => NOW, countedMs: (ms) => ms },
  });
  counters.count("created");
  expect(await counters.flush().catch((reason: unknown) => reason)).toBeInstanceOf(StoreUnavailable);
  counters.count("created");
  counters.count("limited.view");
  isAway = false;
  await counters.flush();
  await counters.flush();
  const { days } = await store.figures(NOW);
  expect(days).toEqual([{ day: 20_000, counts: { created: 2, "limited.view": 1 } }]);
  expect(counters.totals).toMatchObject({ created: 2, "limited.view": 1, unknown: 0 });
});
