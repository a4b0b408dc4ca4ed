import { expect, test } from "bun:test";
import { join } from "node:path";

import { openStore } from "../../src/store/open.ts";
import { startService, temporaryFolder } from "../support/service.ts";

/** No day starts during the test. */
const NOON = { startMs: Date.UTC(2026, 10, 22, 12) };

test("a day's figures count creates, refusals, reports, unknown codes, exceeded limits and wrong tokens", async () => {
  using folder = temporaryFolder();
  const limits = { LIMIT_CREATE: "3/1h", LIMIT_UNKNOWN: "2/1h", LIMIT_VIEW: "8/1h", LIMIT_REPORT: "1/1h" };
  const settings = { ...limits, ADMIN_TOKEN: "only-the-operator-knows-it" };
  const before = await openStore({ engine: "sqlite", path: join(folder.path, "curt.db") });
  await before.blockHost({ host: "evil.example", reason: "spam" }, { who: "api", atMs: Date.now() });
  await before.close();
  const service = await startService(settings, { folder: folder.path, ...NOON });
  const [nowMs, { database }] = [service.nowMs(), service];
  const good = { original_url: "https://good.example/", custom_code: "good" };
  await service.shorten(good);
  await service.shorten({ original_url: "https://evil.example/" });
  await service.shorten(good);
  await service.shorten({ original_url: "nothing" });
  const report = { method: "POST", body: '{"reason":"spam"}' };
  for (let nth = 0; nth < 2; nth++) await service.fetch("/api/v1/links/good/reports", report);
  for (let nth = 0; nth < 3; nth++) await service.fetch(`/unknown${nth}`);
  for (let nth = 0; nth < 9; nth++) await service.shorten({ original_url: `https://a${nth}.example/` });
  for (let nth = 0; nth < 9; nth++) await service.fetch("/docs");
  await service.fetch("/api/v1/admin/journal", { headers: { Authorization: "Bearer wrong" } });
  await service[Symbol.asyncDispose]();
  const store = await openStore(database);
  const [day] = (await store.figures(nowMs)).days;
  await store.close();
  expect(day?.counts).toEqual({
    created: 3,
    blocked: 1,
    refused: 2,
    reports: 1,
    // Three look-ups, and a taken code.
    unknown: 4,
    "limited.create": 7,
    "limited.report": 1,
    "limited.unknown": 2,
    "limited.view": 6,
    "wrong-token": 1,
  });
});
