import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";

import type { LinkKey } from "../../src/links/code.ts";
import { DAY_MS } from "../../src/links/time.ts";
import { createSegmentFile } from "../../src/visits/journal/segment-file.ts";
import { createName, openSegment } from "../../src/visits/journal/segment.ts";
import { createManagedLink } from "../support/managed-links.ts";
import { openStoreOf, startService, temporaryFolder, untilLogged } from "../support/service.ts";
import { unreadableSlice } from "./slices.ts";
import { linkOf, statisticsOf, untilCounted, visit, WINDOWS_CHROME } from "./visits.ts";

const CRAWLER = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";

describe("visits", () => {
  test("by people and by bots are counted separately, HEAD requests and unknown codes not at all", async () => {
    await using service = await startService();
    await createManagedLink(service, { code: "seen" });
    // People last: once they are counted, so are earlier visits.
    for (const userAgent of [CRAWLER, "curl/8.5.0", ""])
      await visit(service, "seen", { "User-Agent": userAgent });
    for (let nth = 0; nth < 20; nth++) await visit(service, "seen");
    const head = { method: "HEAD", headers: { "User-Agent": WINDOWS_CHROME } };
    expect((await service.fetch("/seen/", head)).status).toBe(302);
    expect((await service.fetch("/nobody/", { headers: { "User-Agent": WINDOWS_CHROME } })).status).toBe(404);
    await untilCounted(service, "seen", 20);
    expect(await statisticsOf(service, "seen")).toMatchObject({ visits: 20, bots: 3 });
  });

  test("count as a person's for navigations, and as a bot's for prefetches, resources and WebSockets", async () => {
    await using service = await startService();
    await createManagedLink(service, { code: "shown" });
    const document = { "Sec-Fetch-Dest": "document" };
    const people = [{}, document, { "Sec-Fetch-Dest": "iframe" }, { ...document, Upgrade: "h2c" }];
    const bots = [
      { ...document, "Sec-Purpose": "prefetch;prerender" },
      { ...document, Purpose: "prefetch" },
      { "X-Purpose": "preview" },
      { Purpose: "Prefetch" },
      ...["image", "script", "empty", "embed", "websocket"].map((value) => ({ "Sec-Fetch-Dest": value })),
      { Connection: "Upgrade", Upgrade: "WebSocket" },
    ];
    // People last: once they are counted, so are earlier visits.
    for (const headers of [...bots, ...people]) await visit(service, "shown", headers);
    await untilCounted(service, "shown", people.length);
    expect(await statisticsOf(service, "shown")).toMatchObject({ bots: bots.length });
  });

  test("are shown as sums for a day whose details can't be read", async () => {
    await using service = await startService();
    await using store = await openStoreOf(service);
    const { code } = await createManagedLink(service);
    const { createdMs = 0 } = (await store.find(code as LinkKey)) ?? {};
    await store.add(unreadableSlice([code], { createdMs, day: Math.floor(createdMs / DAY_MS) }));
    expect(await statisticsOf(service, code)).toMatchObject({ visits: 5, bots: 2 });
  });

  test("with different spellings of a code count for one link", async () => {
    await using service = await startService();
    await createManagedLink(service, { code: "한글" });
    await createManagedLink(service, { code: "other" });
    for (const spelling of ["한글", "한글".normalize("NFD"), encodeURIComponent("한글")]) {
      await visit(service, spelling);
    }
    await untilCounted(service, "한글", 3);
    expect((await linkOf(service, "other"))["visits"]).toBe(0);
  });

  test("redirect while the store is locked, and are counted afterwards", async () => {
    await using service = await startService({}, { limits: { core: { busyWaitMs: 50 } } });
    service.expectFaults();
    await createManagedLink(service, { code: "patient" });
    await visit(service, "patient");
    const blocker = new Database(service.file);
    blocker.run("BEGIN IMMEDIATE");
    for (let nth = 0; nth < 100; nth++) await visit(service, "patient");
    // The fold has given up once.
    await untilLogged(service, "the store cannot answer");
    for (let nth = 0; nth < 100; nth++) await visit(service, "patient");
    blocker.run("COMMIT");
    blocker.close();
    await untilCounted(service, "patient", 201);
  });

  test("stay in the journal if the service stops while the store is locked, and are counted after a restart", async () => {
    using folder = temporaryFolder();
    const options = { folder: folder.path, limits: { core: { busyWaitMs: 50 } } };
    {
      const service = await startService({}, options);
      service.expectFaults();
      await createManagedLink(service, { code: "later" });
      using blocker = new Database(service.file);
      blocker.run("BEGIN IMMEDIATE");
      for (let nth = 0; nth < 50; nth++) await visit(service, "later");
      await service[Symbol.asyncDispose]();
      expect(service.logged.join("")).toContain("the last visits stay in the journal");
      blocker.run("ROLLBACK");
    }
    expect(journalFiles(folder.path)).not.toEqual([]);
    await using restarted = await startService({}, options);
    await untilCounted(restarted, "later", 50);
  });

  test("of untrusted or unreadable segments aren't counted, with a warning for each", async () => {
    using folder = temporaryFolder();
    const journal = join(folder.path, "curt.db-visits");
    {
      await using service = await startService({}, { folder: folder.path });
      await createManagedLink(service, { code: "cut" });
    }
    const path = join(journal, "0-77.visits");
    await createSegmentFile(path, { links: 10, details: 10, nameBytes: 1000 });
    const segment = openSegment(path);
    segment.start({ source: [1, 2], boot: [123, 456] }, 1, 490_000);
    segment.count(createName("link", "cut\t5"), false);
    await Bun.write(join(journal, "0-78.visits"), "no segment");
    await using service = await startService({}, { folder: folder.path });
    await visit(service, "cut");
    await untilCounted(service, "cut", 1);
    const warnings = () => service.logged.filter((line) => line.includes("a file of visits is damaged"));
    while (warnings().length < 2) await Bun.sleep(5);
    expect(warnings()).toHaveLength(2);
    for (const file of ["0-77.visits", "0-78.visits"]) {
      expect(readdirSync(journal)).toContain(`${file}.damaged`);
      expect(readdirSync(journal)).not.toContain(file);
    }
  });
});

function journalFiles(folder: string): string[] {
  return readdirSync(join(folder, "curt.db-visits")).filter((name) => name.endsWith(".visits"));
}
