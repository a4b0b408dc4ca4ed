import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";

import { DAY_MS } from "../../src/links/time.ts";
import { openStore } from "../../src/store/open.ts";
import { startHere, temporaryFolder } from "../service.ts";

const LINKS = 600;
const MAX_WAIT_MS = 20_000;

test("a service counts what it makes, and indexes it for the operator's searches", async () => {
  using folder = temporaryFolder();
  const service = await startHere({}, { folder: folder.path });
  const bodies = Array.from({ length: LINKS }, (_, nth) => ({ original_url: `https://a${nth}.example/` }));
  await Promise.all(bodies.map((body) => service.shorten(body)));
  {
    using database = new Database(service.file, { readonly: true });
    const findBlock = () => database.query("SELECT block FROM blocks").get();
    const endMs = performance.now() + MAX_WAIT_MS;
    while (findBlock() === null && performance.now() < endMs) await Bun.sleep(20);
    expect(findBlock()).toEqual({ block: 0 });
  }
  const [nowMs, { database }] = [service.nowMs(), service];
  await service[Symbol.asyncDispose]();
  const store = await openStore(database);
  const { links, days } = await store.figures(nowMs);
  await store.close();
  expect(links).toBe(LINKS);
  expect(days).toEqual([{ day: Math.floor(nowMs / DAY_MS), counts: { created: LINKS } }]);
});
