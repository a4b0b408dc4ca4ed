import { expect, test } from "bun:test";

import type { LinkKey } from "../../src/links/code.ts";
import { createMostUsed, USED_DAYS } from "../../src/moderation/most-used.ts";

test("counts each day once for readers at the same time, also if the store fails in between", async () => {
  let reads = 0;
  const store = {
    async visited() {
      await Bun.sleep(1);
      if (++reads === 7) throw new Error("unavailable");
      return [{ code: "a" as LinkKey, createdMs: 1, visits: 1 }];
    },
  };
  const used = createMostUsed(store, { nowMs: () => Date.now() });
  const read = async () => {
    while (!(await used.count().catch(() => false)));
    return used.links[0]?.visits;
  };
  expect(await Promise.all([read(), read(), read()])).toEqual([USED_DAYS, USED_DAYS, USED_DAYS]);
});
