import { expect, test } from "bun:test";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import { chooseSegments, foldInto, createBackup } from "../../src/backup/backup.ts";
import type { LinkKey } from "../../src/links/code.ts";
import { StoreUnavailable } from "../../src/links/link-store.ts";
import { openSnapshot } from "../../src/store/sqlite/file/snapshot.ts";
import { readIdentity } from "../../src/store/sqlite/file/store-identity.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { startFolding } from "../../src/visits/journal/folding.ts";
import { claimJournal } from "../../src/visits/journal/journal-store.ts";
import { copySegments } from "../../src/visits/journal/segment-copy.ts";
import { newLink } from "../stores/links.ts";
import { temporaryFolder } from "../support/service.ts";
import { writeSegment } from "../visits/segments.ts";

const HOUR = 490_000;
const SILENT = { copied() {}, checking() {} };
/** More than three slices. */
const CODES = Array.from({ length: 1700 }, (_, nth) => `c${nth}`);

type Store = Awaited<ReturnType<typeof openSqliteStore>>;

async function openStoreIn(folder: string) {
  const path = join(folder, "curt.db");
  const journalFolder = `${path}-visits`;
  mkdirSync(journalFolder);
  const store = await openSqliteStore(path);
  await store.insert(CODES.map((code) => newLink(code, { createdMs: 5 })));
  return { path, journalFolder, store };
}

/** Adds slices like a process that ends after this many of them. */
async function foldSlices(store: Store, segment: string, slices: number): Promise<void> {
  let added = 0;
  const folding = startFolding({
    add: (slice) => (added++ < slices ? store.add(slice) : Promise.reject(new StoreUnavailable("ended"))),
  });
  await folding.fold(segment).catch(() => {});
  folding.close();
}

async function visitsIn(path: string): Promise<number[]> {
  const store = await openSqliteStore(path);
  const sums = await Promise.all(CODES.map((code) => store.sums(code as LinkKey, 5)));
  await store.close();
  return sums.map(({ visits }) => visits);
}

test("a backup counts each visit once, even if the store had added only some slices of its segment", async () => {
  using folder = temporaryFolder();
  const { path, journalFolder, store } = await openStoreIn(folder.path);
  const visits = CODES.map((code) => ({ code }));
  for (const slices of [0, 1, 9]) {
    const segment = await writeSegment({ folder: journalFolder, hour: HOUR, visits }, true);
    await foldSlices(store, segment, slices);
  }
  // After a power cut, Curt does not count what was not synced either.
  await writeSegment({ folder: journalFolder, hour: HOUR, visits });
  const file = join(folder.path, "backup.db");
  expect(await createBackup({ path, journalFolder, file, progress: SILENT })).toBe(CODES.length);
  await store.close();
  expect(await visitsIn(file)).toEqual(CODES.map(() => 3));
});

test("a backup has the id of its store, and isn't made with the journal of another one", async () => {
  using folder = temporaryFolder();
  const { path, journalFolder, store } = await openStoreIn(folder.path);
  const elsewhere = await openSqliteStore(join(folder.path, "other.db"));
  const { id } = await store.identity();
  const file = join(folder.path, "backup.db");
  await createBackup({ path, journalFolder, file, progress: SILENT });
  expect(readIdentity(file)?.id).toBe(id);
  await claimJournal(journalFolder, await elsewhere.identity(), () => {});
  const again = createBackup({ path, journalFolder, file: `${file}2`, progress: SILENT });
  expect(again).rejects.toThrow(`${journalFolder} is the journal of ${folder.path}/other.db`);
  await elsewhere.close();
  await store.close();
});

test("a backup copies a segment again if the store has started to add it since the first copy", async () => {
  using folder = temporaryFolder();
  const { path, journalFolder, store } = await openStoreIn(folder.path);
  const [source, sequence] = [[3, 4] as const, 8];
  const saveIn = (name: string) => {
    mkdirSync(join(folder.path, name));
    return copySegments(journalFolder, join(folder.path, name));
  };
  const some = CODES.filter((_, nth) => nth % 3 === 1).map((code) => ({ code }));
  const active = await writeSegment(
    { folder: journalFolder, source, sequence, hour: HOUR, visits: some },
    true,
  );
  const early = saveIn("early");
  rmSync(active);
  const whole = CODES.map((code) => ({ code }));
  const closed = await writeSegment(
    { folder: journalFolder, source, sequence, hour: HOUR, visits: whole },
    true,
  );
  await foldSlices(store, closed, 1);
  const snapshot = openSnapshot(path);
  // Another process has added the rest since, and deleted the segment.
  expect(chooseSegments(early, snapshot, () => [])).toBeUndefined();
  const segments = chooseSegments(early, snapshot, () => saveIn("late")) ?? [];
  expect(segments.map((one) => one.path)).toEqual([
    join(folder.path, "late", closed.split("/").at(-1) ?? ""),
  ]);
  const file = join(folder.path, "backup.db");
  await Bun.write(file, "");
  await snapshot.copy(file, () => {});
  snapshot.close();
  await store.close();
  await foldInto(file, segments);
  expect(await visitsIn(file)).toEqual(CODES.map(() => 1));
});
