import { expect, test } from "bun:test";
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { openJournal } from "../../src/visits/journal/journal.ts";
import { newLink } from "../stores/links.ts";
import { temporaryFolder } from "../support/service.ts";
import { NOW } from "./open-recorder.ts";
import { writeSegment } from "./segments.ts";

const LINK = newLink("one");

/** Stores in folders of their own, which share one journal. */
function shareJournal() {
  const folder = temporaryFolder();
  const journal = join(folder.path, "shared/curt.db-visits");
  const at = (name: string) => join(folder.path, name, "curt.db");
  return {
    ...folder,
    journal,
    at,
    files: () =>
      readdirSync(journal)
        .filter((name) => !name.endsWith(".lock"))
        .toSorted()
        .map((name) => [name, readFileSync(join(journal, name)).toString("latin1")]),
    async leaveVisits() {
      mkdirSync(journal, { recursive: true });
      const { code, createdMs } = LINK;
      const path = await writeSegment({ folder: journal, hour: 1, visits: [{ code, createdMs }] }, true);
      renameSync(path, join(journal, "0-1.visits"));
    },
    /** Opens the journal for a store and folds it. Returns the store's visits of the link, or why it refuses. */
    async open(name: string): Promise<number | string> {
      const store = await openSqliteStore(at(name));
      try {
        await store.insert([LINK]);
        const faults: unknown[] = [];
        const onFault = (fault: unknown) => void faults.push(fault);
        const options = {
          folder: journal,
          store,
          nowMs: () => performance.now(),
          onFault,
          onDropped: onFault,
        };
        await (await openJournal({ ...options, hour: () => NOW / 3_600_000 })).close();
        expect(faults).toEqual([]);
        return (await store.sums(LINK.code, LINK.createdMs)).visits;
      } catch (error) {
        return (error as Error).message;
      } finally {
        await store.close();
      }
    },
  };
}

test("a journal of an earlier version goes to the store that opens it, with all visits", async () => {
  using stores = shareJournal();
  await stores.leaveVisits();
  expect(await stores.open("live")).toBe(1);
  expect(await stores.open("live")).toBe(1);
});

test("a journal refuses other stores and changes nothing, while its own store is there", async () => {
  using stores = shareJournal();
  expect(await stores.open("live")).toBe(0);
  for (const leave of [async () => {}, stores.leaveVisits]) {
    await leave();
    const before = stores.files();
    const refusal = `${stores.journal} is the journal of ${stores.at("live")}, and its visits must not get into ${stores.at("trial")}. Set DATA_DIR to another folder.`;
    expect(await stores.open("trial")).toBe(refusal);
    expect(stores.files()).toEqual(before);
  }
  expect(await stores.open("live")).toBe(1);
});

test("a journal refuses a copy of its store until the original is gone", async () => {
  using stores = shareJournal();
  expect(await stores.open("live")).toBe(0);
  await stores.leaveVisits();
  mkdirSync(join(stores.path, "copy"));
  copyFileSync(stores.at("live"), stores.at("copy"));
  expect(await stores.open("copy")).toContain(`must not get into ${stores.at("copy")}, a copy. Set DATA_DIR`);
  rmSync(stores.at("live"));
  expect(await stores.open("copy")).toBe(1);
  expect(await stores.open("copy")).toBe(1);
});

test("a journal whose store is gone goes to another store once it has no visits", async () => {
  using stores = shareJournal();
  expect(await stores.open("live")).toBe(0);
  await stores.leaveVisits();
  renameSync(stores.at("live"), `${stores.at("live")}.old`);
  const before = stores.files();
  for (const name of ["live", "trial"])
    expect(await stores.open(name)).toBe(
      `${stores.journal} has visits of another store, which was at ${stores.at("live")}, and they must not get into ${stores.at(name)}. Put that store back, or set DATA_DIR to another folder.`,
    );
  expect(stores.files()).toEqual(before);
  renameSync(`${stores.at("live")}.old`, stores.at("live"));
  expect(await stores.open("live")).toBe(1);
  rmSync(stores.at("live"));
  expect(await stores.open("trial")).toBe(0);
});

test("a journal with a damaged id refuses every store", async () => {
  using stores = shareJournal();
  expect(await stores.open("live")).toBe(0);
  for (const text of ["", "{}", '{"id":"1","pla']) {
    writeFileSync(join(stores.journal, "store"), text);
    expect(await stores.open("live")).toBe(
      `${join(stores.journal, "store")} is damaged. Delete it if ${stores.journal} belongs to this store.`,
    );
  }
});
