import { describe, expect, test } from "bun:test";

import { KEPT } from "./kept.ts";
import { WORLDS } from "./play.ts";
import { playSeed, playSteps, report } from "./player.ts";
import { openWorld } from "./world.ts";

/** As many of each world as are played in about 15 seconds. */
const SEEDS = 8;

describe("the service", () => {
  test("does what the model says in each kept sequence", async () => {
    await using world = await openWorld(WORLDS["in-process"]);
    for (const steps of KEPT) expect((await playSteps(world, steps)).difference).toBeUndefined();
    expect(world.crashed).toEqual([]);
  });

  test.each(["in-process", "public"] as const)(
    "does what the model says in random sequences: %s",
    async (name) => {
      await using world = await openWorld(WORLDS[name]);
      let commands = 0;
      for (let seed = 1; seed <= SEEDS; seed++) {
        const { sent, finding } = await playSeed(world, seed);
        expect(finding && report(finding, seed)).toBeUndefined();
        commands += sent;
      }
      expect(commands).toBeGreaterThan(SEEDS);
      expect(world.crashed).toEqual([]);
    },
  );
});
