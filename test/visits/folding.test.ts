import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import type { LinkKey } from "../../src/links/code.ts";
import { StoreUnavailable } from "../../src/links/link-store.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { startFolding } from "../../src/visits/journal/folding.ts";
import { SegmentDamaged } from "../../src/visits/journal/segment-file.ts";
import { temporaryFolder } from "../support/service.ts";
import { writeSegment } from "./segments.ts";
import { detailOf } from "./slices.ts";

const HOUR = 490_000;
const DAY = Math.floor(HOUR / 24);

describe("folding", () => {
  const temporary = temporaryFolder();
  const folder = temporary.path;
  let store: Awaited<ReturnType<typeof openSqliteStore>>;
  let folding: ReturnType<typeof startFolding>;
  beforeAll(async () => {
    store = await openSqliteStore(join(folder, "curt.db"));
    folding = startFolding(store);
  });
  afterAll(async () => {
    folding.close();
    await store.close();
    temporary[Symbol.dispose]();
  });

  const sums = (code: string) => store.sums(code as LinkKey, 5);
  const refusal = (path: string) => folding.fold(path).catch((error: unknown) => error);

  test("adds each visit of a segment to the store once, even if it is repeated", async () => {
    const visits = Array.from({ length: 1700 }, (_, nth) => ({ code: `many${nth}`, visitor: nth }));
    const path = await writeSegment({
      folder,
      hour: HOUR,
      visits: [...visits, { code: "many3", bot: true }],
    });
    await Promise.all([folding.fold(path), folding.fold(path)]);
    expect(await folding.fold(path)).toBeGreaterThan(0);
    for (const nth of [0, 499, 500, 1699]) expect(await sums(`many${nth}`)).toEqual({ visits: 1, bots: 0 });
    expect(await sums("many3")).toEqual({ visits: 1, bots: 1 });
    const [day] = await store.days("many7" as LinkKey, 5, DAY, DAY);
    expect(detailOf(day)).toMatchObject({ visitors: [7], hours: { [HOUR % 24]: [1, 0] } });
  });

  test("continues a segment after the store was unavailable", async () => {
    const visits = Array.from({ length: 1700 }, (_, nth) => ({ code: `away${nth}` }));
    const path = await writeSegment({ folder, hour: HOUR, visits });
    let added = 0;
    const leaving = startFolding({
      add: (slice) => (++added > 2 ? Promise.reject(new StoreUnavailable("away")) : store.add(slice)),
    });
    expect(await leaving.fold(path).catch((error: unknown) => error)).toBeInstanceOf(StoreUnavailable);
    leaving.close();
    await folding.fold(path);
    for (const nth of [0, 499, 500, 1699]) expect(await sums(`away${nth}`)).toEqual({ visits: 1, bots: 0 });
  });

  test("reads a file again that now holds another segment", async () => {
    let isAway = true;
    const patient = startFolding({
      add: (slice) => (isAway ? Promise.reject(new StoreUnavailable("away")) : store.add(slice)),
    });
    const path = join(folder, "again.visits");
    const put = async (code: string) =>
      renameSync(await writeSegment({ folder, hour: HOUR, visits: [{ code }] }), path);
    await put("first");
    expect(await patient.fold(path).catch((error: unknown) => error)).toBeInstanceOf(StoreUnavailable);
    isAway = false;
    for (const code of ["second", "third"]) {
      await put(code);
      await patient.fold(path);
      expect(await sums(code)).toEqual({ visits: 1, bots: 0 });
    }
    expect(await sums("first")).toEqual({ visits: 0, bots: 0 });
    patient.close();
  });

  test("rejects damaged and missing segments, and adds nothing of them", async () => {
    const links = Array.from({ length: 600 }, (_, nth) => ({ code: `whole${nth}` }));
    expect(
      await refusal(await writeSegment({ folder, hour: HOUR, visits: [...links, { code: "" }] })),
    ).toBeInstanceOf(SegmentDamaged);
    await Bun.write(join(folder, "garbage"), "no segment at all");
    expect(await refusal(join(folder, "garbage"))).toBeInstanceOf(SegmentDamaged);
    expect(await refusal(join(folder, "missing"))).toBeInstanceOf(SegmentDamaged);
    expect(await sums("whole0")).toEqual({ visits: 0, bots: 0 });
  });

  test("reports a passing system error as an unavailable store, not as damage", async () => {
    const path = await writeSegment({ folder, hour: HOUR, visits: [{ code: "patient" }] });
    const hidden = join(folder, "hidden.visits");
    // A link to itself: ELOOP.
    symlinkSync(hidden, hidden);
    expect(await refusal(hidden)).toBeInstanceOf(StoreUnavailable);
    rmSync(hidden);
    copyFileSync(path, hidden);
    await folding.fold(hidden);
    expect(await sums("patient")).toEqual({ visits: 1, bots: 0 });
  });
});
