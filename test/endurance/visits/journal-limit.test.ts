import { expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";

import { HOUR_MS } from "../../../src/links/time.ts";
import { CAPACITY } from "../../../src/visits/journal/segments.ts";
import { temporaryFolder } from "../../support/service.ts";
import { link, NOW, openRecorder, VISIT } from "../../visits/open-recorder.ts";

/** More than fit into a segment. */
const LINKS = 2 * CAPACITY.links;

test("all segments together keep their limit", async () => {
  using folder = temporaryFolder();
  await using opened = await openRecorder(folder.path, () => true);
  const { recorder, segments } = opened;
  const busy = link("busy");
  for (let batch = 0; batch < 1000 && recorder.takeLost() === undefined; batch++) {
    for (let nth = 0; nth < 20_000; nth++) recorder.record(busy, VISIT, NOW);
    await Bun.sleep(1);
  }
  const bytes = segments().reduce((sum, name) => sum + statSync(join(folder.path, "visits", name)).size, 0);
  expect(bytes).toBeGreaterThan(120 * 1024 * 1024);
  expect(bytes).toBeLessThanOrEqual(128 * 1024 * 1024);
});

test("without room, the journal first loses details, then visits of new links, and counts the losses", async () => {
  using folder = temporaryFolder();
  await using opened = await openRecorder(folder.path);
  const { recorder } = opened;
  const known = link("known");
  let recorded = 0;
  let lost: { visits: number; details: number } | undefined;
  while (lost === undefined && recorded < 20_000_000) {
    for (let nth = 0; nth < 10_000; nth++) recorder.record(known, VISIT, NOW);
    recorded += 10_000;
    lost = recorder.takeLost();
  }
  expect(lost).toMatchObject({ visits: 0, details: expect.any(Number) });

  // The table of links of the last segment fills up as well.
  for (let nth = 0; nth < LINKS; nth++) recorder.record(link(`new${nth}`), VISIT, NOW);
  const lostLinks = recorder.takeLost();
  expect(lostLinks?.visits).toBeGreaterThan(0);
  recorder.record(known, VISIT, NOW);
  recorder.record(link("late"), VISIT, NOW);
  expect(recorder.takeLost()).toEqual({ visits: 1, details: 1 });
  // In another hour there is no segment for it: the visit is lost rather than counted in the wrong hour.
  recorder.record(known, VISIT, NOW + HOUR_MS);
  expect(recorder.takeLost()).toEqual({ visits: 1, details: 0 });
  expect(recorder.lost.visits).toBe((lostLinks?.visits ?? 0) + 2);
  expect(await opened.counted()).toMatchObject({ visits: recorded + LINKS - (lostLinks?.visits ?? 0) + 1 });
});
