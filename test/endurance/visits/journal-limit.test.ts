import { expect, test } from "bun:test";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

import { temporaryFolder } from "../../service.ts";
import { link, NOW, openRecorder, VISIT } from "../../visits/open-recorder.ts";

test("all segments together keep their limit, also while large ones are made", async () => {
  using folder = temporaryFolder();
  await using opened = await openRecorder(folder.path, () => true);
  const { recorder } = opened;
  const waiting = join(folder.path, "visits");
  const sizes = () =>
    readdirSync(waiting).map((name) => statSync(join(waiting, name), { throwIfNoEntry: false })?.size ?? 0);
  const busy = link("busy");
  let mostBytes = 0;
  let largestBytes = 0;
  function look(): number {
    const all = sizes();
    mostBytes = Math.max(
      mostBytes,
      all.reduce((sum, size) => sum + size),
    );
    largestBytes = Math.max(largestBytes, ...all);
    return largestBytes;
  }
  for (let batch = 0; batch < 1000 && recorder.takeLost() === undefined; batch++) {
    for (let nth = 0; nth < 20_000; nth++) recorder.record(busy, VISIT, NOW);
    await Bun.sleep(1);
    look();
  }
  // Where the disk is slow, the first large one is still being made.
  while (look() <= 40 * 1024 * 1024) await Bun.sleep(5);
  expect(mostBytes).toBeLessThanOrEqual(128 * 1024 * 1024);
});
