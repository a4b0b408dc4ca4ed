import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { Window } from "../../src/guard/limits.ts";
import type { GuardStore } from "../../src/guard/store.ts";

export type TestedStore = Pick<GuardStore, "shareCounts"> & { close(): Promise<void> };

const DAY_MS = 86_400_000;
const MAX_TRIES = 20_000;
const times = (count: number) => Array.from({ length: count }, (_, nth) => nth);

/** What every store that shares limits promises; `open` as for the LinkStore. */
export function testSharedCounts(name: string, open: () => Promise<TestedStore>): void {
  describe(`${name} shares limits`, () => {
    let stores: TestedStore[];
    beforeAll(async () => {
      stores = [await open(), await open(), await open()];
    });
    afterAll(async () => {
      for (const store of stores) await store.close();
    });

    let clients = 0;
    const newClient = () => (++clients).toString(16).padStart(32, "0");
    const shared = (windows: readonly Window[]) =>
      stores.map((store) => {
        const counts = store.shareCounts?.(windows);
        if (counts === undefined) throw new Error("it cannot");
        return counts;
      });
    /** How many of so many requests at once are counted. They are spread over all processes. */
    async function counted(counts: ReturnType<typeof shared>, client: string, requests: number) {
      const taken = await Promise.all(
        times(requests).map(async (nth) => counts[nth % counts.length]?.take(client, 1)),
      );
      return taken.filter((one) => one?.isCounted).length;
    }

    test("counts exactly 60 of 120 at once, in three processes, for each client", async () => {
      const counts = shared([{ count: 60, ms: DAY_MS }]);
      const [one, other] = [newClient(), newClient()];
      expect(await Promise.all([counted(counts, one, 120), counted(counts, other, 120)])).toEqual([60, 60]);
      expect(await counted(counts, one, 9)).toBe(0);
    });

    test("counts in all windows or in none, and tells what is owed in each", async () => {
      const [counts] = shared([
        { count: 4, ms: DAY_MS },
        { count: 2, ms: 30 * DAY_MS },
      ]);
      const client = newClient();
      const take = async () => {
        const { isCounted, owed } = (await counts?.take(client, 1)) ?? { isCounted: false, owed: [] };
        // Whole things: some time passes between two requests.
        return [isCounted, Math.ceil((owed[0] ?? 0) / DAY_MS), Math.ceil((owed[1] ?? 0) / (30 * DAY_MS))];
      };
      expect(await take()).toEqual([true, 1, 1]);
      expect(await take()).toEqual([true, 2, 2]);
      for (const _ of times(5)) expect(await take()).toEqual([false, 2, 2]);
    });

    test("undoes what is given back, and gives nothing to who has nothing counted", async () => {
      const counts = shared([{ count: 5, ms: DAY_MS }]);
      const client = newClient();
      for (const _ of times(3)) await counts[0]?.giveBack(client, 1);
      expect(await counted(counts, client, 9)).toBe(5);
      await Promise.all(times(2).map(async (nth) => counts[nth]?.giveBack(client, 1)));
      expect(await counted(counts, client, 9)).toBe(2);
      // At once, in one process: what is given back goes to somebody who asks.
      const [, , ...asked] = await Promise.all([
        counts[0]?.giveBack(client, 1),
        counts[0]?.giveBack(client, 1),
        ...times(5).map(() => counts[0]?.take(client, 1)),
      ]);
      expect(asked.filter((one) => one?.isCounted)).toHaveLength(2);
      expect(await counted(counts, client, 3)).toBe(0);
    });

    test("counts many things at once, all or none", async () => {
      const counts = shared([{ count: 100, ms: 30 * DAY_MS }]);
      const client = newClient();
      const takeMany = async (things: number) => (await counts[0]?.take(client, things))?.isCounted;
      expect(await takeMany(101)).toBe(false);
      expect(await takeMany(70)).toBe(true);
      expect(await takeMany(40)).toBe(false);
      // What was granted to the one refused is given back a moment later.
      for (let tries = 0; !(await takeMany(20)); tries++) expect(tries).toBeLessThan(MAX_TRIES);
      await counts[1]?.giveBack(client, 50);
      // At once, in one process: the small ones pass where the large one does not.
      const taken = await Promise.all([takeMany(61), ...times(9).map(() => takeMany(5))]);
      expect(taken).toEqual([false, ...times(9).map(() => true)]);
      for (let tries = 0; !(await takeMany(15)); tries++) expect(tries).toBeLessThan(MAX_TRIES);
      expect(await counted(counts, client, 3)).toBe(0);
    });

    test("lets a client go on as time passes", async () => {
      const counts = shared([{ count: 100, ms: 2000 }]);
      const client = newClient();
      expect(await counted(counts, client, 150)).toBeGreaterThanOrEqual(100);
      for (let tries = 0; ; tries++) {
        if ((await counts[1]?.take(client, 1))?.isCounted) break;
        expect(tries).toBeLessThan(MAX_TRIES);
        await Bun.sleep(1);
      }
    });

    test("counts many clients at once", async () => {
      const counts = shared([{ count: 2, ms: DAY_MS }]);
      const many = times(300).map(newClient);
      const found = await Promise.all(
        many
          .toReversed()
          .concat(many)
          .map((client) => counted(counts, client, 3)),
      );
      expect(found.reduce((sum, one) => sum + one)).toBe(600);
    });
  });
}
